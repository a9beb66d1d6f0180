"""The adapter against the real delta-spark, in a host, one JVM for all."""

import json
import os
import signal
from pathlib import Path

import pytest

from delta_adapters.host_client import HostClient
from delta_adapters.host_errors import HostDied
from delta_adapters.smoke import smoke
from delta_models.expressions import Column, Compare, IsNull, Literal
from delta_models.operations import (
    Append,
    AtVersion,
    Checkpoint,
    Create,
    Delete,
    Detail,
    Drop,
    Merge,
    MergeClause,
    Optimize,
    Overwrite,
    Read,
    Restore,
    Update,
    Vacuum,
)
from delta_models.outcomes import Committed, NoChange, Rejected, Unsupported
from delta_models.schema import (
    BOOLEAN,
    DATE,
    DOUBLE,
    INTEGER,
    LONG,
    STRING,
    TIMESTAMP,
    DecimalType,
    Field,
    struct,
)
from delta_models.values import Decimal, Rows
from tests.adapters.delta_spark.conftest import javas_under

pytestmark = pytest.mark.slow

SCHEMA = struct(("id", LONG), ("letter", STRING), ("part", STRING))
FIRST_MICROS, LAST_MICROS = -62_135_596_800_000_000, 253_402_300_799_999_999


def rows(*values: tuple[object, ...]) -> Rows:
    return Rows(SCHEMA, tuple(values))


def equal(name: str, value: object) -> Compare:
    return Compare("=", Column((name,)), Literal(SCHEMA[name].type, value))


def read(host: HostClient, **how: object) -> list[tuple[object, ...]]:
    reply = host.read(Read(**how))  # type: ignore[arg-type]
    assert reply.table is not None, reply.outcome
    columns = reply.table.to_pydict().values()
    return sorted(zip(*columns, strict=True), key=repr)


def commits(host: HostClient, *operations: object) -> None:
    for operation in operations:
        assert host.execute(operation).outcome == Committed(), operation  # type: ignore[arg-type]


def rejection(host: HostClient, operation: object) -> str:
    outcome = host.execute(operation).outcome  # type: ignore[arg-type]
    assert isinstance(outcome, Rejected), outcome
    return outcome.kind


def commit(tmp_path: Path, version: int) -> list[dict[str, dict[str, object]]]:
    text = (tmp_path / "table" / "_delta_log" / f"{version:020}.json").read_text()
    return [json.loads(line) for line in text.splitlines()]


def test_a_host_dies_with_its_jvm_and_lives_again_with_another(delta_spark, delta_spark_folder, tmp_path):
    """This test comes first, while the JVM has no state: the other tests use the next JVM."""
    delta_spark.ready()
    before = javas_under(delta_spark_folder)
    assert len(before) == 1
    os.kill(before[0], signal.SIGKILL)
    with pytest.raises(HostDied) as died:
        delta_spark.execute(Create(SCHEMA), "after")
    assert died.value.exit == 70
    assert "the JVM of delta-spark is gone" in died.value.stderr_tail
    assert javas_under(delta_spark_folder) == []
    assert not (tmp_path / "table").exists()
    delta_spark.restart().open(str(tmp_path / "table"))
    commits(delta_spark, Create(SCHEMA))


def test_it_passes_the_smoke_test(delta_spark_host, tmp_path):
    smoke(delta_spark_host, tmp_path / "smoked")


def test_every_kind_of_write_does_what_it_says(delta_spark):
    commits(
        delta_spark,
        Create(SCHEMA, ("part",)),
        Append(rows((1, "a", "x"), (2, None, "y"), (3, "c", None))),
    )
    assert read(delta_spark) == [(1, "a", "x"), (2, None, "y"), (3, "c", None)]
    commits(delta_spark, Delete(equal("id", 1)), Update((("letter", Literal(STRING, "B")),), equal("id", 2)))
    assert read(delta_spark) == [(2, "B", "y"), (3, "c", None)]
    on = Compare("=", Column(("target", "id")), Column(("source", "id")))
    clauses = (
        MergeClause("matched", "delete", condition=IsNull(Column(("target", "part")))),
        MergeClause("matched", "update", (("letter", Column(("source", "letter"))),)),
        MergeClause("not-matched", "insert", everything=True),
    )
    commits(delta_spark, Merge(rows((2, "m", "q"), (3, "n", "q"), (4, "o", "q")), on, clauses))
    assert read(delta_spark) == [(2, "m", "y"), (4, "o", "q")]
    commits(delta_spark, Overwrite(rows((5, "e", "q")), where=equal("part", "q")))
    assert read(delta_spark) == [(2, "m", "y"), (5, "e", "q")]
    commits(delta_spark, Overwrite(rows((6, "f", "y")), dynamic=True))
    assert read(delta_spark) == [(5, "e", "q"), (6, "f", "y")]
    commits(delta_spark, Overwrite(rows((7, "g", "z"))))
    assert read(delta_spark, at=AtVersion(1)) == [(1, "a", "x"), (2, None, "y"), (3, "c", None)]
    assert read(delta_spark, where=equal("id", 7), columns=("part", "id")) == [("z", 7)]
    commits(delta_spark, Restore(AtVersion(1)))
    assert len(read(delta_spark)) == 3


