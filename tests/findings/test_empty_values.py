"""Empty values that pass NOT NULL and are null afterwards: each form is recognised, a second fault is new."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from conformance.findings import candidate_causes
from conformance.histories import History, Step
from delta_adapters.contract import Answer, Query
from delta_adapters.delta_rs import DeltaRs
from delta_adapters.deviations import all_causes
from delta_models.expressions import Column, Compare, IsNotNull, IsNull, Literal
from delta_models.operations import (
    AddConstraint,
    Append,
    Create,
    Merge,
    MergeClause,
    Operation,
    Overwrite,
    Update,
)
from delta_models.outcomes import Outcome, Rejected
from delta_models.schema import BINARY, LONG, STRING, DataType, Field, Struct
from delta_models.values import Row, Rows
from tests.mutants.stage import ALWAYS, play

CAUSE = "delta-rs-empty-values-in-not-null"
ID, PART = Column(("id",)), Column(("part",))
SAME_ID = Compare("=", Column(("source", "id")), Column(("target", "id")))
ONE = Compare("=", ID, Literal(LONG, 1))
SAME = MergeClause("matched", "update", everything=True)
INSERT = MergeClause("not-matched", "insert", everything=True)
UNREADABLE = {
    "schema.not-null-holds", "outcome.refused-changes-nothing", "outcome.commits", "read.succeeds",
}  # fmt: skip
BROKEN = {"outcome.broken-rule-refused", "rules.constraints-hold"}


def columns(data_type: DataType = STRING, *, nullable: bool = False) -> Struct:
    return Struct((Field("id", LONG), Field("part", data_type, nullable=nullable)))


TEXTS, BYTES, LOOSE = columns(), columns(BINARY), columns(nullable=True)
BEFORE: list[Operation] = [Create(TEXTS, ("part",)), Append(Rows(TEXTS, ((1, "a"), (2, "a"))))]
NEW = Rows(TEXTS, ((3, ""), (4, "b")))
LOOSELY: list[Operation] = [Create(LOOSE, ("part",)), Append(Rows(LOOSE, ((1, "a"), (2, None))))]
EMPTY_TEXT = Rows(LOOSE, ((3, ""),))
CHECKED: list[Operation] = [Create(LOOSE, ("part",)), AddConstraint("there", IsNotNull(PART))]


def found_in(engine: Any, steps: Sequence[Operation], folder: Path) -> dict[str, set[tuple[str, ...]]]:
    """The candidates of what an engine violates, by requirement."""
    history = History("lockstep", "dev", 0, 1, tuple(map(Step, steps)))
    played = play(engine, folder / "table", steps)
    assert played.faults == []
    found: dict[str, set[tuple[str, ...]]] = {}
    for result in played.result:
        for violation in result.violations:
            if violation.requirement not in ALWAYS:
                names = candidate_causes(result.observation, violation, history, all_causes())
                found.setdefault(violation.requirement, set()).add(names)
    return found


FORMS: dict[str, tuple[list[Operation], set[str]]] = {
    "append": ([*BEFORE, Append(NEW)], UNREADABLE),
    "overwrite": ([*BEFORE, Overwrite(NEW)], UNREADABLE),
    "overwrite-of-the-schema": ([*BEFORE, Overwrite(NEW, schema_mode="overwrite")], UNREADABLE),
    "replace-where": (
        [*BEFORE, Overwrite(NEW, Compare(">", ID, Literal(LONG, 2)))],
        UNREADABLE,
    ),
    "update": ([*BEFORE, Update((("part", Literal(STRING, "")),), ONE)], UNREADABLE),
    "merge": ([*BEFORE, Merge(Rows(TEXTS, ((1, ""), (9, ""))), SAME_ID, (SAME, INSERT))], UNREADABLE),
    "bytes": ([Create(BYTES, ("part",)), Append(Rows(BYTES, ((1, b""),)))], UNREADABLE),
    "bytes-beside-others": (
        [Create(BYTES, ("part",)), Append(Rows(BYTES, ((1, b""), (2, b"ab"))))],
        UNREADABLE,
    ),
    "replaced-by-an-empty-value": (
        [*LOOSELY, Overwrite(EMPTY_TEXT, Compare("=", PART, Literal(STRING, "")))],
        {"outcome.replace-where-mismatch"},
    ),
    "not-replaced-by-null": ([*LOOSELY, Overwrite(EMPTY_TEXT, IsNull(PART))], {"outcome.allowed"}),
    "constraint-of-null": (
        [Create(LOOSE, ("part",)), AddConstraint("not", IsNull(PART)), Append(EMPTY_TEXT)],
        {"outcome.allowed"},
    ),
    "constraint": ([*CHECKED, Append(Rows(LOOSE, ((1, ""),)))], BROKEN),
}


@pytest.mark.parametrize("form", FORMS)
def test_a_form_of_the_cause_is_recognised(form: str, tmp_path: Path):
    steps, requirements = FORMS[form]
    found = found_in(DeltaRs(), steps, tmp_path)
    assert {name: {(CAUSE,)} for name in requirements} == found


def test_a_constraint_added_to_rows_that_break_it_is_of_the_filters(tmp_path: Path):
    steps: list[Operation] = [Create(LOOSE, ("part",)), Append(Rows(LOOSE, ((1, ""),))), CHECKED[1]]
    found = found_in(DeltaRs(), steps, tmp_path)
    assert found == {"outcome.broken-rule-refused": {("delta-rs-empty-partition-text",)}}


class Appends(DeltaRs):
    """deltalake, to which other rows are handed than those of the history."""

    def rows(self, rows: tuple[Row, ...]) -> tuple[Row, ...]:
        return rows

    def execute(self, operation: Operation, tag: str) -> Outcome:
        if isinstance(operation, Append):
            rows = Rows(operation.rows.schema, self.rows(operation.rows.rows))
            operation = replace(operation, rows=rows)
        return super().execute(operation, tag)


class TakesNullForEmpty(Appends):
    """Null itself is let in."""

    def rows(self, rows: tuple[Row, ...]) -> tuple[Row, ...]:
        return tuple(tuple("" if value is None else value for value in row) for row in rows)


class WritesAnotherId(Appends):
    """The row with the empty value gets another id."""

    def rows(self, rows: tuple[Row, ...]) -> tuple[Row, ...]:
        return tuple((77, value) if value in {"", b""} else (number, value) for number, value in rows)


class LosesTheOtherRow(Appends):
    """The row beside the one with the empty value is lost."""

    def rows(self, rows: tuple[Row, ...]) -> tuple[Row, ...]:
        return tuple(row for row in rows if row[1] != "b")


class RefusesWhatItMayTake(DeltaRs):
    """A row that keeps the constraints is refused, as one that breaks them."""

    def execute(self, operation: Operation, tag: str) -> Outcome:
        if isinstance(operation, Append):
            return Rejected("constraint", "Invalid data found: 1 rows failed validation check.")
        return super().execute(operation, tag)


class RefusesForAnotherReason(DeltaRs):
    """The write reports another refusal, and the read one for another column."""

    def execute(self, operation: Operation, tag: str) -> Outcome:
        outcome = super().execute(operation, tag)
        return replace(outcome, message="no") if isinstance(outcome, Rejected) else outcome

    def read(self, read: Query) -> Answer | Outcome:
        answer = super().read(read)
        if not isinstance(answer, Rejected):
            return answer
        return replace(answer, message=answer.message.replace("part", "id"))


OF_THE_WRITE = UNREADABLE - {"read.succeeds"}
NULL = Append(Rows(LOOSE, ((3, None),)))
SECOND: tuple[tuple[type[DeltaRs], list[Operation], set[str]], ...] = (
    (TakesNullForEmpty, [*CHECKED, NULL], BROKEN),
    (RefusesWhatItMayTake, [*CHECKED, Append(Rows(LOOSE, ((1, "a"),)))], {"outcome.allowed"}),
    (WritesAnotherId, [*BEFORE, Append(NEW)], OF_THE_WRITE),
    (WritesAnotherId, FORMS["bytes"][0], OF_THE_WRITE),
    (WritesAnotherId, FORMS["constraint"][0], BROKEN),
    (LosesTheOtherRow, [*BEFORE, Append(NEW)], OF_THE_WRITE),
    (RefusesForAnotherReason, [*BEFORE, Append(NEW)], UNREADABLE),
)


@pytest.mark.parametrize(
    ("fault", "steps", "requirements"),
    SECOND,
    ids=[f"{number}-{fault.__name__}" for number, (fault, *_) in enumerate(SECOND)],
)
def test_a_second_fault_beside_an_empty_value_is_new(
    fault: type[DeltaRs], steps: list[Operation], requirements: set[str], tmp_path: Path
):
    found = found_in(fault(), steps, tmp_path)
    assert {name: found.get(name) for name in requirements} == {name: {()} for name in requirements}
