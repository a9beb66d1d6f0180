"""What sets off known deviations: a kind of value in a column, of expression, or of operation.

A trigger does two things. Half of the drawn histories stay clear of all of them (`touched`, `guarded`), so that none
hides what is behind it; and an entry with a trigger covers a finding only in a history in which the trigger occurred,
so that another bug with the same fingerprint is news. It may be wider than its deviation, never narrower.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterator, Mapping
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
    BINARY,
    DATE,
    DOUBLE,
    FLOAT,
    STRING,
    TIMESTAMP,
    TIMESTAMP_NTZ,
    DataType,
    DecimalType,
    Struct,
    width_of,
)
from delta_models.values import Rows, Value

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


@dataclasses.dataclass(frozen=True, slots=True)
class Trigger:
    """Whether something is what an engine is known to trip on: `value`, a value of a type, in a partition column or
    not; `expression`, an expression over a table with these partition columns; `operation`, an operation on a table;
    `name`, the name of a partition column. One that is drawn `everywhere` is kept out of no history: it trips nobody
    on a table of its own.
    """

    because: str
    value: Callable[[DataType, Value, bool], bool] | None = None
    expression: Callable[[Expression, tuple[str, ...]], bool] | None = None
    name: Callable[[str], bool] | None = None
    operation: Callable[[TableLike, Operation], bool] | None = None
    everywhere: bool = False

    def set_off(self, table: TableLike, operation: Operation) -> bool:
        """Whether an operation on a table brings it about."""
        partition_by = _partition_by(table, operation)
        if self.name is not None and any(map(self.name, partition_by)):
            return True
        if self.operation is not None:
            return self.operation(table, operation)
        if self.expression is not None:
            return any(self.expression(each, partition_by) for each in _predicates(operation))
        assert self.value is not None  # noqa: S101 - one of them is there
        return any(each[1] is not None and self.value(*each) for each in _values(table, operation))


def _foreign(text: str) -> bool:
    return "*" in text or not text.isascii()


def _text(data_type: DataType, partition: bool) -> bool:
    return partition and data_type == STRING


def _long_double(data_type: DataType, value: Value, partition: bool) -> bool:
    if not partition or data_type != DOUBLE or value == 0 or not math.isfinite(value):
        return False
    return abs(math.log10(abs(value))) > LONGEST_NAME


def _negative_fraction(data_type: DataType, value: Value, partition: bool) -> bool:
    return partition and isinstance(data_type, DecimalType) and data_type.scale > 0 and value.unscaled < 0


def _far_year(data_type: DataType, value: Value, _: bool) -> bool:
    if data_type in {TIMESTAMP, TIMESTAMP_NTZ}:
        return value // DAY not in YEARS
    return data_type == DATE and value not in YEARS


def _era(data_type: DataType, value: Value, partition: bool) -> bool:
    return partition and data_type in {TIMESTAMP, TIMESTAMP_NTZ} and value // DAY < YEARS[0]


def _long_decimal(data_type: DataType, value: Value, _: bool) -> bool:
    return isinstance(data_type, DecimalType) and abs(value.unscaled) >= 10**DIGITS_OF_A_DOUBLE


def _compares_partition_columns(expression: Expression, partition_by: tuple[str, ...]) -> bool:
    columns = [each.path for each in _compared(expression) if isinstance(each, Column)]
    one_side = len({path[:-1] for path in columns}) == 1  # a merge's source and target are two
    return len(columns) > 1 and one_side and {path[-1] for path in columns} <= set(partition_by)


def _deletes_files_beside_vectors(table: TableLike, operation: Operation) -> bool:
    hidden = dict(table.properties).get("delta.enableDeletionVectors") == "true"
    return hidden and isinstance(operation, Vacuum) and not operation.dry_run


def _asks_for_vectors(_: TableLike, operation: Operation) -> bool:
    return dict(getattr(operation, "properties", ())).get("delta.enableDeletionVectors") == "true"


def _writes_more_than_files(table: TableLike, operation: Operation) -> bool:
    grows = isinstance(operation, Merge) and operation.schema_evolution
    return grows or _changes_recorded_rows(table, operation)


def _changes_recorded_rows(table: TableLike, operation: Operation) -> bool:
    recorded = dict(table.properties).get("delta.enableChangeDataFeed") == "true"
    some = (operation, *_together(operation))
    return recorded and any(isinstance(each, Delete | Update | Merge | Overwrite) for each in some)


def _deletes_beside_filled_up_texts(table: TableLike, operation: Operation) -> bool:
    return isinstance(operation, Delete) and any(width_of(each) is not None for each in table.schema)


def _tracks_rows_from_now_on(_: TableLike, operation: Operation) -> bool:
    asked = isinstance(operation, EnableFeature) and operation.feature == "rowTracking"
    return asked or dict(getattr(operation, "properties", ())).get("delta.enableRowTracking") == "true"


def _cuts_the_plan_of_a_stream(_: TableLike, operation: Operation) -> bool:
    return isinstance(operation, STORAGE_FAULTS) and operation.role.startswith("stream-plan")


def _cuts_a_creation(table: TableLike, operation: Operation) -> bool:
    return isinstance(operation, STORAGE_FAULTS) and not table.exists


def _fraction_in_a_constraint(_: TableLike, operation: Operation) -> bool:
    check = operation.check if isinstance(operation, AddConstraint) else None
    types = (each.type for each in _parts(check) if isinstance(each, Literal))
    return any(isinstance(each, DecimalType) and each.scale > 0 for each in types)


def _commit_found_taken(_: TableLike, operation: Operation) -> bool:
    if not isinstance(operation, LoseReplyAt):
        return False
    return (operation.role, operation.errno) == ("commit", "EEXIST")


def _optimizes_at_once(_: TableLike, operation: Operation) -> bool:
    return sum(isinstance(each, Optimize) for each in _together(operation)) > 1


def _overwrite_and_optimize_at_once(_: TableLike, operation: Operation) -> bool:
    return {Overwrite, Optimize} <= {type(each) for each in _together(operation)}


def _overwrite_and_conditional_write_at_once(_: TableLike, operation: Operation) -> bool:
    overwrites = [each for each in _together(operation) if isinstance(each, Overwrite)]
    whole = any(each.where is None for each in overwrites)
    by_condition = any(each.where is not None for each in overwrites)
    return whole and (by_condition or any(isinstance(each, Merge) for each in _together(operation)))


def _append_and_rewrite_at_once(_: TableLike, operation: Operation) -> bool:
    kinds = {type(each) for each in _together(operation)}
    return Append in kinds and bool(kinds & {Delete, Merge, Overwrite, Update})


def _struct_in_a_struct_in_pieces(_: TableLike, operation: Operation) -> bool:
    rows = operation.rows if isinstance(operation, Append | Overwrite) and operation.files > 1 else None
    return rows is not None and any(
        isinstance(each.type, Struct) and "struct<" in str(each.type).removeprefix("struct<")
        for each in rows.schema
    )


def _together(operation: Operation) -> tuple[Operation, ...]:
    return operation.operations if isinstance(operation, Interleave) else ()


def _may_become_null(expression: Expression, _: tuple[str, ...]) -> bool:
    """Comparisons with null, and of a column with itself, for which an optimizer has a null of its own."""
    operands = _compared(expression)
    columns = [each for each in operands if isinstance(each, Column)]
    alike = len(columns) > len(set(columns))
    return alike or any(isinstance(each, Literal) and each.value is None for each in operands)


TRIGGERS: Mapping[str, Trigger] = {
    "nan": Trigger(
        "statistics without NaN make a file look constant",
        lambda of, value, _: of in {DOUBLE, FLOAT} and math.isnan(value),
    ),
    "empty-partition-text": Trigger(
        "filters see an empty partition text as empty, not as null",
        lambda of, value, partition: _text(of, partition) and value == "",
    ),
    "negative-decimal-partition": Trigger("the fraction gets a sign of its own", _negative_fraction),
    "long-double-partition": Trigger(
        "the name of the folder gets longer than file systems take", _long_double
    ),
    "long-decimal": Trigger("statistics of decimals pass through a double", _long_decimal),
    "foreign-partition-text": Trigger(
        "one engine writes the characters as they are into paths, another escapes them",
        lambda of, value, partition: _text(of, partition) and _foreign(value),
        name=_foreign,
    ),
    "astral-partition-text": Trigger(
        "escaped halves of a character are joined wrongly",
        lambda of, value, partition: _text(of, partition) and any(ord(c) >= JOINED_WRONGLY for c in value),
    ),
    "name-of-null": Trigger(
        "Hive's name of the null is a text like others",
        lambda of, value, partition: _text(of, partition) and value == NAME_OF_NULL,
    ),
    "nul-in-partition-text": Trigger(
        "no folder has a NUL in its name",
        lambda of, value, partition: _text(of, partition) and "\0" in value,
    ),
    "far-timestamp": Trigger(
        "in Spark's old form a reader takes it for nanoseconds, into which it does not fit",
        lambda of, value, _: of == TIMESTAMP and not -NANOSECONDS < value < NANOSECONDS,
        everywhere=True,
    ),
    "far-year": Trigger(
        "texts of such years have a sign, or more digits than four",
        _far_year,
        everywhere=True,  # they are drawn in one table profile only, which would be about nothing else
    ),
    "year-before-1-partition": Trigger("a year before 1 is written as one after it", _era),
    "gap-date": Trigger(
        "days that the calendar reform left out are pushed down as others",
        lambda of, value, _: of == DATE and value in GAP,
    ),
    "binary-partition": Trigger(
        "escaped bytes come back as they were escaped", lambda of, _, partition: partition and of == BINARY
    ),
    "partition-columns-compared": Trigger(
        "a filter on partition columns alone is left to the skipping of files",
        expression=_compares_partition_columns,
    ),
    "comparison-with-null": Trigger(
        "a comparison with null is simplified to a null without columns", expression=_may_become_null
    ),
    "fraction-in-a-constraint": Trigger(
        "a decimal in a constraint loses its point", operation=_fraction_in_a_constraint
    ),
    "struct-in-a-struct-in-pieces": Trigger(
        "a slice of such a column is taken for longer than it is", operation=_struct_in_a_struct_in_pieces
    ),
    "vacuum-beside-vectors": Trigger(
        "the files of deletion vectors are taken for left-overs", operation=_deletes_files_beside_vectors
    ),
    "tilde-partition-text": Trigger(
        "one place escapes a tilde in a path, another does not",
        lambda of, value, partition: _text(of, partition) and "~" in value,
        everywhere=True,
    ),
    "vectors-asked-for": Trigger(
        "with deletion vectors the protocol names variants as well",
        operation=_asks_for_vectors,
        everywhere=True,
    ),
    "more-than-files-written": Trigger(
        "change data and a grown schema are counted as files",
        operation=_writes_more_than_files,
        everywhere=True,
    ),
    "filled-up-texts": Trigger(
        "over a table with such a column lies what fills up its texts",
        operation=_deletes_beside_filled_up_texts,
        everywhere=True,
    ),
    "recorded-rows-changed": Trigger(
        "rows and their changes are written as one, apart by a column",
        operation=_changes_recorded_rows,
        everywhere=True,
    ),
    "tracked-from-now-on": Trigger(
        "files that were added before have had no row ids",
        operation=_tracks_rows_from_now_on,
        everywhere=True,
    ),
    "bytes-as-text": Trigger(
        "bytes that are no UTF-8 are cast to a text",
        lambda of, value, _: of == STRING and any("\ud800" <= c <= "\udfff" for c in value),
        everywhere=True,
    ),
    "stream-plan-cut": Trigger(
        "of a stream's plan only the temporary file is there",
        operation=_cuts_the_plan_of_a_stream,
        everywhere=True,
    ),
    "creation-cut": Trigger(
        "what a creation left before its commit is no table, and no empty folder",
        operation=_cuts_a_creation,
        everywhere=True,
    ),
    "commit-found-taken": Trigger(
        "the storage has made the commit, and says that its name is taken",
        operation=_commit_found_taken,
        everywhere=True,
    ),
    "optimizes-at-once": Trigger(
        "the second is not told of the first", operation=_optimizes_at_once, everywhere=True
    ),
    "overwrite-and-optimize-at-once": Trigger(
        "the overwrite does not find where the rows have gone",
        operation=_overwrite_and_optimize_at_once,
        everywhere=True,
    ),
    "append-and-rewrite-at-once": Trigger(
        "an append is taken to have read what was removed",
        operation=_append_and_rewrite_at_once,
        everywhere=True,
    ),
    "overwrite-and-conditional-write-at-once": Trigger(
        "the overwrite is not told of files that were added meanwhile",
        operation=_overwrite_and_conditional_write_at_once,
        everywhere=True,
    ),
}


def touched(data_type: DataType, value: Value, *, partition: bool) -> str | None:
    """The name of the first trigger that a value sets off, None if it is free of all."""
    if value is None:
        return None
    values = ((name, each.value) for name, each in TRIGGERS.items() if not each.everywhere)
    return next((name for name, test in values if test and test(data_type, value, partition)), None)


def touched_by_name(name: str) -> str | None:
    """The name of the first trigger that the name of a partition column sets off, None if it is free of all."""
    tests = ((key, each.name) for key, each in TRIGGERS.items() if each.name is not None)
    return next((key for key, test in tests if test(name)), None)


def guarded(table: TableLike, operation: Operation) -> str | None:
    """The first trigger that an operation, its values apart, sets off on a table, None if it is free of all."""
    tests = ((name, each) for name, each in TRIGGERS.items() if each.value is None and not each.everywhere)
    return next((name for name, trigger in tests if trigger.set_off(table, operation)), None)


def set_off(table: TableLike, operation: Operation) -> frozenset[str]:
    """The names of all triggers that an operation sets off, by its values or its expressions."""
    return frozenset(name for name, each in TRIGGERS.items() if each.set_off(table, operation))


def _compared(expression: Expression) -> tuple[Expression, ...]:
    """The operands of a comparison; of anything else none."""
    match expression:
        case Compare(left=left, right=right):
            return (left, right)
        case In(operand=operand, options=options):
            return (operand, *options)
        case Between(operand=operand, low=low, high=high):
            return (operand, low, high)
    return ()


def _predicates(operation: Operation) -> Iterator[Expression]:
    """The parts of an operation's predicates."""
    clauses = operation.clauses if isinstance(operation, Merge) else ()
    named = (getattr(operation, name, None) for name in ("where", "on", "check"))
    for each in (*named, *(clause.condition for clause in clauses)):
        yield from _parts(each)


