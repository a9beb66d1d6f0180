"""Check written rows inside the write itself: NOT NULL, CHECK constraints, invariants, CHAR and VARCHAR.

One column of the written frame carries all checks. So the job that writes a row also refuses it, without a second pass
and without a gap between check and write. A refused row makes Spark raise a marked text; `violation_in` recognises it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from pyspark.sql import DataFrame
from pyspark.sql.types import ArrayType, BinaryType, CharType, DataType, MapType, StringType, StructType

from pyspark_delta import char_varchar, sql_text
from pyspark_delta.exceptions import ConstraintViolated, CorruptLog
from pyspark_delta.schema import path_text

__all__ = ["CONSTRAINT_PREFIX", "Check", "checks_of", "null_if_empty", "violation_in", "with_checks"]

CONSTRAINT_PREFIX = "delta.constraints."
INVARIANTS = "delta.invariants"

_MARK = "pyspark_delta refuses a row: "
_END = " :pyspark_delta"


@dataclass(frozen=True, slots=True)
class Check:
    """A SQL condition that every row must meet (null does not), the message if a row fails, and the columns to show."""

    condition: str
    message: str
    shows: tuple[str, ...] = ()


def checks_of(
    schema: StructType,
    configuration: Mapping[str, str],
    have: StructType | None = None,
    empty: Collection[str] = (),
) -> list[Check]:
    """All checks of a table, without those that the schema of the data (`have`) already proves.

    It proves nothing about the columns of `null_if_empty`.
    """
    return [
        *_not_null(schema, have, (), empty),
        *_invariants(schema, ()),
        *_lengths(schema, ()),
        *_constraints(configuration, schema),
    ]


def null_if_empty(schema: StructType, partition_columns: Sequence[str]) -> tuple[str, ...]:
    """The partition columns in which an empty value becomes null: the log has one spelling for both."""
    return tuple(
        name
        for name in partition_columns
        # CHAR is padded, so that no value of it is empty in the log.
        if isinstance(schema[name].dataType, StringType | BinaryType)
        and not isinstance(char_varchar.declared_type(schema[name]), CharType)
    )


def with_checks(frame: DataFrame, checks: list[Check], empty: Collection[str] = ()) -> DataFrame:
    """The frame, changed so that its job fails on a row that a check refuses.

    The checks see the values that a reader will see: null in place of an empty value of the columns `empty`.
    """
    if not checks:
        return frame
    if empty:
        frame = frame.selectExpr(
            *(
                f"if(octet_length({name}) = 0, null, {name}) as {name}" if column in empty else name
                for column in frame.columns
                for name in [sql_text.name(column)]
            )
        )
    columns = [sql_text.name(column) for column in frame.columns]
    conditions = " ".join(
        f"when not coalesce({check.condition}, false) then {_raise_expression(check)}" for check in checks
    )
    first = columns[0]
    # CASE keeps the order of its branches, and Spark evaluates an output column for written rows only. It could push
    # a filter below a join and refuse rows that are never written.
    guarded = f"case {conditions} else {first} end as {first}"
    return frame.selectExpr(guarded, *columns[1:])


def violation_in(error: BaseException) -> ConstraintViolated | None:
    """The ConstraintViolated that made a job fail; None if something else did."""
    match = re.search(re.escape(_MARK) + "(.*?)" + re.escape(_END), str(error), re.DOTALL)
    return None if match is None else ConstraintViolated(match.group(1))


def _raise_expression(check: Check) -> str:
    shown = [f"concat({sql_text.literal(f' {name} = ')}, {_shown_value(name)})" for name in check.shows]
    parts = [sql_text.literal(_MARK + check.message), *shown, sql_text.literal(_END)]
    return f"raise_error(concat({', '.join(parts)}))"


def _shown_value(name: str) -> str:
    return f"coalesce(cast({sql_text.name(name)} as string), 'null')"


def _not_null(
    schema: StructType, have: StructType | None, prefix: tuple[str, ...], unproven: Collection[str] = ()
) -> Iterator[Check]:
    for index, field in enumerate(schema.fields):
        place = (*prefix, field.name)
        known = have.fields[index] if have is not None else None
        reference = sql_text.path(place)
        guard = f"{sql_text.path(prefix)} is null or " if prefix else ""
        if not field.nullable and (known is None or known.nullable or field.name in unproven):
            yield Check(
                f"{guard}{reference} is not null",
                f"{path_text(place)} is NOT NULL, and the row has null there;",
            )
        if isinstance(field.dataType, StructType):
            inner = known.dataType if known is not None and isinstance(known.dataType, StructType) else None
            yield from _not_null(field.dataType, inner, place)
        else:
            missing = _null_inside(reference, field.dataType, 0)
            if missing is not None:
                yield Check(
                    f"not coalesce({missing}, false)",
                    f"{path_text(place)} has null inside, where the table's type allows none;",
                )


def _null_inside(reference: str, data_type: DataType, depth: int) -> str | None:
    """A SQL condition that is true if a value contains a null that its type forbids; None if no null is forbidden."""
    if isinstance(data_type, ArrayType):
        element = f"e{depth}"
        condition = _any_of(
            None if data_type.containsNull else f"{element} is null",
            _null_inside(element, data_type.elementType, depth + 1),
        )
        return None if condition is None else f"exists({reference}, {element} -> {condition})"
    if isinstance(data_type, MapType):
        value = f"v{depth}"
        values = _any_of(
            None if data_type.valueContainsNull else f"{value} is null",
            _null_inside(value, data_type.valueType, depth + 1),
        )
        key = f"k{depth}"
        keys = _null_inside(key, data_type.keyType, depth + 1)
        return _any_of(
            None if values is None else f"exists(map_values({reference}), {value} -> {values})",
            None if keys is None else f"exists(map_keys({reference}), {key} -> {keys})",
        )
    if isinstance(data_type, StructType):
        parts: list[str | None] = []
        for field in data_type.fields:
            inner = f"{reference}.{sql_text.name(field.name)}"
            parts.append(
                _any_of(
                    None if field.nullable else f"({reference} is not null and {inner} is null)",
                    _null_inside(inner, field.dataType, depth),
                )
            )
        return _any_of(*parts)
    return None


def _any_of(*conditions: str | None) -> str | None:
    known = [condition for condition in conditions if condition is not None]
    if not known:
        return None
    return "(" + " or ".join(f"coalesce({condition}, false)" for condition in known) + ")"


def _invariants(schema: StructType, prefix: tuple[str, ...]) -> Iterator[Check]:
    for field in schema.fields:
        place = (*prefix, field.name)
        text = (field.metadata or {}).get(INVARIANTS)
        if text is not None:
            expression = _invariant(text, place)
            yield Check(
                expression, f"invariant of {path_text(place)} ({expression}) is not fulfilled;", (place[0],)
            )
        if isinstance(field.dataType, StructType):
            yield from _invariants(field.dataType, place)


def _invariant(text: str, place: tuple[str, ...]) -> str:
    try:
        return str(json.loads(text)["expression"]["expression"])
    except (ValueError, TypeError, KeyError) as problem:
        raise CorruptLog(f"the invariant of {path_text(place)} can't be read: {text!r}") from problem


def _constraints(configuration: Mapping[str, str], schema: StructType) -> Iterator[Check]:
    shows = tuple(
        f.name for f in schema.fields if not isinstance(f.dataType, StructType | ArrayType | MapType)
    )
    for key, expression in configuration.items():
        if key.lower().startswith(CONSTRAINT_PREFIX):
            called = key[len(CONSTRAINT_PREFIX) :]
            mentioned = tuple(
                name for name in shows if re.search(rf"\b{re.escape(name)}\b", expression, re.IGNORECASE)
            )
            yield Check(
                f"({expression})", f"CHECK constraint {called} ({expression}) is not fulfilled:", mentioned
            )


def _lengths(schema: StructType, prefix: tuple[str, ...]) -> Iterator[Check]:
    for field in schema.fields:
        place = (*prefix, field.name)
        kind = char_varchar.declared_type(field)
        if isinstance(field.dataType, StructType) and kind is field.dataType:
            yield from _lengths(field.dataType, place)
        elif kind is not None:
            yield Check(
                f"not coalesce({char_varchar.too_long_condition(sql_text.path(place), kind)}, false)",
                f"{path_text(place)} is {kind.simpleString()}, and the row has a longer text there;",
            )
