"""What deltalake does wrong in other ways than in the minimal history is recognised as the same cause."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from conformance.findings import candidate_causes
from conformance.findings.predictions import DIFFERENCES, matches
from conformance.histories import History, Step
from delta_adapters.delta_rs import DeltaRs
from delta_adapters.deviations import Prediction, all_causes
from delta_models.expressions import (
    And,
    Between,
    Column,
    Compare,
    Expression,
    In,
    IsNotNull,
    IsNull,
    Literal,
    Not,
    Or,
)
from delta_models.operations import (
    AddConstraint,
    Append,
    AtState,
    ConvertFromParquet,
    Create,
    Delete,
    Merge,
    MergeClause,
    Operation,
    Overwrite,
    Read,
    ReadChanges,
    Reopen,
    Update,
)
from delta_models.schema import BINARY, BOOLEAN, DOUBLE, LONG, STRING, DataType, DecimalType, struct
from delta_models.values import Decimal, Rows, Value
from tests.mutants.stage import ALWAYS, play

ID, V, PART, QART = (Column((name,)) for name in ("id", "v", "part", "qart"))
NAN = float("nan")
CHANGES = (("delta.enableChangeDataFeed", "true"),)
NUMBERS = struct(("id", LONG), ("v", DOUBLE))
TEXTS = struct(("id", LONG), ("part", STRING))
FLAGS = struct(("id", LONG), ("part", BOOLEAN), ("qart", BOOLEAN))


def is_(column: Column, data_type: DataType, value: Value, op: str = "=") -> Expression:
    return Compare(op, column, Literal(data_type, value))


def null(data_type: DataType) -> Literal:
    return Literal(data_type, None)


def one_number(*operations: Operation) -> list[Operation]:
    """A table in which 1.0 and NaN are in one file, and further values in another."""
    first, second = Rows(NUMBERS, ((1, 1.0), (2, NAN))), Rows(NUMBERS, ((3, 3.0), (4, 4.0), (5, NAN)))
    return [Create(NUMBERS), Append(first), Append(second), *operations]


def numbers(*operations: Operation) -> list[Operation]:
    rows = Rows(NUMBERS, ((1, 1.0), (3, 3.0), (7, None), (None, 7.0)))
    return [Create(NUMBERS), Append(rows), *operations]


def texts(*operations: Operation) -> list[Operation]:
    rows = Rows(TEXTS, ((1, ""), (2, "a"), (3, None), (4, "b")))
    return [Create(TEXTS, ("part",)), Append(rows), *operations]


def flags(*operations: Operation) -> list[Operation]:
    rows = Rows(FLAGS, ((1, True, True), (2, False, True), (3, None, False)))
    return [Create(FLAGS, ("part", "qart")), Append(rows), *operations]


def decimals(precision: int, scale: int, *unscaled: int) -> Rows:
    schema = struct(("d", DecimalType(precision, scale)))
    return Rows(schema, tuple((Decimal(value, scale),) for value in unscaled))


def column_of(rows: Rows) -> list[Operation]:
    return [Create(rows.schema), Append(rows)]


def partition_of(data_type: DataType, *values: Value) -> list[Operation]:
    schema = struct(("id", LONG), ("part", data_type))
    return [Create(schema, ("part",)), Append(Rows(schema, tuple(enumerate(values))))]


def merged(*clauses: MergeClause) -> list[Operation]:
    source = Rows(struct(("id", LONG), ("more", LONG)), ((1, 5), (2, 6)))
    ids = Compare("=", Column(("source", "id")), Column(("target", "id")))
    schema = struct(("id", LONG))
    return [
        Create(schema),
        Append(Rows(schema, ((1,),))),
        Merge(source, ids, clauses, schema_evolution=True),
    ]


INSERT_ID = MergeClause("not-matched", "insert", (("id", Column(("source", "id"))),))
UPDATE_ID = MergeClause("matched", "update", (("id", Column(("source", "id"))),))
UPDATE_ALL = MergeClause("matched", "update", everything=True)
INSERT_ALL = MergeClause("not-matched", "insert", everything=True)
MONEY = DecimalType(10, 2)
LIMIT = Compare("<=", Column(("part",)), Literal(MONEY, Decimal(150, 2)))
BY_PART = Compare("=", Column(("source", "part")), Column(("target", "part")))

TWICE = Rows(NUMBERS, ((7, 5.0), (7, 6.0)))
WITH_ID = Append(TWICE, transaction=("loader", 3))
SAME_ID = Compare("=", Column(("source", "id")), Column(("target", "id")))
DELETE_4 = MergeClause(
    "matched", "delete", condition=Compare("=", Column(("source", "v")), Literal(DOUBLE, 4.0))
)
DELETE = MergeClause("matched", "delete")


def recorded(operation: Operation) -> list[Operation]:
    """Two files, in a table that records changes; the bounds of the first alone let an id be 7 and -1."""
    first, second = Rows(NUMBERS, ((7, 1.0), (-1, 2.0), (3, None))), Rows(NUMBERS, ((50, 1.0),))
    return [Create(NUMBERS, (), CHANGES), Append(first), Append(second), operation]


def listed(value: int, times: int = 2) -> Expression:
    return In(ID, (Literal(LONG, value),) * times)


BETWEEN_7 = Between(ID, Literal(LONG, 7), Literal(LONG, 7))
CONTRADICTIONS = (
    And((is_(ID, LONG, 7), listed(-1))),
    And((listed(-1, 3), BETWEEN_7)),
    And((is_(ID, LONG, 7), listed(-1), is_(V, DOUBLE, 2.0))),
    And((is_(ID, LONG, 7), listed(-1), is_(ID, LONG, 0, ">"))),
    And((is_(ID, LONG, 7), listed(-1), is_(ID, LONG, 3, "!="))),
    And((is_(ID, LONG, 7), listed(-1), In(ID, (Literal(LONG, 3), Literal(LONG, -1))))),
    Not(Or((is_(ID, LONG, 7, "!="), Not(listed(-1))))),
)

SHOWN: dict[str, tuple[list[Operation], ...]] = {
    "delta-rs-nan-left-out-of-bounds": (
        one_number(Read(where=is_(V, DOUBLE, 1.0))),
        one_number(Read(where=is_(V, DOUBLE, 2.0, ">"))),
        one_number(Read(where=is_(V, DOUBLE, NAN))),
        one_number(Read(where=Not(is_(V, DOUBLE, 1.0)), columns=("v",))),
        one_number(Delete(is_(V, DOUBLE, 1.0))),
        one_number(Delete(is_(V, DOUBLE, 2.0, ">"))),
        one_number(Update((("id", Literal(LONG, 9)),), is_(V, DOUBLE, 1.0))),
    ),
    "delta-rs-null-in-filter": (
        numbers(Read(where=Between(ID, null(LONG), Literal(LONG, 5)))),
        numbers(Read(where=Not(In(ID, (Literal(LONG, 1), null(LONG)))))),
        numbers(Read(where=Not(Compare("=", V, V)))),
        texts(Read(where=In(PART, (Literal(STRING, "a"), null(STRING))), columns=("id",))),
        texts(Read(where=Or((is_(PART, STRING, "a"), is_(PART, STRING, None))), columns=("id",))),
    ),
    "delta-rs-delete-by-null": (
        numbers(Delete(Not(is_(ID, LONG, None)))),
        texts(Delete(is_(PART, STRING, None))),
    ),
    "delta-rs-empty-partition-text": (
        texts(Read(where=IsNull(PART))),
        texts(Read(where=is_(PART, STRING, ""))),
        texts(Read(where=And((IsNotNull(PART), is_(ID, LONG, 3, "<"))), columns=("id",))),
        texts(Delete(IsNotNull(PART))),
        texts(Merge(Rows(TEXTS, ((9, ""),)), BY_PART, (MergeClause("matched", "delete"),))),
    ),
    "delta-rs-partition-columns-compared": (
        flags(Read(where=Compare(">=", PART, QART))),
        flags(Read(where=Compare(">", PART, PART))),
        texts(Read(where=Compare(">", PART, PART), columns=("id",))),
        flags(Read(where=And((Compare("=", PART, QART), is_(ID, LONG, 3, "<"))))),
    ),
    "delta-rs-decimal-statistics": (
        column_of(decimals(38, 0, 10**37, -(10**37))),
        column_of(decimals(20, 3, 84746848716733984410, -61925340244491052481)),
        column_of(decimals(18, 18, -650382615632528768, -100867140004137935)),
    ),
    "delta-rs-converts-decimals-as-doubles": (
        [ConvertFromParquet(decimals(10, 2, -9581436899, 2364638174))],
    ),
    "delta-rs-negative-decimal-partition": (
        partition_of(DecimalType(19, 4), Decimal(-1, 4)),
        partition_of(MONEY, Decimal(-9_999_999_999, 2)),
    ),
    "delta-rs-binary-partition": (partition_of(BINARY, b"\xff\x00", b"ab", None),),
    "delta-rs-name-of-null": (
        [*texts(), Overwrite(Rows(TEXTS, ((1, "__HIVE_DEFAULT_PARTITION__"), (2, None), (3, "a"))))],
    ),
    "delta-rs-constraint-loses-the-point": (
        [*partition_of(MONEY, Decimal(100, 2)), AddConstraint("c", LIMIT),
         Overwrite(Rows(struct(("id", LONG), ("part", MONEY)), ((1, Decimal(9_900, 2)),)))],
    ),
    "delta-rs-merge-inserts-what-is-not-listed": (
        merged(UPDATE_ID, INSERT_ALL),
        merged(UPDATE_ALL, INSERT_ID),
    ),
    "delta-rs-update-forgets-a-change": (
        [Create(NUMBERS, (), CHANGES), Append(Rows(NUMBERS, ((1, 1.0), (7, 1.0), (7, 2.0)))),
         Update((("id", Literal(LONG, 1)),), is_(ID, LONG, 7))],
    ),
    "delta-rs-rewrites-by-contradictions": (
        *(recorded(Delete(where)) for where in CONTRADICTIONS),
        recorded(Update((("v", Literal(DOUBLE, 9.0)),), CONTRADICTIONS[0])),
        recorded(Update((("v", Literal(DOUBLE, 9.0)),), CONTRADICTIONS[3])),
        recorded(Overwrite(Rows(NUMBERS, ()), CONTRADICTIONS[0])),
    ),
    "delta-rs-merge-deletes-twice": (
        numbers(Merge(TWICE, SAME_ID, (DELETE_4, DELETE))),
        numbers(Merge(TWICE, SAME_ID, (DELETE, UPDATE_ALL))),
    ),
    "delta-rs-repeats-transactions": (
        [*numbers(), WITH_ID, Reopen(), replace(WITH_ID, transaction=("loader", 2))],
        [*numbers(), WITH_ID, Overwrite(TWICE, transaction=("loader", 3))],
    ),
    "delta-rs-change-data-escaped-twice": (
        [Create(TEXTS, ("part",), CHANGES),
         Append(Rows(TEXTS, ((1, "a:b"),))), ReadChanges(AtState(1))],
    ),
}  # fmt: skip


@pytest.mark.parametrize(
    ("cause", "steps"),
    [(cause, steps) for cause, histories in SHOWN.items() for steps in histories],
    ids=[f"{cause}-{number}" for cause, histories in SHOWN.items() for number in range(len(histories))],
)
def test_another_form_of_a_cause_is_recognised(cause: str, steps: list[Operation], tmp_path: Path):
    played = play(DeltaRs(), tmp_path / "table", steps)
    history = History("lockstep", "dev", 0, 1, tuple(map(Step, steps)))
    found = [
        (violation, candidate_causes(result.observation, violation, history, all_causes()))
        for result in played.result
        for violation in result.violations
        if violation.requirement not in ALWAYS
    ]
    assert any(cause in candidates for _, candidates in found), found or "nothing is wrong"
    assert [violation for violation, candidates in found if not candidates] == []


def test_a_difference_that_can_not_be_computed_does_not_match(tmp_path: Path):
    """Each difference is asked about violations that it is not about, at tables that can't be read too."""
    everything: list[Operation] = [
        *partition_of(MONEY, Decimal(-1, 2)),
        *one_number(Read(where=is_(V, DOUBLE, 1.0))),
    ]
    for number, steps in enumerate((everything[:2], everything[2:])):
        for result in play(DeltaRs(), tmp_path / f"table{number}", steps).result:
            for violation in result.violations:
                for observation in (result.observation, replace(result.observation, before=None, after=None)):
                    matching = {
                        name
                        for name in DIFFERENCES
                        if matches(Prediction((violation.requirement,), name), observation, violation)
                    }
                    assert matching <= {
                        "no-checksum-at-all", "sign-before-the-fraction", "nan-left-out-of-maximum",
                        "nan-read-as-the-bound", "parsed-stats-beside-json", "append-without-the-tag",
                        "partition-columns-behind",
                    }  # fmt: skip


