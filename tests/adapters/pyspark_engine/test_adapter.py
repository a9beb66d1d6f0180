"""The adapter against the real engine, in a host, one JVM for all."""

from __future__ import annotations

import pytest

from delta_adapters.host_client import HostClient
from delta_adapters.smoke import smoke
from delta_models.expressions import Column, Compare, Literal
from delta_models.operations import (
    AddColumn,
    AddConstraint,
    Append,
    AtVersion,
    Checkpoint,
    Create,
    Delete,
    Detail,
    History,
    Merge,
    MergeClause,
    Optimize,
    Overwrite,
    Read,
    Restore,
    SetProperties,
    Update,
    Vacuum,
)
from delta_models.outcomes import Committed, NoChange, Rejected
from delta_models.schema import LONG, STRING, Field, struct
from delta_models.values import Rows

pytestmark = pytest.mark.slow

SCHEMA = struct(("id", LONG), ("letter", STRING), ("part", STRING))
VECTORS = (("delta.enableDeletionVectors", "true"),)


def rows(*values: tuple[object, ...]) -> Rows:
    return Rows(SCHEMA, values)


def equal(name: str, value: object) -> Compare:
    return Compare("=", Column((name,)), Literal(LONG if isinstance(value, int) else STRING, value))


def read(host: HostClient, **how: object) -> list[tuple[object, ...]]:
    reply = host.read(Read(**how))  # type: ignore[arg-type]
    assert reply.table is not None, reply.outcome
    return sorted(zip(*reply.table.to_pydict().values(), strict=True), key=repr)


def commits(host: HostClient, *operations: object) -> None:
    for operation in operations:
        assert host.execute(operation).outcome == Committed(), operation  # type: ignore[arg-type]


def kind(host: HostClient, operation: object) -> str:
    outcome = host.execute(operation).outcome  # type: ignore[arg-type]
    assert isinstance(outcome, Rejected), outcome
    return outcome.kind


def test_it_passes_the_smoke_test(pyspark_host, tmp_path):
    smoke(pyspark_host, tmp_path / "smoked")


def test_every_kind_of_change_does_what_it_says(engine):
    commits(
        engine,
        Create(SCHEMA, ("part",), VECTORS),
        Append(rows((1, "a", "x"), (2, None, "y"), (3, "c", None)), files=2),
        Delete(equal("id", 1)),
        Update((("letter", Literal(STRING, "B")),), equal("id", 2)),
    )
    on = Compare("=", Column(("target", "id")), Column(("source", "id")))
    upsert = (
        MergeClause("matched", "update", everything=True),
        MergeClause("not-matched", "insert", everything=True),
    )
    commits(engine, Merge(rows((3, "m", "q"), (4, "n", "q")), on, upsert), AddColumn(Field("new", LONG)))
    assert read(engine) == [(2, "B", "y", None), (3, "m", "q", None), (4, "n", "q", None)]
    commits(engine, Restore(AtVersion(1)), SetProperties((("owner", "me"),)))
    commits(engine, Overwrite(rows((6, "f", "y")), dynamic=True))
    assert read(engine, where=equal("part", "y"), columns=("id",)) == [(6,)]
    commits(engine, AddConstraint("small", Compare("<", Column(("id",)), Literal(LONG, 10))), Vacuum(0))
    assert kind(engine, Append(rows((11, "a", "x")))) == "constraint"
    assert engine.read(Detail()).table["partitionColumns"].to_pylist() == [["part"]]
    assert engine.read(History()).table["version"].to_pylist()[-1] == 0


def test_what_changes_nothing_is_distinguished_from_what_commits(engine):
    commits(engine, Create(SCHEMA), Append(rows((1, "a", "x"))))
    for operation in (
        Delete(equal("id", 9)),
        Append(rows()),
        Optimize(),
        Create(SCHEMA, if_not_exists=True),
        Checkpoint(),
    ):
        assert engine.execute(operation).outcome == NoChange(), operation
    assert read(engine) == [(1, "a", "x")]


def test_refusals_are_classified(engine):
    assert kind(engine, Delete(None)) == "missing-table"
    strict = struct(Field("id", LONG, nullable=False), ("letter", STRING), ("part", STRING))
    commits(engine, Create(strict, ("part",)), Append(rows((1, "a", "x"), (2, "b", "x"))))
    same = Compare("=", Column(("target", "id")), Column(("source", "id")))
    update = MergeClause("matched", "update", everything=True)
    other = Rows(struct(("id", STRING), ("more", LONG)), (("a", 1),))
    refused = {
        Create(SCHEMA): "table-exists",
        Append(rows((None, "a", "x"))): "constraint",
        Append(other): "schema",
        Overwrite(rows((1, "a", "y")), where=equal("part", "x")): "constraint",
        Merge(rows((1, "a", "x"), (1, "b", "x")), same, (update,)): "ambiguous-match",
        Restore(AtVersion(99)): "missing-version",
        Delete(Compare("=", Column(("nowhere",)), Literal(LONG, 1))): "bad-argument",
        Optimize(equal("id", 1)): "bad-argument",
    }
    assert {operation: kind(engine, operation) for operation in refused} == refused
    assert engine.read(Read(AtVersion(99))).outcome.kind == "missing-version"
    assert read(engine) == [(1, "a", "x"), (2, "b", "x")]
