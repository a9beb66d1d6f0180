"""What sets off known deviations: a kind of value in a column, of expression, or of operation.

A trigger does two things. Half of the drawn histories avoid all triggers, so that no known deviation hides what lies
behind it. And an entry with a trigger covers a finding only if the trigger occurred in the finding's history, so that
another bug with the same fingerprint is news. A trigger may be wider than its deviation, never narrower.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterator, Mapping, Sequence

from delta_adapters.deviations import predicates
from delta_models.expressions import Column, Expression, Literal
from delta_models.operations import (
    Merge,
    Operation,
    Update,
)
from delta_models.schema import (
    BINARY,
    DATE,
    DOUBLE,
    FLOAT,
    STRING,
    TIMESTAMP,
    DataType,
)
from delta_models.values import Rows, Value


@dataclasses.dataclass(frozen=True, slots=True)
class Trigger:
    """One test for what reveals a known bug of an engine.

    - `value` tests a value of a type, in a partition column or not.
    - `expression` tests an expression over a table with these partition columns.
    - `operation` tests an operation on a table.
    - `name` tests the name of a partition column.

    A trigger that is drawn `everywhere` is kept out of no history.
    """

    because: str
    value: Callable[[DataType, Value, bool], bool] | None = None
    expression: Callable[[Expression, tuple[str, ...]], bool] | None = None
    name: Callable[[str], bool] | None = None
    operation: Callable[[predicates.TableLike, Operation], bool] | None = None
    everywhere: bool = False

    def set_off(self, table: predicates.TableLike, operation: Operation) -> bool:
        """Whether an operation on a table sets this trigger off."""
        return self.set_off_by(
            table, operation, _partition_by(table, operation), tuple(_predicates(operation))
        )

    def set_off_by(
        self,
        table: predicates.TableLike,
        operation: Operation,
        partition_by: tuple[str, ...],
        expressions: Sequence[Expression],
    ) -> bool:
        """The same, with the operation's partition columns and predicates, which are found once for all triggers."""
        if self.name is not None and any(map(self.name, partition_by)):
            return True
        if self.operation is not None:
            return self.operation(table, operation)
        if self.expression is not None:
            return any(self.expression(predicate, partition_by) for predicate in expressions)
        assert self.value is not None  # noqa: S101 - each trigger has one test
        return any(value[1] is not None and self.value(*value) for value in values_of(table, operation))