def test_an_append_of_several_files_writes_several_files(delta_spark, tmp_path):
    commits(
        delta_spark,
        Create(SCHEMA),
        Append(rows(*((n, "a", None) for n in range(9))), files=3),
        Append(rows((9, "b", None))),
    )
    assert [sum("add" in action for action in commit(tmp_path, version)) for version in (1, 2)] == [3, 1]


def test_the_tag_stands_in_the_commit(delta_spark, tmp_path):
    delta_spark.execute(Create(SCHEMA), "first")
    delta_spark.execute(Append(rows((1, "a", "x"))), "second")
    delta_spark.execute(Delete(equal("id", 1)), "")
    tags = [
        next(action["commitInfo"] for action in commit(tmp_path, version) if "commitInfo" in action).get(
            "userMetadata"
        )
        for version in (0, 1, 2)
    ]
    assert tags == ["first", "second", None]


def test_what_changes_nothing_is_distinguished_from_what_commits(delta_spark):
    commits(delta_spark, Create(SCHEMA), Append(rows((1, "a", "x"))))
    for operation in (Delete(equal("id", 9)), Append(rows()), Optimize(), Create(SCHEMA, if_not_exists=True)):
        assert delta_spark.execute(operation).outcome == NoChange(), operation
    commits(delta_spark, Append(rows((2, "b", "x"))), Optimize(), Vacuum(0))
    assert read(delta_spark) == [(1, "a", "x"), (2, "b", "x")]


def test_refusals_are_classified(delta_spark):
    assert rejection(delta_spark, Delete(None)) == "missing-table"
    assert isinstance(delta_spark.read(Read()).outcome, Rejected)
    strict = struct(Field("id", LONG, nullable=False), ("letter", STRING), ("part", STRING))
    properties = (("delta.constraints.small", "id < 100"),)
    commits(delta_spark, Create(strict, ("part",), properties), Append(rows((1, "a", "x"), (2, "b", "x"))))
    same = Compare("=", Column(("target", "id")), Column(("source", "id")))
    update = MergeClause("matched", "update", everything=True)
    other = Rows(struct(("id", STRING), ("more", LONG)), (("a", 1),))
    refused = {
        Create(SCHEMA): "table-exists",
        Append(rows((None, "a", "x"))): "constraint",
        Append(rows((100, "a", "x"))): "constraint",
        Append(other): "schema",
        Overwrite(rows((1, "a", "y")), where=equal("part", "x")): "constraint",
        Merge(rows((1, "a", "x"), (1, "b", "x")), same, (update,)): "ambiguous-match",
        Restore(AtVersion(99)): "missing-version",
        Delete(Compare("=", Column(("nowhere",)), Literal(LONG, 1))): "bad-argument",
        Optimize(equal("id", 1)): "bad-argument",
    }
    assert {operation: rejection(delta_spark, operation) for operation in refused} == refused
    assert delta_spark.read(Read(AtVersion(99))).outcome.kind == "missing-version"
    assert read(delta_spark) == [(1, "a", "x"), (2, "b", "x")]


