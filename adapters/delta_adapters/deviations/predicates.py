"""Tests of the triggers: kinds of values, of expressions and of operations that reveal a bug of some engine."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator
from typing import Any, Protocol

from delta_models.expressions import Between, Column, Compare, Expression, In, Literal
from delta_models.operations import (
    STORAGE_FAULTS,
    AddColumn,
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
    """What a trigger may read of the model's table."""

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


def has_foreign_characters(text: str) -> bool:
    """Whether a text is one that one engine writes into paths as it is, and another escapes."""
    return "*" in text or not text.isascii()


def is_partition_text(data_type: DataType, partition: bool) -> bool:
    """Whether a value is a text and a partition value."""
    return partition and data_type == STRING


def long_double(data_type: DataType, value: Value, partition: bool) -> bool:
    """Whether a value is a double whose text is too long for the name of a folder."""
    if not partition or data_type != DOUBLE or value == 0 or not math.isfinite(value):
        return False
    return abs(math.log10(abs(value))) > LONGEST_NAME


def negative_fraction(data_type: DataType, value: Value, partition: bool) -> bool:
    """Whether a partition value is a decimal below 0 with places behind the point."""
    return partition and isinstance(data_type, DecimalType) and data_type.scale > 0 and value.unscaled < 0


def far_year(data_type: DataType, value: Value, _: bool) -> bool:
    """Whether a value is a day or moment before the year 1 or after 9999."""
    if data_type in {TIMESTAMP, TIMESTAMP_NTZ}:
        return value // DAY not in YEARS
    return data_type == DATE and value not in YEARS


def before_year_1(data_type: DataType, value: Value, partition: bool) -> bool:
    """Whether a partition value is a moment before the year 1."""
    return partition and data_type in {TIMESTAMP, TIMESTAMP_NTZ} and value // DAY < YEARS[0]


def long_decimal(data_type: DataType, value: Value, _: bool) -> bool:
    """Whether a value is a decimal with more digits than a double holds."""
    return isinstance(data_type, DecimalType) and abs(value.unscaled) >= 10**DIGITS_OF_A_DOUBLE


def compares_partition_columns(expression: Expression, partition_by: tuple[str, ...]) -> bool:
    """Whether an expression compares partition columns of one table with each other."""
    columns = [operand.path for operand in compared_operands(expression) if isinstance(operand, Column)]
    one_side = len({path[:-1] for path in columns}) == 1  # a merge's source and target are two
    return len(columns) > 1 and one_side and {path[-1] for path in columns} <= set(partition_by)


def adds_an_existing_column(table: TableLike, operation: Operation) -> bool:
    """Whether it adds a column with the name of one that the table has."""
    return (
        isinstance(operation, AddColumn)
        and not operation.parent
        and operation.field.name in table.schema.names
    )


def deletes_files_beside_vectors(table: TableLike, operation: Operation) -> bool:
    """Whether a vacuum deletes files of a table with deletion vectors."""
    has_vectors = dict(table.properties).get("delta.enableDeletionVectors") == "true"
    return has_vectors and isinstance(operation, Vacuum) and not operation.dry_run


def switches_vectors_on(_: TableLike, operation: Operation) -> bool:
    """Whether an operation switches deletion vectors on."""
    return dict(getattr(operation, "properties", ())).get("delta.enableDeletionVectors") == "true"


def writes_more_than_files(table: TableLike, operation: Operation) -> bool:
    """Whether an operation commits more than files of rows: change data, or another schema."""
    grows = isinstance(operation, Merge) and operation.schema_evolution
    return grows or changes_recorded_rows(table, operation)


def changes_recorded_rows(table: TableLike, operation: Operation) -> bool:
    """Whether rows are removed or changed in a table that records changes."""
    recorded = dict(table.properties).get("delta.enableChangeDataFeed") == "true"
    operations = (operation, *raced_operations(operation))
    return recorded and any(isinstance(one, Delete | Update | Merge | Overwrite) for one in operations)


def deletes_beside_padded_texts(table: TableLike, operation: Operation) -> bool:
    """Whether an operation is a delete from a table with texts that are padded to a length."""
    return isinstance(operation, Delete) and any(width_of(field) is not None for field in table.schema)


def switches_row_tracking_on(_: TableLike, operation: Operation) -> bool:
    """Whether an operation switches row tracking on."""
    by_feature = isinstance(operation, EnableFeature) and operation.feature == "rowTracking"
    return by_feature or dict(getattr(operation, "properties", ())).get("delta.enableRowTracking") == "true"