def _assignments(operation: Operation) -> Iterator[tuple[str, Expression]]:
    """The columns to which an operation assigns, each with the parts of what is assigned."""
    changes = [operation.assignments] if isinstance(operation, Update) else []
    changes += [each.assignments for each in operation.clauses] if isinstance(operation, Merge) else []
    for name, value in (pair for pairs in changes for pair in pairs):
        for part in _parts(value):
            yield name, part


def _parts(expression: Any) -> Iterator[Expression]:
    if isinstance(expression, tuple):
        for each in expression:
            yield from _parts(each)
    elif isinstance(expression, Expression):
        yield expression
        for field in dataclasses.fields(expression):
            yield from _parts(getattr(expression, field.name))


def _values(table: TableLike, operation: Operation) -> Iterator[tuple[DataType, Value, bool]]:
    """Every value in an operation, with its type and whether it is one of a partition column."""
    partition_by = set(_partition_by(table, operation))
    assigned = set()
    for name, part in _assignments(operation):
        if isinstance(part, Literal):
            yield part.type, part.value, name in partition_by
        elif isinstance(part, Column) and name in partition_by:
            assigned.add(part.path[-1])
    for part in _predicates(operation):
        operands = _compared(part)
        there = any(isinstance(each, Column) and each.path[-1] in partition_by for each in operands)
        for each in operands:
            if isinstance(each, Literal):
                yield each.type, each.value, there
    rows = operation.source if isinstance(operation, Merge) else getattr(operation, "rows", None)
    if isinstance(rows, Rows):
        for at, field in enumerate(rows.schema):
            for row in rows.rows:
                yield field.type, row[at], field.name in partition_by | assigned


def _partition_by(table: TableLike, operation: Operation) -> tuple[str, ...]:
    return table.partition_by if table.exists else getattr(operation, "partition_by", ())
