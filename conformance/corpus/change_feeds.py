"""Compare the changes that the oracle or an engine reports with an expected change feed."""

from __future__ import annotations

from conformance.corpus import golden
from conformance.corpus.cases import Question
from conformance.corpus.expectations import compare_rows, expected_rows, files
from conformance.corpus.result import CaseResult, failed, out_of_scope, passed
from delta_models.log import LogReader
from delta_models.log.changes import COMMIT_TIMESTAMP
from delta_models.schema import Struct
from delta_models.values import Rows


def without_times(changes: Rows) -> Rows:
    """Changes without the times of their commits, which a copied table has lost."""
    schema = Struct(changes.schema.fields[:-1])
    return Rows(schema, tuple(row[:-1] for row in changes.rows))


def result(reader: LogReader, question: Question, answer: Rows, first: int, last: int | None) -> CaseResult:
    """Judge the changes between two versions, given without the times of their commits.

    If the corpus expects no changes, they must lead from the state before them to the state after them.
    """
    expected = question.form.get("expected")
    expected_files = files(question.rows)
    if expected is None and not expected_files:
        return _agrees_with_states(reader, answer, first, last)
    count = expected.get("rowCount") if isinstance(expected, dict) else None
    if count is not None and len(answer) != count:
        return failed(f"{len(answer)} changes, expected {count}")
    if not expected_files:
        return passed("" if count == 0 else "by the number of changes: they were not kept")
    try:
        rows = expected_rows(expected_files, Struct((*answer.schema.fields, COMMIT_TIMESTAMP)))
    except ValueError as error:
        return failed(str(error))
    return compare_rows(answer, [row[:-1] for row in rows])


def _agrees_with_states(reader: LogReader, changes: Rows, first: int, last: int | None) -> CaseResult:
    end = reader.snapshot(last)
    width = len(end.schema)
    balance = golden.RowBalance(end.schema)
    for *row, kind, _version in changes.rows:
        balance.add(tuple(row[:width]), 1 if kind in {"insert", "update_postimage"} else -1)
    balance.extend(reader.rows(end).rows, -1)
    if first > 0:
        before = reader.snapshot(first - 1)
        if before.schema != end.schema:
            return out_of_scope("the spec expects nothing, and the schema changes on the way")
        balance.extend(reader.rows(before).rows, 1)
    if balance.even:
        return passed(
            "nothing is expected: the changes lead from the state before them to the one at their end"
        )
    return failed("the changes do not lead from the state before them to the one at their end")
