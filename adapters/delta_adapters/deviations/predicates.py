"""Kinds of values, of expressions and of operations that engines trip on: what the triggers ask."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator
from typing import Any, Protocol

from delta_models.expressions import Between, Column, Compare, Expression, In, Literal
from delta_models.operations import (
    STORAGE_FAULTS,
    AddConstraint,
    Append,
    Delete,
    EnableFeature,
    Interleave,
    LoseReplyAt,
    Merge,
    Operation,
    Optimize,
    Overwrite,
    Properties,
    Update,
    Vacuum,
)
from delta_models.schema import (
    DATE,
    DOUBLE,
    STRING,
    TIMESTAMP,
    TIMESTAMP_NTZ,
    DataType,
    DecimalType,
    Struct,
    width_of,
)
from delta_models.values import Value

DIGITS_OF_A_DOUBLE = 15
LONGEST_NAME = 200  # bytes of a folder's name: file systems take 255, and the column's name needs some
NAME_OF_NULL = "__HIVE_DEFAULT_PARTITION__"
JOINED_WRONGLY = 0x20000  # from here on there are characters whose escaped halves are joined wrongly
NANOSECONDS = 2**63 // 1000  # microseconds since 1970 from here on are too many nanoseconds for 64 bits
DAY = 86_400_000_000  # microseconds
YEARS = range(-719_162, 2_932_897)  # the days of the years 1 to 9999
GAP = range(-141_437, -141_427)  # 1582-10-05 to 1582-10-14, days since 1970


class TableLike(Protocol):
    """What a trigger may look at of the model's table."""

    @property
    def exists(self) -> bool:
        """Whether there is a table."""

    @property
    def schema(self) -> Struct:
        """Its columns."""

    @property
    def partition_by(self) -> tuple[str, ...]:
        """Its partition columns."""

    @property
    def properties(self) -> Properties:
        """Its properties."""


def foreign(text: str) -> bool:
    """A text that one engine writes into paths as it is, and another escapes."""
    return "*" in text or not text.isascii()


def text(data_type: DataType, partition: bool) -> bool:
    """A text as a partition value."""
    return partition and data_type == STRING


def long_double(data_type: DataType, value: Value, partition: bool) -> bool:
    """A double whose text is too long for the name of a folder."""
    if not partition or data_type != DOUBLE or value == 0 or not math.isfinite(value):
        return False
    return abs(math.log10(abs(value))) > LONGEST_NAME


def negative_fraction(data_type: DataType, value: Value, partition: bool) -> bool:
    """A decimal below 0 with places behind the point, as a partition value."""
    return partition and isinstance(data_type, DecimalType) and data_type.scale > 0 and value.unscaled < 0


def far_year(data_type: DataType, value: Value, _: bool) -> bool:
    """A day or moment before the year 1 or after 9999."""
    if data_type in {TIMESTAMP, TIMESTAMP_NTZ}:
        return value // DAY not in YEARS
    return data_type == DATE and value not in YEARS


def era(data_type: DataType, value: Value, partition: bool) -> bool:
    """A moment before the year 1 as a partition value."""
    return partition and data_type in {TIMESTAMP, TIMESTAMP_NTZ} and value // DAY < YEARS[0]


def long_decimal(data_type: DataType, value: Value, _: bool) -> bool:
    """A decimal with more digits than a double holds."""
    return isinstance(data_type, DecimalType) and abs(value.unscaled) >= 10**DIGITS_OF_A_DOUBLE


def compares_partition_columns(expression: Expression, partition_by: tuple[str, ...]) -> bool:
    """Partition columns of one table against each other."""
    columns = [each.path for each in compared(expression) if isinstance(each, Column)]
    one_side = len({path[:-1] for path in columns}) == 1  # a merge's source and target are two
    return len(columns) > 1 and one_side and {path[-1] for path in columns} <= set(partition_by)


def deletes_files_beside_vectors(table: TableLike, operation: Operation) -> bool:
    """A vacuum of a table with deletion vectors."""
    hidden = dict(table.properties).get("delta.enableDeletionVectors") == "true"
    return hidden and isinstance(operation, Vacuum) and not operation.dry_run


def asks_for_vectors(_: TableLike, operation: Operation) -> bool:
    """Deletion vectors are switched on."""
    return dict(getattr(operation, "properties", ())).get("delta.enableDeletionVectors") == "true"


def writes_more_than_files(table: TableLike, operation: Operation) -> bool:
    """A commit that has more than files of rows: change data, or another schema."""
    grows = isinstance(operation, Merge) and operation.schema_evolution
    return grows or changes_recorded_rows(table, operation)