WIDE = DecimalType(20, 0)
LONG_NUMBER = 10**16 + 1  # as a double it is one less


@pytest.mark.parametrize(("op", "number"), (("=", LONG_NUMBER), (">", LONG_NUMBER - 1)))
def test_rows_that_rounded_bounds_hide_from_a_filter_belong_to_them(op: str, number: int, tmp_path: Path):
    rows = decimals(20, 0, LONG_NUMBER, 5)
    where = Compare(op, Column(("d",)), Literal(WIDE, Decimal(number, 0)))
    # Before the last step come as many others as it takes until the harness filters by the predicate after it.
    steps: list[Operation] = [Create(rows.schema), Delete(where), *(Reopen() for _ in range(9)), Append(rows)]
    history = History("lockstep", "dev", 0, 1, tuple(map(Step, steps)))
    found = {
        violation.requirement: candidate_causes(result.observation, violation, history, all_causes())
        for result in play(DeltaRs(), tmp_path / "table", steps).result
        for violation in result.violations
    }
    for requirement in ("read.filter", "metamorphic.filter-picks"):
        assert found[requirement] == ("delta-rs-decimal-statistics",)


NULL_BOUND = Between(ID, null(LONG), Literal(LONG, 5))


@pytest.mark.parametrize(
    "operation",
    (
        Delete(NULL_BOUND),
        Delete(And((is_(ID, LONG, 3), is_(V, DOUBLE, None, "<")))),
        Update((("v", Literal(DOUBLE, 9.0)),), NULL_BOUND),
        Overwrite(Rows(NUMBERS, ()), NULL_BOUND),
    ),
)
def test_files_that_are_rewritten_by_a_null_belong_to_the_null(operation: Operation, tmp_path: Path):
    steps = recorded(operation)
    history = History("lockstep", "dev", 0, 1, tuple(map(Step, steps)))
    # Without a filter by the same predicate first, whose wrong answer would end the history.
    played = play(DeltaRs(), tmp_path / "table", steps, extra_reads=False)
    found = [
        candidate_causes(result.observation, violation, history, all_causes())
        for result in played.result
        for violation in result.violations
        if violation.requirement not in ALWAYS
    ]
    assert found
    assert set(found) == {("delta-rs-null-in-filter",)}


@pytest.mark.parametrize("second", (NAN, 3.0))
@pytest.mark.parametrize("kind", ("delete", "update"))
def test_a_write_that_does_not_find_its_nan_belongs_to_the_bounds(kind: str, second: float, tmp_path: Path):
    where = is_(V, DOUBLE, 4.0, ">")
    write: Operation = Delete(where) if kind == "delete" else Update((("id", Literal(LONG, 9)),), where)
    rows = Rows(NUMBERS, ((1, 1.0), (2, NAN), (3, second)))
    steps: list[Operation] = [Create(NUMBERS), Append(rows), write]
    history = History("lockstep", "dev", 0, 1, tuple(map(Step, steps)))
    found = [
        candidate_causes(result.observation, violation, history, all_causes())
        for result in play(DeltaRs(), tmp_path / "table", steps, extra_reads=False).result
        for violation in result.violations
        if violation.requirement == "outcome.allowed"
    ]
    assert found == [("delta-rs-nan-left-out-of-bounds",)]