TRIGGERS: Mapping[str, Trigger] = {
    "nan": Trigger(
        "statistics without NaN make a file look constant",
        lambda data_type, value, _: data_type in {DOUBLE, FLOAT} and math.isnan(value),
    ),
    "negative-zero": Trigger(
        "floating point numbers are compared by their total order",
        lambda data_type, value, _: (
            data_type in {DOUBLE, FLOAT} and value == 0 and math.copysign(1, value) < 0
        ),
        everywhere=True,
    ),
    "empty-partition-text": Trigger(
        "filters see an empty partition text as empty, not as null",
        lambda data_type, value, partition: (
            predicates.is_partition_text(data_type, partition) and value == ""
        ),
    ),
    "negative-decimal-partition": Trigger(
        "the fraction gets a sign of its own", predicates.negative_fraction
    ),
    "long-double-partition": Trigger(
        "the name of the folder gets longer than file systems take", predicates.long_double
    ),
    "long-decimal": Trigger("statistics of decimals pass through a double", predicates.long_decimal),
    "foreign-partition-text": Trigger(
        "one engine writes the characters as they are into paths, another escapes them",
        lambda data_type, value, partition: (
            predicates.is_partition_text(data_type, partition) and predicates.has_foreign_characters(value)
        ),
        name=predicates.has_foreign_characters,
    ),
    "astral-partition-text": Trigger(
        "escaped halves of a character are joined wrongly",
        lambda data_type, value, partition: (
            predicates.is_partition_text(data_type, partition)
            and any(ord(c) >= predicates.JOINED_WRONGLY for c in value)
        ),
    ),
    "name-of-null": Trigger(
        "Hive's name of the null is a text like others",
        lambda data_type, value, partition: (
            predicates.is_partition_text(data_type, partition) and value == predicates.NAME_OF_NULL
        ),
    ),
    "nul-in-partition-text": Trigger(
        "no folder has a NUL in its name",
        lambda data_type, value, partition: (
            predicates.is_partition_text(data_type, partition) and "\0" in value
        ),
    ),
    "far-timestamp": Trigger(
        "in Spark's old form a reader takes it for nanoseconds, into which it does not fit",
        lambda data_type, value, _: (
            data_type == TIMESTAMP and not -predicates.NANOSECONDS < value < predicates.NANOSECONDS
        ),
        everywhere=True,
    ),
    "far-year": Trigger(
        "texts of such years have a sign, or more digits than four",
        predicates.far_year,
        everywhere=True,  # they are drawn in one table profile only, which would be about nothing else
    ),
    "year-before-1-partition": Trigger(
        "a year before 1 is written as one after it", predicates.before_year_1
    ),
    "gap-date": Trigger(
        "days that the calendar reform left out are pushed down as others",
        lambda data_type, value, _: data_type == DATE and value in predicates.GAP,
    ),
    "binary-partition": Trigger(
        "escaped bytes come back as they were escaped",
        lambda data_type, _, partition: partition and data_type == BINARY,
    ),
    "partition-columns-compared": Trigger(
        "a filter on partition columns alone is left to the skipping of files",
        expression=predicates.compares_partition_columns,
    ),
    "comparison-with-null": Trigger(
        "a comparison with null is simplified to a null without columns",
        expression=predicates.may_become_null,
    ),
    "equal-items-listed": Trigger(
        "such a list becomes an equality, when contradictions have been looked for",
        expression=predicates.lists_equal_items,
        everywhere=True,
    ),
    "fraction-in-a-constraint": Trigger(
        "a decimal in a constraint loses its point", operation=predicates.fraction_in_a_constraint
    ),
    "struct-in-a-struct-in-pieces": Trigger(
        "a slice of such a column is taken for longer than it is",
        operation=predicates.struct_in_a_struct_in_pieces,
    ),
    "existing-column": Trigger(
        "a new column is merged with the one of its name",
        operation=predicates.adds_an_existing_column,
        everywhere=True,
    ),
    "vacuum-beside-vectors": Trigger(
        "the files of deletion vectors are taken for left-overs",
        operation=predicates.deletes_files_beside_vectors,
    ),
    "tilde-partition-text": Trigger(
        "one place escapes a tilde in a path, another does not",
        lambda data_type, value, partition: (
            predicates.is_partition_text(data_type, partition) and "~" in value
        ),
        everywhere=True,
    ),
    "vectors-asked-for": Trigger(
        "with deletion vectors the protocol names variants as well",
        operation=predicates.switches_vectors_on,
        everywhere=True,
    ),
    "more-than-files-written": Trigger(
        "change data and a grown schema are counted as files",
        operation=predicates.writes_more_than_files,
        everywhere=True,
    ),
    "filled-up-texts": Trigger(
        "over a table with such a column lies what fills up its texts",
        operation=predicates.deletes_beside_padded_texts,
        everywhere=True,
    ),
    "recorded-rows-changed": Trigger(
        "rows and their changes are written as one, apart by a column",
        operation=predicates.changes_recorded_rows,
        everywhere=True,
    ),
    "tracked-from-now-on": Trigger(
        "files that were added before have had no row ids",
        operation=predicates.switches_row_tracking_on,
        everywhere=True,
    ),
    "bytes-as-text": Trigger(
        "bytes that are no UTF-8 are cast to a text",
        lambda data_type, value, _: data_type == STRING and any("\ud800" <= c <= "\udfff" for c in value),
        everywhere=True,
    ),
    "stream-plan-cut": Trigger(
        "of a stream's plan only the temporary file is there",
        operation=predicates.cuts_the_plan_of_a_stream,
        everywhere=True,
    ),
    "creation-cut": Trigger(
        "what a creation left before its commit is no table, and no empty folder",
        operation=predicates.cuts_a_creation,
        everywhere=True,
    ),
    "commit-found-taken": Trigger(
        "the storage has made the commit, and says that its name is taken",
        operation=predicates.made_commit_reported_taken,
        everywhere=True,
    ),
    "optimizes-at-once": Trigger(
        "the second is not told of the first", operation=predicates.optimizes_at_once, everywhere=True
    ),
    "overwrite-and-optimize-at-once": Trigger(
        "the overwrite does not find where the rows have gone",
        operation=predicates.overwrite_and_optimize_at_once,
        everywhere=True,
    ),
    "append-and-rewrite-at-once": Trigger(
        "an append is taken to have read what was removed",
        operation=predicates.append_and_rewrite_at_once,
        everywhere=True,
    ),
    "overwrite-and-conditional-write-at-once": Trigger(
        "the overwrite is not told of files that were added meanwhile",
        operation=predicates.overwrite_and_conditional_write_at_once,
        everywhere=True,
    ),
}

