"""Row tracking and column mapping, each damaged in one way, and a table that keeps every rule."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from tests.damaged_logs.damages import (
    MAPPED,
    MAPPING,
    TRACKING,
    damage,
    mapped_field,
    row_id_mark,
    with_field_ids,
)

IDS, VERSIONS = "_row-id", "_row-commit-version"
TRACKED = {
    "delta.enableRowTracking": "true",
    "delta.rowTracking.materializedRowIdColumnName": IDS,
    "delta.rowTracking.materializedRowCommitVersionColumnName": VERSIONS,
}

PRESERVED = {"delta.rowTracking.preserved": "true"}


def write_rearranged_rows(
    table: Any,
    ids: list[int],
    versions: list[int | None],
    *,
    operation: str = "OPTIMIZE",
    change: bool = False,
) -> None:
    """Write a table of four rows whose one file is written again, with the given row ids and versions in it."""
    table.create(protocol=TRACKING, configuration=TRACKED)
    first = table.add()
    table.write({"commitInfo": {"tags": PRESERVED}}, first, row_id_mark(3))
    second = table.add("b.parquet", baseRowId=4, defaultRowCommitVersion=2, dataChange=change)
    path = table.folder / "b.parquet"
    inside = pq.read_table(path)
    inside = inside.append_column(IDS, pa.array(ids, pa.int64()))
    pq.write_table(inside.append_column(VERSIONS, pa.array(versions, pa.int64())), path)
    second["add"]["size"] = path.stat().st_size
    remove = table.remove(first)
    remove["remove"]["dataChange"] = change
    table.write({"commitInfo": {"operation": operation}}, remove, second, row_id_mark(7))


damage("rows.ids-unique")(
    lambda table: write_rearranged_rows(table, [0, 1, 2, 2], [1, 1, 1, 1], operation="WRITE", change=True)
)


damage("rows.ids-unlike-fresh")(
    lambda table: write_rearranged_rows(table, [5, 4, 6, 7], [1, 1, 1, 1], operation="WRITE", change=True)
)


damage("rows.copied-ids-stay")(
    lambda table: write_rearranged_rows(table, [0, 1, 2, 9], [1, 1, 1, 1], operation="DELETE", change=True)
)


damage("rows.ids-stay")(lambda table: write_rearranged_rows(table, [0, 1, 2, 9], [1, 1, 1, 1]))


damage("rows.commit-versions-stay")(lambda table: write_rearranged_rows(table, [0, 1, 2, 3], [1, 1, 1, None]))


damage("rows.updated-ids-stay")(
    lambda table: write_rearranged_rows(table, [0, 1, 2, 9], [1, 1, 1, 2], operation="UPDATE", change=True)
)


@damage("schema.column-ids-stay")
def _column_id_changes(table):
    for version, number in enumerate((1, 2)):
        fields = [mapped_field("a", number, "x")]
        metadata = table.metadata(configuration=MAPPED, fields=fields, partitionColumns=[])
        table.write(metadata, *([] if version else [{"protocol": MAPPING}]))


@damage("schema.mapping-mode-stays")
def _mapping_mode_changes(table):
    fields = [mapped_field("id", 1, "id"), mapped_field("part", 2, "part", "string")]
    table.create(protocol=MAPPING, configuration=MAPPED, fields=fields)
    table.write(table.file("a.parquet", with_field_ids(id=[1]), partitionValues={"part": "x"}))
    by_id = MAPPED | {"delta.columnMapping.mode": "id"}
    table.write(table.metadata(configuration=by_id, fields=fields))
