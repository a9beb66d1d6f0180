"""Empty values of delta-spark, in files beside null in the log and in NOT NULL columns; a second fault is new.

tests/adapters/delta_spark plays the causes themselves on the real delta-spark; that takes a JVM.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from conformance.findings.predictions.contents import said_and_held
from delta_adapters.contract import Answer, Identity, Query
from delta_adapters.delta_rs import DeltaRs
from delta_models.expressions import Column, Compare, IsNotNull
from delta_models.operations import AddConstraint, Append, Create, Merge, MergeClause, Operation, WriteStream
from delta_models.outcomes import Committed, Outcome, Rejected
from delta_models.requirements import Violation
from delta_models.schema import BINARY, STRING
from delta_models.values import Rows
from tests.findings.second_faults import Form, Tampered
from tests.findings.test_empty_values import BROKEN, columns, found_in

LET_IN = ("delta-spark-empty-values-in-not-null",)
STAYS = ("delta-spark-empty-values-stay-in-files",)
AGREES = "log.partition-value-agrees-with-file"
BYTES, STRICT, TEXTS = columns(BINARY, nullable=True), columns(BINARY), columns(STRING, nullable=True)
EMPTY_BYTES: list[Operation] = [Create(BYTES, ("part",)), Append(Rows(BYTES, ((1, b""),)))]
NOT_NULL: list[Operation] = [Create(STRICT, ("part",)), Append(Rows(STRICT, ((1, b""),)))]
THERE = AddConstraint("there", IsNotNull(Column(("part",))))
SAME_ID = Compare("=", Column(("source", "id")), Column(("target", "id")))
UPDATE = MergeClause("matched", "update", everything=True)
INSERT = MergeClause("not-matched", "insert", everything=True)
INSERT_SOME = replace(INSERT, condition=IsNotNull(Column(("source", "id"))))


def merged(*clauses: MergeClause) -> list[Operation]:
    """A table without rows into which a merge puts an empty text."""
    return [Create(TEXTS, ("part",)), Merge(Rows(TEXTS, ((1, ""),)), SAME_ID, clauses)]


def streamed() -> list[Operation]:
    return [Create(TEXTS, ("part",)), WriteStream(Rows(TEXTS, ((1, ""),)))]


def appended() -> list[Operation]:
    return [Create(TEXTS, ("part",)), Append(Rows(TEXTS, ((1, ""),)))]


def merged_with_a_match() -> list[Operation]:
    create, merge = merged(UPDATE, INSERT)
    return [create, Append(Rows(TEXTS, ((1, "a"),))), merge]


def checked(steps: list[Operation]) -> list[Operation]:
    return [steps[0], THERE, *steps[1:]]


class CommitsWhatItCannotRead(DeltaRs):
    """deltalake reports a refusal of null that it has committed to a NOT NULL column. Here it reports a commit."""

    def execute(self, operation: Operation, tag: str) -> Outcome:
        outcome = super().execute(operation, tag)
        committed = isinstance(outcome, Rejected) and "unmasked nulls" in outcome.message
        return Committed() if committed else outcome


class LikeDeltaSpark(Tampered, CommitsWhatItCannotRead):
    """The log has null for empty values, which the files hold beside their other columns.

    deltalake itself can't read such a file. So a read after the first version is refused, as pyspark refuses null in a
    NOT NULL column; in other tables nobody may read.
    """

    held: str | bytes = b""
    refused = "part"

    @property
    def identity(self) -> Identity:
        return replace(super().identity, name="delta-spark", version="4.4.0")

    @property
    def capabilities(self) -> Mapping[str, Any]:
        document = super().capabilities
        return {**document, "operations": {**document["operations"], "Pour": {}}}

    def other(self, operation: Operation) -> Operation:
        return Append(operation.rows) if isinstance(operation, WriteStream) else operation

    def commit(self, operation: Operation, forms: list[Form]) -> list[Form]:
        for form in forms:
            add = form.get("add")
            if add is not None and add["partitionValues"]["part"] == "":
                add["partitionValues"]["part"] = None
                file = self.log.parent / add["path"]
                rows = pq.ParquetFile(file).read()
                pq.write_table(rows.append_column("part", pa.array([self.held] * len(rows))), file)
                add["size"] = file.stat().st_size
        return forms

    def read(self, read: Query) -> Answer | Outcome:
        if len(list(self.log.glob("*.json"))) == 1:
            return super().read(read)
        words = f"ValueError: Casting field {self.refused!r} with null values to non-nullable"
        return Rejected("unclassified", words)


class HoldsTheEmptyText(LikeDeltaSpark):
    """The file holds the empty text."""

    held = ""


class HoldsOtherBytes(LikeDeltaSpark):
    """The file holds bytes that are not empty."""

    held = b"x"


class HoldsAnotherText(LikeDeltaSpark):
    """The file holds a text that is not empty."""

    held = "x"


class RefusesAnotherColumn(LikeDeltaSpark):
    """The read is refused for null in a column that may be null."""

    refused = "id"


class WritesAnotherId(LikeDeltaSpark):
    """The row with the empty value gets another id."""

    def other(self, operation: Operation) -> Operation:
        if not isinstance(operation, Append):
            return operation
        rows = tuple((77, part) for _, part in operation.rows.rows)
        return replace(operation, rows=Rows(operation.rows.schema, rows))


@pytest.mark.parametrize(
    ("engine", "steps", "causes"),
    (
        (LikeDeltaSpark, EMPTY_BYTES, STAYS),
        (HoldsTheEmptyText, merged(INSERT), STAYS),
        (HoldsTheEmptyText, merged(UPDATE, INSERT), STAYS),
        (HoldsTheEmptyText, streamed(), STAYS),
        (HoldsOtherBytes, EMPTY_BYTES, ()),
        (HoldsAnotherText, merged(INSERT), ()),
        (HoldsTheEmptyText, merged(INSERT_SOME, INSERT), ()),
        (HoldsTheEmptyText, merged_with_a_match(), ()),
        (HoldsTheEmptyText, appended(), ()),
    ),
)
def test_a_file_beside_null_may_hold_empty_bytes_and_the_empty_text_of_a_write_that_keeps_it(
    engine: type[LikeDeltaSpark], steps: list[Operation], causes: tuple[str, ...], tmp_path: Path
):
    assert found_in(engine(), steps, tmp_path, reads=False) == {AGREES: {causes}}


@pytest.mark.parametrize(
    ("engine", "steps", "causes"),
    (
        (LikeDeltaSpark, EMPTY_BYTES, (LET_IN, STAYS)),
        (HoldsTheEmptyText, merged(INSERT), (LET_IN, STAYS)),
        (HoldsTheEmptyText, merged(UPDATE, INSERT), (LET_IN, STAYS)),
        (HoldsTheEmptyText, streamed(), (LET_IN, STAYS)),
        (HoldsTheEmptyText, merged(INSERT_SOME, INSERT), ((), ())),
        (HoldsTheEmptyText, merged_with_a_match(), ((), ())),
        (HoldsTheEmptyText, appended(), ((), ())),
    ),
)
def test_empty_bytes_and_the_empty_text_of_a_write_that_keeps_it_pass_a_constraint(
    engine: type[LikeDeltaSpark], steps: list[Operation], causes: tuple[tuple[str, ...], ...], tmp_path: Path
):
    found = found_in(engine(), checked(steps), tmp_path, reads=False)
    assert found == {**{name: {causes[0]} for name in BROKEN}, AGREES: {causes[1]}}


def test_another_row_beside_empty_bytes_that_pass_a_constraint_is_new(tmp_path: Path):
    found = found_in(WritesAnotherId(), checked(EMPTY_BYTES), tmp_path, reads=False)
    assert found == {**{name: {()} for name in BROKEN}, AGREES: {STAYS}}


def test_empty_bytes_in_a_not_null_column_and_the_reads_they_spoil_are_recognised(tmp_path: Path):
    rules = ("schema.not-null-holds", "outcome.broken-rule-refused", "read.succeeds")
    found = found_in(LikeDeltaSpark(), NOT_NULL, tmp_path)
    assert found == {**{name: {LET_IN} for name in rules}, AGREES: {STAYS}}


@pytest.mark.parametrize("engine", (RefusesAnotherColumn, HoldsOtherBytes))
def test_a_read_that_is_refused_for_other_reasons_than_empty_bytes_is_new(
    engine: type[LikeDeltaSpark], tmp_path: Path
):
    assert found_in(engine(), NOT_NULL, tmp_path)["read.succeeds"] == {()}


@pytest.mark.parametrize("said", ("nan", "Decimal(unscaled=1, scale=0)"))
def test_values_of_other_types_are_compared_with_no_empty_value(said: str):
    violation = Violation(AGREES, f"a.parquet: column 'part': the log says {said}, the file None")
    assert said_and_held(violation) == (None, None)
