"""The rows that remain of what a stream reader returned: rows as they are, changes added up."""

from __future__ import annotations

import pyarrow as pa
import pytest

from conformance.execution.stream_readers import left_of
from delta_models.schema import LONG, struct
from delta_models.values import Rows

SCHEMA = struct(("id", LONG))


def change_feed(*changes: tuple[int, str]) -> pa.Table:
    ids, kinds = [row for row, _ in changes], [kind for _, kind in changes]
    versions = pa.array([7] * len(ids), pa.int64())
    return pa.table({"id": pa.array(ids, pa.int64()), "_change_type": kinds, "_commit_version": versions})


def test_rows_without_changes_stay_as_they_are():
    assert left_of(pa.table({"id": pa.array([2, 1, 1], pa.int64())}), SCHEMA) == Rows(
        SCHEMA, ((2,), (1,), (1,))
    )


@pytest.mark.parametrize(
    ("changes", "left"),
    (
        ([(1, "insert"), (2, "insert"), (1, "delete")], [2]),
        ([(1, "insert"), (1, "update_preimage"), (3, "update_postimage")], [3]),
        ([(1, "insert"), (1, "insert")], [1, 1]),
    ),
)
def test_changes_are_added_up(changes, left):
    remaining = left_of(change_feed(*changes), SCHEMA)
    assert isinstance(remaining, Rows)
    assert [row[0] for row in remaining.rows] == left


def test_a_row_that_vanishes_without_arriving_is_an_error_text():
    assert left_of(change_feed((1, "delete")), SCHEMA) == "a row went that had not come"
    assert isinstance(left_of(pa.table({"name": ["a"]}), SCHEMA), str)