def test_of_an_older_version_the_protocol_the_properties_and_the_columns_are_reported(delta_spark):
    commits(delta_spark, Create(SCHEMA, ("part",), (("team", "red"),)), Append(rows((1, "a", "x"))))
    wider = Rows(struct(*((field.name, field.type) for field in SCHEMA), ("more", LONG)), ((2, "b", "x", 7),))
    commits(delta_spark, Append(wider, schema_mode="merge"))
    newest = delta_spark.read(Detail()).table.to_pylist()[0]
    older = delta_spark.read(Detail(AtVersion(1))).table.to_pylist()[0]
    assert (newest["properties"], older["properties"]) == ([("team", "red")],) * 2
    assert (older["minReaderVersion"], older["minWriterVersion"]) == (1, 2)
    columns = [
        [load["name"] for load in json.loads(details["columns"])["fields"]] for details in (older, newest)
    ]
    assert columns == [["id", "letter", "part"], ["id", "letter", "part", "more"]]
    assert (newest["partitionColumns"], newest["numFiles"]) == (["part"], 2)
    assert (older["id"], older["numFiles"]) == (None, None)


def test_an_append_only_table_keeps_its_rows(delta_spark):
    commits(delta_spark, Create(SCHEMA, (), (("delta.appendOnly", "true"),)), Append(rows((1, "a", "x"))))
    assert rejection(delta_spark, Delete(equal("id", 1))) == "append-only"


def test_there_is_no_call_for_a_checkpoint_but_an_interval(delta_spark, tmp_path):
    commits(delta_spark, Create(SCHEMA, (), (("delta.checkpointInterval", "2"),)))
    assert isinstance(delta_spark.execute(Checkpoint()).outcome, Unsupported)
    commits(delta_spark, Append(rows((1, "a", "x"))), Append(rows((2, "a", "x"))))
    assert (tmp_path / "table" / "_delta_log" / f"{2:020}.checkpoint.parquet").exists()


def test_values_at_their_limits_come_back_as_they_were(delta_spark):
    schema = struct(
        ("i", INTEGER),
        ("d", DecimalType(38, 10)),
        ("f", DOUBLE),
        ("b", BOOLEAN),
        ("day", DATE),
        ("at", TIMESTAMP),
    )
    least = (-(2**31), Decimal(-(10**38) + 1, 10), float("-inf"), False, -719_162, FIRST_MICROS)
    most = (2**31 - 1, Decimal(10**38 - 1, 10), float("inf"), True, 2_932_896, LAST_MICROS)
    before_1582 = (0, Decimal(1, 10), -0.0, None, -141_428, -12_219_292_800_000_001)
    given = Rows(schema, (least, most, before_1582, (None,) * 6))
    commits(delta_spark, Create(schema), Append(given))
    table = delta_spark.read(Read()).table
    assert table is not None
    plain = table.set_column(4, "day", table["day"].cast("int32")).set_column(
        5, "at", table["at"].cast("int64")
    )
    read_rows = {tuple(row.values()) for row in plain.to_pylist()}
    decimal = {row[0]: row[1] and str(row[1]) for row in given.rows}
    assert {row[:1] + row[2:] for row in read_rows} == {row[:1] + row[2:] for row in given.rows}
    assert {row[0]: None if row[1] is None else f"{row[1]:f}" for row in read_rows} == decimal


def test_a_managed_table_loses_its_files_and_an_external_one_keeps_them(delta_spark, tmp_path):
    commits(delta_spark, Create(SCHEMA, name="managed", managed=True), Append(rows((1, "a", "x"))))
    assert read(delta_spark) == [(1, "a", "x")]
    assert (
        rejection(delta_spark, Create(SCHEMA, name="managed")) == "table-exists"
    )  # where its files are, too
    commits(delta_spark, Drop())
    assert not (tmp_path / "table").exists()
    delta_spark.open(str(tmp_path / "other"))
    commits(delta_spark, Create(SCHEMA, name="external"), Append(rows((1, "a", "x"))), Drop())
    assert (tmp_path / "other" / "_delta_log").exists()
    assert read(delta_spark) == [(1, "a", "x")]


def test_a_new_path_to_the_same_folder_shows_the_same_table(delta_spark, tmp_path):
    commits(delta_spark, Create(SCHEMA), Append(rows((1, "a", "x"))))
    (tmp_path / "link").symlink_to(tmp_path / "table")
    delta_spark.open(str(tmp_path / "link"))
    commits(delta_spark, Append(rows((2, "b", "x"))), Delete(equal("id", 1)))
    delta_spark.open(str(tmp_path / "table"))
    assert read(delta_spark) == [(2, "b", "x")]
