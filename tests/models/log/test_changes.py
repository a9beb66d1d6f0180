"""The change feed from the log: recorded changes if there are any, else added and removed files."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from delta_models.log import NoChangeData

ON = {"delta.enableChangeDataFeed": "true", "delta.enableDeletionVectors": "true"}
ROWS = [(1, "a", None, None), (2, "b", None, None), (3, "c", None, None)]


def changes_of(table, first, last=None):
    rows = table.reader.changes(first, last).rows
    return sorted((version, kind, identity) for identity, *_, kind, version, _ in rows)


def test_added_files_are_inserted_and_removed_ones_deleted(table):
    table.create(configuration=ON)
    action = table.add(rows=ROWS)
    table.write(action)
    table.write(table.remove(action), table.add("b.parquet", ROWS[:1]))
    assert changes_of(table, 0) == [
        (1, "insert", 1),
        (1, "insert", 2),
        (1, "insert", 3),
        (2, "delete", 1),
        (2, "delete", 2),
        (2, "delete", 3),
        (2, "insert", 1),
    ]
    assert changes_of(table, 1, 1) == [(1, "insert", 1), (1, "insert", 2), (1, "insert", 3)]


def test_rearranged_files_change_nothing(table):
    table.create(configuration=ON)
    action = table.add(rows=ROWS)
    table.write(action)
    table.write(table.remove(action, dataChange=False), table.add("b.parquet", ROWS, dataChange=False))
    assert changes_of(table, 2) == []


def test_of_a_file_with_another_vector_only_the_difference_has_changed(table):
    table.create(configuration=ON)
    first = table.add(rows=ROWS)
    table.write(first)
    second = table.add(rows=ROWS, deletionVector=table.vector([0, 2]))
    table.write(table.remove(first), second)
    assert changes_of(table, 2) == [(2, "delete", 1), (2, "delete", 3)]
    table.write(table.remove(second), first)
    assert changes_of(table, 3) == [(3, "insert", 1), (3, "insert", 3)]


def test_recorded_changes_are_reported_alone(table):
    table.create(configuration=ON)
    action = table.add(rows=ROWS)
    table.write(action)
    changes = pa.table(
        {"id": [1, 1], "name": ["a", "z"], "_change_type": ["update_preimage", "update_postimage"]}
    )
    (table.folder / "_change_data").mkdir()
    path = table.folder / "_change_data" / "c d.parquet"
    pq.write_table(changes, path)
    cdc = {
        "path": "_change_data/c%20d.parquet",
        "partitionValues": {"part": "x"},
        "size": 1,
        "dataChange": False,
    }
    table.write(table.remove(action), table.add("b.parquet", ROWS), {"cdc": cdc})
    rows = table.reader.changes(2).rows
    assert [(row[0], row[1], row[4], row[5], row[6]) for row in rows] == [
        (1, "a", "x", "update_preimage", 2),
        (1, "z", "x", "update_postimage", 2),
    ]


def test_versions_without_the_feed_cannot_tell(table):
    table.create(configuration={})
    table.write(table.metadata(configuration=ON))
    assert changes_of(table, 1) == []
    with pytest.raises(NoChangeData, match="version 0"):
        table.reader.changes(0)
