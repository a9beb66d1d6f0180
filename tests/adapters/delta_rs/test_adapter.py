"""The adapter of delta-rs in a host: its operations, and the kinds of its refusals."""

import json

import pytest
from deltalake import DeltaTable

from delta_adapters.delta_rs.adapter import DeltaRs
from delta_models.expressions import And, Call, Column, Compare, IsNull, Literal
from delta_models.log.parquet import arrow_to_rows
from delta_models.operations import (
    AddColumn,
    AddConstraint,
    Append,
    AtState,
    AtVersion,
    Checkpoint,
    Create,
    CreateAs,
    Delete,
    Detail,
    Drop,
    DropConstraint,
    Merge,
    MergeClause,
    Optimize,
    Overwrite,
    Purge,
    Read,
    Reopen,
    Restore,
    SetProperties,
    Update,
    Vacuum,
    ZOrder,
)
from delta_models.outcomes import Committed, NoChange, Rejected, Unknown, Unsupported
from delta_models.schema import LONG, STRING, DecimalType, Field, Struct, struct
from delta_models.values import Decimal, Rows

SCHEMA = struct(("id", LONG), ("letter", STRING))
ID, LETTER = Column(("id",)), Column(("letter",))


@pytest.fixture
def table(delta_rs):
    """A table of three rows in version 1."""
    assert delta_rs.execute(Create(SCHEMA)).outcome == Committed()
    assert delta_rs.execute(append((1, "a"), (2, "b"), (3, None))).outcome == Committed()
    return delta_rs


def test_a_table_made_from_another_one_keeps_its_rows_when_that_is_dropped(delta_rs, tmp_path):
    rows = Rows(SCHEMA, ((1, "a"), (2, None)))
    assert delta_rs.execute(CreateAs(rows, source_dropped=True)).outcome == Committed()
    assert [path.name for path in tmp_path.iterdir() if "source" in path.name] == []
    assert delta_rs.execute(Reopen()).outcome == NoChange()
    assert sorted(arrow_to_rows(delta_rs.read(Read()).table, SCHEMA).rows) == [(1, "a"), (2, None)]


@pytest.fixture
def log(tmp_path):
    """Read the actions of a commit from its file."""

    def actions(version):
        path = tmp_path / "table" / "_delta_log" / f"{version:020}.json"
        return [json.loads(line) for line in path.read_text().splitlines()]

    return actions


def append(*rows, **options):
    return Append(Rows(SCHEMA, rows), **options)


def number(value):
    return Literal(LONG, value)


def test_create_is_committed_once(delta_rs):
    create = Create(SCHEMA, ("letter",), (("delta.checkpointInterval", "3"), ("mine", "yes")))
    assert delta_rs.execute(create).outcome == Committed()
    assert rows_of(delta_rs) == []
    assert kind_of(delta_rs.execute(create)) == "table-exists"
    assert delta_rs.execute(Create(SCHEMA, if_not_exists=True)).outcome == NoChange()


def test_appended_rows_are_read_back_with_their_version(table):
    reply = table.read(Read())
    assert (rows_of(table), reply.version) == ([(1, "a"), (2, "b"), (3, None)], 1)


def test_the_tag_and_the_transaction_go_into_the_commit(table, log):
    table.execute(append((4, "d"), transaction=("app", 7)), "h1s2")
    actions = {next(iter(commit)): commit for commit in log(2)}
    assert actions["commitInfo"]["commitInfo"]["tag"] == "h1s2"
    assert (actions["txn"]["txn"]["appId"], actions["txn"]["txn"]["version"]) == ("app", 7)


def test_an_append_in_several_files_makes_several(table, log):
    table.execute(append(*((number, "x") for number in range(6)), files=3))
    assert sum("add" in commit for commit in log(2)) > 1


def test_an_overwrite_replaces_all_or_what_a_predicate_picks(table):
    picked = Compare(">", ID, number(1))
    assert kind_of(table.execute(Overwrite(Rows(SCHEMA, ((0, "z"),)), where=picked))) == "constraint"
    assert table.execute(Overwrite(Rows(SCHEMA, ((9, "z"),)), where=picked)).outcome == Committed()
    assert rows_of(table) == [(1, "a"), (9, "z")]
    table.execute(Overwrite(Rows(SCHEMA, ((5, "e"),))))
    assert rows_of(table) == [(5, "e")]


