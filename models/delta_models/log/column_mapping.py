"""Find the columns of a state in data files, partition values and statistics, by its column mapping."""

from __future__ import annotations

from datetime import tzinfo

from delta_models.log.actions import Add
from delta_models.log.errors import BadPartitionValue, CorruptLog
from delta_models.log.parquet.data_files import physical_name
from delta_models.log.partitions import parse_partition_value
from delta_models.log.state import Snapshot
from delta_models.values import Value


def mapping_mode(snapshot: Snapshot) -> str:
    """Return how columns are found in files: none, name or id.

    The mode is off if the protocol does not have the feature. With reader version 3, the feature may be in the writers'
    list only: old writers left such protocols (a table of DAT has one), and their files are mapped.
    """
    protocol = snapshot.protocol
    named = (*(protocol.reader_features or ()), *(protocol.writer_features or ()))
    supported = protocol.min_reader == 2 or protocol.min_writer in {5, 6} or "columnMapping" in named
    return snapshot.properties.get("delta.columnMapping.mode", "none") if supported else "none"


def log_name(snapshot: Snapshot, column: str) -> str:
    """Return the name that a column has in partition values and statistics."""
    if mapping_mode(snapshot) == "none":
        return column
    return physical_name(snapshot.schema[column])


def partition_constants(snapshot: Snapshot, add: Add, zone: tzinfo) -> dict[int, Value]:
    """Return by position the values of the partition columns in a file. Raises BadPartitionValue or CorruptLog."""
    schema = snapshot.schema
    constants: dict[int, Value] = {}
    for column in snapshot.partition_by:
        try:
            position = schema.index(column)
        except KeyError as error:
            raise CorruptLog(f"the partition column {column!r} is no column of the schema") from error
        text = add.partition_values.get(log_name(snapshot, column))
        try:
            constants[position] = parse_partition_value(schema.fields[position].type, text, zone)
        except ValueError as error:
            raise BadPartitionValue(f"{add.path}: partition column {column!r}: {error}") from error
    return constants
