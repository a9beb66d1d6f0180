"""Are the partition values of each new file what its column's type writes, and what the file itself says?"""

from __future__ import annotations

from datetime import tzinfo

from conformance.checks.ledger import Check, Ledger
from conformance.checks.stats import new_files
from conformance.checks.text import sql_text
from conformance.observation import Observation
from delta_models.log import Add, LogError, Snapshot
from delta_models.log.partitions import parse_partition_value
from delta_models.log.reader import log_name
from delta_models.schema import DataType
from delta_models.values import same_key

JUDGES = ("partition.value-parses", "partition.agrees-with-file")


def look(seen: Observation, ledger: Ledger) -> None:
    """Judge the files that the step added and that are live after it."""
    if not seen.wrote or seen.after is None or seen.log_error is not None:
        return
    if not seen.after.partition_by:
        return
    for add in new_files(seen):
        for column in seen.after.partition_by:
            data_type = seen.after.schema[column].type
            text = add.partition_values.get(log_name(seen.after, column))
            wrong = _unparsed(data_type, text, seen.reader.zone)
            if ledger.judge("partition.value-parses", wrong and f"{column}: {wrong}", add.path, (column,)):
                _inside(seen, seen.after, add, column, ledger)


def _unparsed(data_type: DataType, text: str | None, zone: tzinfo) -> str | None:
    try:
        parse_partition_value(data_type, text, zone)
    except ValueError as error:
        return str(error)
    return None


def _inside(seen: Observation, after: Snapshot, add: Add, column: str, ledger: Ledger) -> None:
    """A file need not hold partition columns, nor need a reader look; but one that does must agree."""
    try:
        inside = seen.reader.file_columns(after, add)
    except LogError:
        return
    if log_name(after, column) not in inside.names:
        return
    position = after.schema.index(column)
    data_type = after.schema.fields[position].type
    value = parse_partition_value(
        data_type, add.partition_values.get(log_name(after, column)), seen.reader.zone
    )
    wanted = same_key(data_type, value)
    other = [
        each for each in inside.columns[position] if same_key(data_type, each) != wanted and (each or value)
    ]
    wrong = (
        f"{column}: the log says {sql_text(data_type, value)}, the file {sql_text(data_type, other[0])}"
        if other
        else None
    )
    ledger.judge("partition.agrees-with-file", wrong, add.path, (column,))


CHECK = Check("partitions", JUDGES, look)