def test_a_delete_takes_what_its_predicate_picks_and_says_when_that_is_nothing(table):
    assert table.execute(Delete(Compare("=", LETTER, Literal(STRING, "a")))).outcome == Committed()
    assert table.execute(Delete(Compare("=", ID, number(99)))).outcome == NoChange()
    assert rows_of(table) == [(2, "b"), (3, None)]
    assert table.execute(Delete()).outcome == Committed()
    assert rows_of(table) == []


def test_an_update_computes_from_the_old_row(table):
    update = Update(
        (("id", Call("+", (ID, number(10)), LONG)), ("letter", Literal(STRING, "it's"))), IsNull(LETTER)
    )
    assert table.execute(update).outcome == Committed()
    assert rows_of(table) == [(1, "a"), (2, "b"), (13, "it's")]


def test_a_merge_applies_its_clauses_in_order(table):
    source = Rows(SCHEMA, ((1, "x"), (2, "y"), (4, "d")))
    clauses = (
        MergeClause(
            "matched", "delete", condition=Compare("=", Column(("source", "letter")), Literal(STRING, "x"))
        ),
        MergeClause("matched", "update", (("letter", Column(("source", "letter"))),)),
        MergeClause("not-matched", "insert", everything=True),
        MergeClause("not-matched-by-source", "update", (("letter", Literal(STRING, "alone")),)),
    )
    on = Compare("=", Column(("target", "id")), Column(("source", "id")))
    assert table.execute(Merge(source, on, clauses)).outcome == Committed()
    assert rows_of(table) == [(2, "y"), (3, "alone"), (4, "d")]


def test_an_ambiguous_merge_is_refused(table):
    on = Compare("=", Column(("target", "id")), Column(("source", "id")))
    clause = MergeClause("matched", "update", (("letter", Column(("source", "letter"))),))
    merge = Merge(Rows(SCHEMA, ((1, "x"), (1, "y"))), on, (clause,))
    assert kind_of(table.execute(merge)) == "ambiguous-match"


def test_earlier_versions_are_read_and_restored(table):
    table.execute(Delete())
    assert rows_of(table, at=AtVersion(1)) == [(1, "a"), (2, "b"), (3, None)]
    assert table.execute(Restore(AtVersion(1))).outcome == Committed()
    assert rows_of(table) == [(1, "a"), (2, "b"), (3, None)]
    assert kind_of(table.execute(Restore(AtVersion(3)))) == "bad-argument"


def test_a_table_is_described_as_it_is_and_as_it_was(table, log):
    assert table.execute(SetProperties((("delta.appendOnly", "true"),))).outcome == Committed()
    newest, older = (table.read(query) for query in (Detail(), Detail(AtVersion(1))))
    assert (newest.version, older.version) == (2, 1)
    now, before = (reply.table.to_pylist()[0] for reply in (newest, older))
    assert (now["properties"], before["properties"]) == ([("delta.appendOnly", "true")], [])
    metadata = next(commit["metaData"] for commit in log(0) if "metaData" in commit)
    assert (now["id"], now["createdTime"]) == (metadata["id"], metadata["createdTime"])
    assert json.loads(now["schemaString"]) == json.loads(metadata["schemaString"])
    assert now["numFiles"] is None


def test_a_read_picks_rows_and_columns(table):
    read = Read(where=And((Compare(">", ID, number(1)), IsNull(LETTER))), columns=("letter",))
    assert table.read(read).table.to_pydict() == {"letter": [None]}
    assert table.read(Read(columns=("letter", "id"))).table.column_names == ["letter", "id"]


def test_upkeep_leaves_the_rows_alone(table, tmp_path):
    before = rows_of(table)
    table.execute(append((4, "d")))
    assert table.execute(Optimize()).outcome == Committed()
    assert table.execute(ZOrder(("id",))).outcome == Committed()
    assert table.execute(Checkpoint()).outcome == NoChange()
    assert (tmp_path / "table" / "_delta_log" / "_last_checkpoint").exists()
    table.execute(Vacuum(0.0))
    assert len(list((tmp_path / "table").glob("*.parquet"))) == 1
    assert rows_of(table) == [*before, (4, "d")]