_VALUE_TESTS = tuple(
    (name, trigger.value) for name, trigger in TRIGGERS.items() if trigger.value and not trigger.everywhere
)


def value_trigger(data_type: DataType, value: Value, *, partition: bool) -> str | None:
    """Return the name of the first trigger that a value sets off, None if it sets off none."""
    if value is None:
        return None
    for name, test in _VALUE_TESTS:  # a loop, and no generator: plans are full of values
        if test(data_type, value, partition):
            return name
    return None


def partition_name_trigger(name: str) -> str | None:
    """Return the name of the first trigger that a partition column's name sets off, None if it sets off none."""
    tests = ((key, trigger.name) for key, trigger in TRIGGERS.items() if trigger.name is not None)
    return next((key for key, test in tests if test(name)), None)


def operation_trigger(table: predicates.TableLike, operation: Operation) -> str | None:
    """Return the first trigger, other than one of a value, that an operation on a table sets off; None without one."""
    partition_by, expressions = _partition_by(table, operation), tuple(_predicates(operation))
    for name, trigger in TRIGGERS.items():
        if (
            trigger.value is None
            and not trigger.everywhere
            and trigger.set_off_by(table, operation, partition_by, expressions)
        ):
            return name
    return None


def operation_triggers(table: predicates.TableLike, operation: Operation) -> frozenset[str]:
    """Return the names of all triggers that an operation on a table sets off."""
    partition_by, expressions = _partition_by(table, operation), tuple(_predicates(operation))
    return frozenset(
        name
        for name, trigger in TRIGGERS.items()
        if trigger.set_off_by(table, operation, partition_by, expressions)
    )


def _predicates(operation: Operation) -> Iterator[Expression]:
    """Yield the parts of an operation's predicates."""
    clauses = operation.clauses if isinstance(operation, Merge) else ()
    named = (getattr(operation, name, None) for name in ("where", "on", "check"))
    for predicate in (*named, *(clause.condition for clause in clauses)):
        yield from predicates.subexpressions(predicate)


def _assignments(operation: Operation) -> Iterator[tuple[str, Expression]]:
    """Yield each column to which an operation assigns, with the parts of the assigned expression."""
    changes = [operation.assignments] if isinstance(operation, Update) else []
    changes += [clause.assignments for clause in operation.clauses] if isinstance(operation, Merge) else []
    for name, value in (pair for pairs in changes for pair in pairs):
        for part in predicates.subexpressions(value):
            yield name, part


def values_of(table: predicates.TableLike, operation: Operation) -> Iterator[tuple[DataType, Value, bool]]:
    """Yield every value in an operation, with its type and whether it belongs to a partition column."""
    partition_by = set(_partition_by(table, operation))
    source_columns = set()
    for name, part in _assignments(operation):
        if isinstance(part, Literal):
            yield part.type, part.value, name in partition_by
        elif isinstance(part, Column) and name in partition_by:
            source_columns.add(part.path[-1])
    for part in _predicates(operation):
        operands = predicates.compared_operands(part)
        columns = {operand.path[-1] for operand in operands if isinstance(operand, Column)}
        for operand in operands:
            if isinstance(operand, Literal):
                yield operand.type, operand.value, not columns.isdisjoint(partition_by)
    rows = operation.source if isinstance(operation, Merge) else getattr(operation, "rows", None)
    if isinstance(rows, Rows):
        for position, field in enumerate(rows.schema):
            for row in rows.rows:
                yield field.type, row[position], field.name in partition_by | source_columns


def _partition_by(table: predicates.TableLike, operation: Operation) -> tuple[str, ...]:
    return table.partition_by if table.exists else getattr(operation, "partition_by", ())