def changes_recorded_rows(table: TableLike, operation: Operation) -> bool:
    """Rows go or change where changes are recorded."""
    recorded = dict(table.properties).get("delta.enableChangeDataFeed") == "true"
    some = (operation, *together(operation))
    return recorded and any(isinstance(each, Delete | Update | Merge | Overwrite) for each in some)


def deletes_beside_filled_up_texts(table: TableLike, operation: Operation) -> bool:
    """A delete where texts are filled up to a length."""
    return isinstance(operation, Delete) and any(width_of(field) is not None for field in table.schema)


def tracks_rows_from_now_on(_: TableLike, operation: Operation) -> bool:
    """Row tracking is switched on."""
    asked = isinstance(operation, EnableFeature) and operation.feature == "rowTracking"
    return asked or dict(getattr(operation, "properties", ())).get("delta.enableRowTracking") == "true"


def cuts_the_plan_of_a_stream(_: TableLike, operation: Operation) -> bool:
    """A fault at what a stream notes of its next batch, or at Hadoop's checksum of that: in a stream's first run the
    fifth of such files beside others."""
    if not isinstance(operation, STORAGE_FAULTS):
        return False
    return operation.role.startswith("stream-plan") or (operation.role, operation.ordinal) == ("side", 4)


def cuts_a_creation(table: TableLike, operation: Operation) -> bool:
    """A fault where there is no table yet."""
    return isinstance(operation, STORAGE_FAULTS) and not table.exists


def fraction_in_a_constraint(_: TableLike, operation: Operation) -> bool:
    """A constraint with a decimal that has a point."""
    check = operation.check if isinstance(operation, AddConstraint) else None
    types = (part.type for part in parts(check) if isinstance(part, Literal))
    return any(isinstance(data_type, DecimalType) and data_type.scale > 0 for data_type in types)


def commit_found_taken(_: TableLike, operation: Operation) -> bool:
    """A commit is made, and its name said to be taken."""
    if not isinstance(operation, LoseReplyAt):
        return False
    return (operation.role, operation.errno) == ("commit", "EEXIST")


def optimizes_at_once(_: TableLike, operation: Operation) -> bool:
    """Two optimizes at once."""
    return sum(isinstance(each, Optimize) for each in together(operation)) > 1


def overwrite_and_optimize_at_once(_: TableLike, operation: Operation) -> bool:
    """An overwrite beside an optimize."""
    return {Overwrite, Optimize} <= {type(each) for each in together(operation)}


def overwrite_and_conditional_write_at_once(_: TableLike, operation: Operation) -> bool:
    """An overwrite of the whole beside what looks at conditions."""
    overwrites = [each for each in together(operation) if isinstance(each, Overwrite)]
    whole = any(overwrite.where is None for overwrite in overwrites)
    by_condition = any(overwrite.where is not None for overwrite in overwrites)
    return whole and (by_condition or any(isinstance(each, Merge) for each in together(operation)))


def append_and_rewrite_at_once(_: TableLike, operation: Operation) -> bool:
    """An append beside what takes rows away."""
    kinds = {type(each) for each in together(operation)}
    return Append in kinds and bool(kinds & {Delete, Merge, Overwrite, Update})


def struct_in_a_struct_in_pieces(_: TableLike, operation: Operation) -> bool:
    """Rows with a struct in a struct, written as several files."""
    rows = operation.rows if isinstance(operation, Append | Overwrite) and operation.files > 1 else None
    return rows is not None and any(
        isinstance(field.type, Struct) and "struct<" in str(field.type).removeprefix("struct<")
        for field in rows.schema
    )


def together(operation: Operation) -> tuple[Operation, ...]:
    """The operations of a race."""
    return operation.operations if isinstance(operation, Interleave) else ()


def may_become_null(expression: Expression, _: tuple[str, ...]) -> bool:
    """Comparisons with null, and of a column with itself, for which an optimizer has a null of its own."""
    operands = compared(expression)
    columns = [operand for operand in operands if isinstance(operand, Column)]
    alike = len(columns) > len(set(columns))
    return alike or any(isinstance(operand, Literal) and operand.value is None for operand in operands)


def compared(expression: Expression) -> tuple[Expression, ...]:
    """The operands of a comparison; of anything else none."""
    match expression:
        case Compare(left=left, right=right):
            return (left, right)
        case In(operand=operand, options=options):
            return (operand, *options)
        case Between(operand=operand, low=low, high=high):
            return (operand, low, high)
    return ()


def parts(expression: Any) -> Iterator[Expression]:
    """An expression, and all that it is made of."""
    if isinstance(expression, tuple):
        for each in expression:
            yield from parts(each)
    elif isinstance(expression, Expression):
        yield expression
        for field in dataclasses.fields(expression):
            yield from parts(getattr(expression, field.name))