def test_a_table_is_read_cold_through_another_path(table, reopened):
    table.execute(Delete(Compare("=", ID, number(1))))
    assert rows_of(reopened(table)) == [(2, "b"), (3, None)]
    assert table.execute(Reopen()).outcome == NoChange()
    assert rows_of(table) == [(2, "b"), (3, None)]


def test_another_writers_commits_are_seen(table, tmp_path):
    commit = tmp_path / "table" / "_delta_log" / f"{2:020}.json"
    commit.write_text(json.dumps({"commitInfo": {"timestamp": 1, "operation": "WRITE"}}) + "\n")
    assert table.read(Read()).version == 2


def test_rules_and_properties_change_and_hold(table):
    assert table.execute(AddConstraint("small", Compare("<", ID, number(100)))).outcome == Committed()
    assert kind_of(table.execute(append((100, "x")))) == "constraint"
    assert table.execute(DropConstraint("small")).outcome == Committed()
    assert table.execute(AddColumn(Field("more", STRING))).outcome == Committed()
    assert table.execute(SetProperties((("delta.appendOnly", "true"),))).outcome == Committed()
    assert kind_of(table.execute(Delete())) == "append-only"


def test_a_table_with_deletion_vectors_is_written_and_read(delta_rs):
    create = Create(SCHEMA, properties=(("delta.enableDeletionVectors", "true"),))
    assert delta_rs.execute(create).outcome == Committed()
    delta_rs.execute(append((1, "a"), (2, "b")))
    assert delta_rs.execute(Delete(Compare("=", ID, number(1)))).outcome == Committed()
    assert rows_of(delta_rs) == [(2, "b")]
    assert rows_of(delta_rs, columns=("id", "letter"), at=AtVersion(1)) == [(1, "a"), (2, "b")]


NOT_NULL = Struct((Field("id", LONG, nullable=False),))
OTHER = struct(("id", LONG), ("number", LONG))


@pytest.mark.parametrize(
    ("operation", "kind"),
    (
        (Append(Rows(OTHER, ((4, 4),))), "schema"),
        (Append(Rows(struct(("id", STRING), ("letter", STRING)), (("x", "y"),))), "schema"),
        (Append(Rows(struct(*SCHEMA, ("more", LONG)), ((4, "d", 4),))), "schema"),
        (Delete(Compare("=", Column(("nope",)), number(1))), "schema"),
        (Restore(AtVersion(99)), "missing-version"),
        (SetProperties((("delta.noSuchThing", "1"),)), "bad-argument"),
        (AddConstraint("large", Compare(">", ID, number(1))), "constraint"),
    ),
    ids=(
        "other columns",
        "other type",
        "more columns",
        "unknown column",
        "no version",
        "no property",
        "broken rule",
    ),
)
def test_a_refusal_is_reported_by_its_kind_and_changes_nothing(table, operation, kind):
    outcome = table.execute(operation).outcome
    assert isinstance(outcome, Rejected)
    assert (outcome.kind, rows_of(table)) == (kind, [(1, "a"), (2, "b"), (3, None)]), outcome
    assert table.read(Read()).version == 1


def test_a_null_where_none_may_be_is_refused(delta_rs):
    delta_rs.execute(Create(NOT_NULL))
    assert kind_of(delta_rs.execute(Append(Rows(NOT_NULL, ((None,),))))) == "constraint"


def test_a_version_that_is_not_there_can_not_be_read(table):
    assert table.read(Read(AtVersion(99))).outcome.kind == "missing-version"


@pytest.mark.parametrize(
    "operation", (append((1, "a")), Delete(), Optimize(), Checkpoint(), Restore(AtVersion(0)))
)
def test_without_a_table_everything_is_refused(delta_rs, operation):
    assert kind_of(delta_rs.execute(operation)) == "missing-table"
    assert delta_rs.read(Read()).outcome.kind == "missing-table"


def test_a_log_that_can_not_be_understood_is_reported(table, tmp_path, reopened):
    (tmp_path / "table" / "_delta_log" / f"{2:020}.json").write_text("{broken\n")
    assert reopened(table).read(Read()).outcome.kind == "corrupt-log"
    assert kind_of(table.execute(Delete())) == "corrupt-log"