def cuts_the_plan_of_a_stream(_: TableLike, operation: Operation) -> bool:
    """Whether a fault strikes the plan that a stream writes for its next batch, or Hadoop's checksum of the plan.

    In a stream's first run that checksum is the fifth file of the role `side`.
    """
    if not isinstance(operation, STORAGE_FAULTS):
        return False
    return operation.role.startswith("stream-plan") or (operation.role, operation.ordinal) == ("side", 4)


def cuts_a_creation(table: TableLike, operation: Operation) -> bool:
    """Whether a fault strikes while there is no table yet."""
    return isinstance(operation, STORAGE_FAULTS) and not table.exists


def fraction_in_a_constraint(_: TableLike, operation: Operation) -> bool:
    """Whether an operation adds a constraint with a decimal that has a point."""
    check = operation.check if isinstance(operation, AddConstraint) else None
    types = (part.type for part in subexpressions(check) if isinstance(part, Literal))
    return any(isinstance(data_type, DecimalType) and data_type.scale > 0 for data_type in types)


def made_commit_reported_taken(_: TableLike, operation: Operation) -> bool:
    """Whether the storage makes a commit and then reports that its name is taken."""
    if not isinstance(operation, LoseReplyAt):
        return False
    return (operation.role, operation.errno) == ("commit", "EEXIST")


def optimizes_at_once(_: TableLike, operation: Operation) -> bool:
    """Whether two optimizes race."""
    return sum(isinstance(one, Optimize) for one in raced_operations(operation)) > 1


def overwrite_and_optimize_at_once(_: TableLike, operation: Operation) -> bool:
    """Whether an overwrite races an optimize."""
    return {Overwrite, Optimize} <= set(map(type, raced_operations(operation)))


def overwrite_and_conditional_write_at_once(_: TableLike, operation: Operation) -> bool:
    """Whether an overwrite of the whole table races an overwrite with a condition, or a merge."""
    operations = raced_operations(operation)
    overwrites = [one for one in operations if isinstance(one, Overwrite)]
    whole = any(overwrite.where is None for overwrite in overwrites)
    by_condition = any(overwrite.where is not None for overwrite in overwrites)
    return whole and (by_condition or any(isinstance(one, Merge) for one in operations))


def append_and_rewrite_at_once(_: TableLike, operation: Operation) -> bool:
    """Whether an append races an operation that removes rows."""
    kinds = set(map(type, raced_operations(operation)))
    return Append in kinds and bool(kinds & {Delete, Merge, Overwrite, Update})


def struct_in_a_struct_in_pieces(_: TableLike, operation: Operation) -> bool:
    """Whether an operation writes rows with a struct in a struct as several files."""
    rows = operation.rows if isinstance(operation, Append | Overwrite) and operation.files > 1 else None
    return rows is not None and any(
        isinstance(field.type, Struct) and "struct<" in str(field.type).removeprefix("struct<")
        for field in rows.schema
    )


def raced_operations(operation: Operation) -> tuple[Operation, ...]:
    """Return the operations of a race; none if the operation is no race."""
    return operation.operations if isinstance(operation, Interleave) else ()


def may_become_null(expression: Expression, _: tuple[str, ...]) -> bool:
    """Whether an expression compares with null, or a column with itself: an optimizer may replace it by a null."""
    operands = compared_operands(expression)
    columns = [operand for operand in operands if isinstance(operand, Column)]
    repeated = len(columns) > len(set(columns))
    return repeated or any(isinstance(operand, Literal) and operand.value is None for operand in operands)


def lists_equal_items(expression: Expression, _: tuple[str, ...]) -> bool:
    """Whether an expression looks for a value in a list that names the same value several times, and no other."""
    options = expression.options if isinstance(expression, In) else ()
    return len(options) > 1 and len(set(options)) == 1


def compared_operands(expression: Expression) -> tuple[Expression, ...]:
    """Return the operands of a comparison; none if the expression is no comparison."""
    match expression:
        case Compare(left=left, right=right):
            return (left, right)
        case In(operand=operand, options=options):
            return (operand, *options)
        case Between(operand=operand, low=low, high=high):
            return (operand, low, high)
    return ()


def subexpressions(expression: Any) -> Iterator[Expression]:
    """Yield an expression and everything that it is made of. Accepts tuples and None too."""
    if isinstance(expression, tuple):
        for part in expression:
            yield from subexpressions(part)
    elif isinstance(expression, Expression):
        yield expression
        for field in dataclasses.fields(expression):
            yield from subexpressions(getattr(expression, field.name))
