"""Row tracking and the compatibility with Iceberg, each damaged in one way."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from tests.damaged_logs.damaged_rows import PRESERVED, TRACKED
from tests.damaged_logs.damages import (
    FEED,
    LONG,
    PROTOCOL,
    TRACKING,
    damage,
    mapped_field,
    row_id_mark,
    with_field_ids,
)

SUSPENDED = {"delta.rowTrackingSuspended": "true"}
V1 = {"minReaderVersion": 2, "minWriterVersion": 7, "writerFeatures": ["columnMapping", "icebergCompatV1"]}
V2: dict[str, Any] = V1 | {"writerFeatures": ["columnMapping", "icebergCompatV2"]}
WIDER: dict[str, Any] = {
    "minReaderVersion": 3,
    "minWriterVersion": 7,
    "readerFeatures": ["columnMapping", "typeWidening"],
    "writerFeatures": ["columnMapping", "typeWidening", "icebergCompatV2"],
}
MAPS = {"delta.columnMapping.mode": "name", "delta.columnMapping.maxColumnId": "9"}
ON = {version: MAPS | {f"delta.enableIcebergCompat{version}": "true"} for version in ("V1", "V2")}
FIELDS = [mapped_field("id", 1, "id"), mapped_field("part", 2, "part", "string")]
ARRAY = {"type": "array", "elementType": "long", "containsNull": True}

# Row tracking


def write_tracked_table(table: Any, protocol: dict[str, Any] = TRACKING, **properties: str) -> dict[str, Any]:
    """Write a table with one file that has row ids; return its add."""
    table.create(protocol=protocol, configuration=properties)
    first: dict[str, Any] = table.add()
    table.write({"commitInfo": {"tags": PRESERVED}}, first, row_id_mark(3))
    return first


damage("tracking.needs-feature")(lambda table: table.create(configuration=TRACKED))


damage("tracking.columns-named")(
    lambda table: table.create(protocol=TRACKING, configuration=dict([*TRACKED.items()][:2]))
)


@damage("tracking.enabled-whole")
def _enabled_over_a_bare_file(table):
    table.create()
    bare = table.add()
    del bare["add"]["baseRowId"]
    table.write(bare)
    table.write({"protocol": TRACKING}, table.metadata(configuration=TRACKED))


@damage("tracking.removes-keep-ids")
def _remove_without_row_ids(table):
    first = write_tracked_table(table)
    table.write(table.remove(first, baseRowId=None))


@damage("tracking.fresh-commit-version")
def _new_file_of_an_old_version(table):
    write_tracked_table(table)
    table.write(table.add("b.parquet", baseRowId=4, defaultRowCommitVersion=1), row_id_mark(9))


@damage("tracking.suspended")
def _row_ids_while_suspended(table):
    table.create(protocol=TRACKING, configuration=SUSPENDED)
    table.write(table.add())


damage("tracking.enabled-or-suspended")(
    lambda table: table.create(protocol=TRACKING, configuration=TRACKED | SUSPENDED)
)


@damage("tracking.preserved-told")
def _nothing_said_of_row_ids(table):
    table.create(protocol=TRACKING, configuration=TRACKED)
    table.write({"commitInfo": {}}, table.add(), row_id_mark(3))


# Iceberg


def write_compatible_table(
    table: Any, version: str = "V2", protocol: Any = V2, fields: Any = FIELDS, **changes: str
) -> None:
    """Write version 0 of a table that is compatible with Iceberg, partitioned by `part`."""
    table.create(protocol=protocol, configuration=ON[version] | changes, fields=fields)


def add_parquet_file(table: Any, **changes: Any) -> dict[str, Any]:
    """Return the add of a file that holds its partition column."""
    action: dict[str, Any] = table.file(
        "a.parquet",
        with_field_ids(id=[1, 2], part=["x", "x"]),
        **{"partitionValues": {"part": "x"}} | changes,
    )
    return action


damage("iceberg.column-mapping")(
    lambda table: table.create(
        protocol=V2,
        configuration={"delta.enableIcebergCompatV2": "true"},
        fields=[LONG],
        partitionColumns=[],
    )
)


@damage("iceberg.no-deletion-vectors")
def _vectors_beside_v1(table):
    protocol = PROTOCOL | {
        "readerFeatures": ["deletionVectors", "columnMapping"],
        "writerFeatures": ["deletionVectors", "columnMapping", "icebergCompatV1"],
    }
    write_compatible_table(table, "V1", protocol)


@damage("iceberg.num-records")
def _iceberg_without_count(table):
    write_compatible_table(table)
    table.write(add_parquet_file(table, stats=None))


@damage("iceberg.partition-columns-in-files")
def _partition_column_in_the_log_alone(table):
    write_compatible_table(table, "V1", V1)
    table.write(table.file("a.parquet", with_field_ids(id=[1]), partitionValues={"part": "x"}))


@damage("iceberg.types")
def _array_with_v1(table):
    write_compatible_table(table, "V1", V1, [*FIELDS, mapped_field("more", 3, "more", ARRAY)])


@damage("iceberg.partition-names-stay")
def _partitioned_by_another(table):
    write_compatible_table(table)
    other = [mapped_field("id", 3, "n"), mapped_field("else", 4, "e", "string")]
    table.write(table.metadata(configuration=ON["V2"], fields=other, partitionColumns=["else"]))


@damage("iceberg.type-changes")
def _widened_as_iceberg_does_not(table):
    double = mapped_field("id", 1, "id", "double")
    double["metadata"]["delta.typeChanges"] = [{"fromType": "integer", "toType": "double"}]
    write_compatible_table(table, "V2", WIDER, [double, FIELDS[1]])


@damage("iceberg.one-version")
def _both_versions(table):
    protocol = V2 | {"writerFeatures": ["columnMapping", "icebergCompatV1", "icebergCompatV2"]}
    write_compatible_table(table, "V2", protocol, **ON["V1"])


@damage("iceberg.nested-ids")
def _elements_without_ids(table):
    write_compatible_table(table, fields=[*FIELDS, mapped_field("more", 3, "more", ARRAY)])


def write_list_elements(table: Any, number: int) -> None:
    """Write a file with an array whose elements have a field id; the schema gives them the id 4."""
    nested = mapped_field("more", 3, "more", ARRAY)
    nested["metadata"]["delta.columnMapping.nested.ids"] = {"more.element": 4}
    write_compatible_table(table, fields=[*FIELDS, nested], **{"delta.columnMapping.maxColumnId": "4"})
    element = pa.field("element", pa.int64(), metadata={b"PARQUET:field_id": str(number).encode()})
    inside = with_field_ids(id=[1], part=["x"]).append_column(
        pa.field("more", pa.list_(element), metadata={b"PARQUET:field_id": b"3"}),
        pa.array([[7]], pa.list_(element)),
    )
    table.write(table.file("a.parquet", inside, partitionValues={"part": "x"}))


@damage("iceberg.nested-ids-in-files")
def _elements_with_other_ids(table):
    write_list_elements(table, 5)


@damage("iceberg.timestamps-as-int64")
def _timestamps_as_int96(table):
    fields = [mapped_field("at", 1, "at", "timestamp"), FIELDS[1]]
    write_compatible_table(table, fields=fields)
    inside = with_field_ids(at=pa.array([0], pa.timestamp("us", "UTC")), part=["x"])
    action = table.file("a.parquet", inside, partitionValues={"part": "x"})
    path = table.folder / "a.parquet"
    pq.write_table(inside, path, use_deprecated_int96_timestamps=True)
    action["add"]["size"] = path.stat().st_size
    table.write(action)


# Honest tables


def honest_iceberg(table: Any) -> None:
    """A table that is compatible with Iceberg, with nested ids."""
    nested = mapped_field("more", 3, "more", ARRAY)
    nested["metadata"]["delta.columnMapping.nested.ids"] = {"more.element": 4}
    write_compatible_table(table, fields=[*FIELDS, nested])
    table.write(add_parquet_file(table))
    renamed = [FIELDS[0], FIELDS[1] | {"name": "piece"}, nested]
    table.write(table.metadata(configuration=ON["V2"], fields=renamed, partitionColumns=["piece"]))


def honest_elements(table: Any) -> None:
    """Elements of an array with the id that the schema gives them."""
    write_list_elements(table, 4)


def honest_tracking(table: Any) -> None:
    """Row tracking that is supported, suspended for a while, and enabled in the end."""
    first = write_tracked_table(table)
    table.write(table.metadata(configuration=SUSPENDED))
    bare = table.add("b.parquet")
    del bare["add"]["baseRowId"], bare["add"]["defaultRowCommitVersion"]
    table.write(bare)
    table.write(table.remove(bare), table.remove(first, dataChange=True), table.metadata(configuration=FEED))
    table.write(table.metadata(configuration=TRACKED))
    again = table.add("c.parquet", baseRowId=4, defaultRowCommitVersion=6)
    table.write({"commitInfo": {"tags": PRESERVED}}, again, row_id_mark(7))