def test_a_data_file_that_is_gone_is_reported(table, tmp_path):
    for path in (tmp_path / "table").glob("*.parquet"):
        path.unlink()
    assert table.read(Read()).outcome.kind == "missing-file"
    assert table.read(Read(where=Compare("=", ID, number(1)))).outcome.kind == "missing-file"


def test_a_storage_that_fails_in_mid_change_leaves_it_open_what_happened(delta_rs):
    schema = struct(("part", LONG), ("x" * 300, LONG))
    delta_rs.execute(Create(schema, ("x" * 300,)))
    outcome = delta_rs.execute(Append(Rows(schema, ((1, 1),)))).outcome
    assert isinstance(outcome, Unknown)
    assert "too long" in outcome.reason


def test_a_failure_after_the_commit_is_no_refusal(delta_rs, log):
    """deltalake 1.6.6 writes a negative decimal as `-1.-1`, commits, and then can't read what it wrote."""
    schema = struct(("part", DecimalType(5, 2)), ("id", LONG))
    delta_rs.execute(Create(schema, ("part",)))
    outcome = delta_rs.execute(Append(Rows(schema, ((Decimal(-101, 2), 1),)))).outcome
    assert isinstance(outcome, Unknown)
    assert any("add" in commit for commit in log(1))


@pytest.mark.parametrize(
    "operation",
    (
        Drop(),
        Purge(),
        Create(SCHEMA, name="t"),
        append(by_name=False),
        Overwrite(Rows(SCHEMA, ()), dynamic=True),
        Vacuum(0.5),
        Optimize(where=IsNull(LETTER)),
        Restore(AtState(1)),
    ),
    ids=(
        "drop",
        "purge",
        "named",
        "by position",
        "dynamic",
        "half an hour",
        "optimize where",
        "unresolved state",
    ),
)
def test_what_deltalake_lacks_is_unsupported(table, operation):
    assert isinstance(table.execute(operation).outcome, Unsupported)


def rows_of(host, **read):
    reply = host.read(Read(**read))
    assert reply.table is not None, reply.outcome
    return sorted(arrow_to_rows(reply.table, SCHEMA).rows)


def kind_of(reply):
    assert isinstance(reply.outcome, Rejected), reply.outcome
    return reply.outcome.kind


def test_a_deltalake_without_log_compaction_does_not_claim_it(monkeypatch):
    assert "CompactLog" in DeltaRs().capabilities["operations"]
    monkeypatch.delattr(DeltaTable, "compact_logs")
    assert "CompactLog" not in DeltaRs().capabilities["operations"]


def test_an_overwrite_of_the_schema_says_what_columns_are_generated_from(delta_rs, log):
    made = Field("made", LONG).with_metadata({"delta.generationExpression": "id + 1"})
    schema = Struct((Field("id", LONG), made))
    assert delta_rs.execute(Create(schema)).outcome == Committed()
    wider = Struct((*schema.fields, Field("more", LONG)))
    overwrite = Overwrite(Rows(wider, ((1, 2, 3),)), schema_mode="overwrite")
    assert delta_rs.execute(overwrite).outcome == Committed()
    (metadata,) = (action["metaData"] for action in log(1) if "metaData" in action)
    told = [field["metadata"] for field in json.loads(metadata["schemaString"])["fields"]]
    assert told == [{}, {"delta.generationExpression": "id + 1"}, {}]


def test_a_merge_gets_a_source_whose_nulls_are_declared(delta_rs):
    schema = Struct((Field("id", LONG, nullable=False), Field("letter", STRING)))
    assert delta_rs.execute(Create(schema)).outcome == Committed()
    same = Compare("=", Column(("source", "id")), Column(("target", "id")))
    known = Compare("=", Column(("source", "id")), number(1))
    insert = MergeClause("not-matched", "insert", condition=known, everything=True)
    merge = Merge(Rows(schema, ((1, "a"), (None, "b"))), same, (insert,))
    assert delta_rs.execute(merge).outcome == Committed()
    assert arrow_to_rows(delta_rs.read(Read()).table, schema).rows == ((1, "a"),)
