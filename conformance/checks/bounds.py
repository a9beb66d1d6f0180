"""The statistics of one file against the values in it, column by column: pure functions over plain values.

Strings may be cut to a prefix (a cut maximum is rounded up), timestamps to milliseconds (either way); NaN is the largest
value; wide bounds promise less than tight ones. Section "Per-file Statistics" of the protocol.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC
from typing import Any

from conformance.checks.text import sql_text
from delta_models.log.actions import spelling
from delta_models.log.partitions import parse_date, parse_partition_value, parse_timestamp
from delta_models.schema import DataType, DecimalType, Field, Primitive, Struct
from delta_models.values import Row, Value, order_key, to_single

CUT_LENGTH = 32
MILLISECOND = 1000


class NotAValue(ValueError):
    """The statistics hold something that is no value of its column's type."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """One judgement: the requirement, the column, and what is wrong with it, or None."""

    requirement: str
    column: str
    wrong: str | None


@dataclass(frozen=True, slots=True)
class FileRows:
    """The rows of one file without its partition columns: all that it physically holds, and those not deleted."""

    schema: Struct
    physical: Sequence[Row]
    valid: Sequence[Row]

    def column(self, position: int, *, valid: bool = False) -> list[Value]:
        """The values of one column."""
        return [row[position] for row in (self.valid if valid else self.physical)]


def judge_file(stats: Mapping[str, Any], rows: FileRows) -> Iterator[Verdict]:
    """Every judgement that the statistics of a file allow."""
    count = stats.get("numRecords")
    if count is not None:
        wrong = (
            None
            if count == len(rows.physical)
            else f"numRecords is {count}, the file holds {len(rows.physical)} rows"
        )
        yield Verdict("stats.num-records", "", wrong)
    tight = stats.get("tightBounds") is not False
    yield from _columns(stats, rows.schema, rows, tight=tight, prefix="")


def _columns(
    stats: Mapping[str, Any], schema: Struct, rows: FileRows, *, tight: bool, prefix: str
) -> Iterator[Verdict]:
    known = {physical_name(each) for each in schema}
    for part in ("minValues", "maxValues", "nullCount"):
        named = stats.get(part)
        if isinstance(named, Mapping):
            unknown = sorted(set(named) - known)
            wrong = (
                f"{part} names {', '.join(prefix + each for each in unknown)}: no such data column"
                if unknown
                else None
            )
            yield Verdict("stats.known-columns", "", wrong)
    for position, each in enumerate(schema):
        yield from _column(stats, each, position, rows, tight=tight, prefix=prefix)


def _column(
    stats: Mapping[str, Any], field: Field, position: int, rows: FileRows, *, tight: bool, prefix: str
) -> Iterator[Verdict]:
    name, path = physical_name(field), prefix + field.name
    low, high, nulls = (_entry(stats, part, name) for part in ("minValues", "maxValues", "nullCount"))
    if isinstance(field.type, Struct):
        inner = {
            part: value
            for part, value in (("minValues", low), ("maxValues", high), ("nullCount", nulls))
            if isinstance(value, Mapping)
        }
        if inner:
            nested = FileRows(
                field.type,
                _inside(rows.physical, position, field.type),
                _inside(rows.valid, position, field.type),
            )
            yield from _columns(inner, field.type, nested, tight=tight, prefix=f"{path}.")
        return
    values = rows.column(position, valid=True)
    if nulls is not None:
        yield Verdict("stats.null-count", path, _null_count(nulls, rows, position, tight=tight))
    if low is not None:
        yield from _minimum(field.type, low, values, path, tight=tight)
    if high is not None:
        yield from _maximum(field.type, high, values, path, tight=tight)


def _null_count(count: Any, rows: FileRows, position: int, *, tight: bool) -> str | None:
    physical = sum(value is None for value in rows.column(position))
    valid = sum(value is None for value in rows.column(position, valid=True))
    if tight:
        return None if count == valid else f"nullCount is {count}, the rows have {valid} nulls"
    if count == 0 and valid:
        return f"nullCount is 0, the rows have {valid} nulls"
    if count == len(rows.physical) and valid != len(rows.valid):
        return f"nullCount is {count}, all rows, but only {valid} of {len(rows.valid)} are null"
    return (
        None if 0 <= count <= len(rows.physical) else f"nullCount is {count}, the file has {physical} nulls"
    )


def _minimum(
    data_type: DataType, form: Any, values: list[Value], path: str, *, tight: bool
) -> Iterator[Verdict]:
    try:
        bound = stat_value(data_type, form)
    except ValueError as error:
        yield Verdict("stats.min-bounds", path, f"the minValue {form!r} is no {data_type}: {error}")
        return
    there = _comparable(values)
    least = min(there, key=lambda each: order_key(data_type, each), default=None)
    if least is not None:
        holds = order_key(data_type, bound) <= order_key(data_type, least)
        wrong = f"minValue is {sql_text(data_type, bound)}, but the file has {sql_text(data_type, least)}"
        yield Verdict("stats.min-bounds", path, None if holds else wrong)
    if tight:
        yield Verdict(
            "stats.tight", path, _not_tight(data_type, "minValue", bound, least, has_nan=_has_nan(values))
        )


def _maximum(
    data_type: DataType, form: Any, values: list[Value], path: str, *, tight: bool
) -> Iterator[Verdict]:
    try:
        bound = stat_value(data_type, form)
    except ValueError as error:
        yield Verdict("stats.max-bounds", path, f"the maxValue {form!r} is no {data_type}: {error}")
        return
    there = _comparable(values)
    most = max(there, key=lambda each: order_key(data_type, each), default=None)
    if most is not None:
        slack = MILLISECOND - 1 if _is_time(data_type) else 0
        raised = bound + slack if slack else bound
        holds = order_key(data_type, raised) >= order_key(data_type, most)
        wrong = f"maxValue is {sql_text(data_type, bound)}, but the file has {sql_text(data_type, most)}"
        yield Verdict("stats.max-bounds", path, None if holds else wrong)
    if _has_nan(values):
        wrong = f"maxValue is {sql_text(data_type, bound)}, but the file has NaN"
        yield Verdict("stats.nan-bounds", path, None if math.isnan(bound) else wrong)
    if tight:
        yield Verdict(
            "stats.tight", path, _not_tight(data_type, "maxValue", bound, most, has_nan=_has_nan(values))
        )


def _not_tight(data_type: DataType, what: str, bound: Value, actual: Value, *, has_nan: bool) -> str | None:
    if has_nan and isinstance(bound, float) and math.isnan(bound):
        return None
    if actual is None:
        if has_nan:
            return None
        return f"{what} is {sql_text(data_type, bound)}, but no row has a value"
    if (
        isinstance(actual, str)
        and max(len(actual), len(actual.encode("utf-8", "surrogateescape"))) >= CUT_LENGTH
    ):
        return None
    if _is_time(data_type):
        holds = abs(bound - actual) < MILLISECOND
    else:
        holds = order_key(data_type, bound) == order_key(data_type, actual)
    return (
        None
        if holds
        else f"{what} is {sql_text(data_type, bound)}, but the rows' is {sql_text(data_type, actual)}"
    )


def stat_value(data_type: DataType, form: Any) -> Value:
    """A bound as a value of its column's type; raises ValueError for what is none."""
    match data_type:
        case Primitive(name="boolean") if isinstance(form, bool):
            return form
        case Primitive(name="byte" | "short" | "integer" | "long") if type(form) is int:
            return form
        case Primitive(name="float" | "double") if isinstance(form, int | float | str) and not isinstance(
            form, bool
        ):
            value = float(form.replace("Infinity", "inf")) if isinstance(form, str) else float(form)
            return to_single(value) if data_type.name == "float" and math.isfinite(value) else value
        case DecimalType() if isinstance(form, int | float | str) and not isinstance(form, bool):
            text = form if isinstance(form, str) else spelling(form) if isinstance(form, float) else str(form)
            return parse_partition_value(data_type, text)
        case Primitive(name="string") if isinstance(form, str):
            return form
        case Primitive(name="date") if isinstance(form, str):
            return parse_date(form)
        case Primitive(name="timestamp" | "timestamp_ntz") if isinstance(form, str):
            return parse_timestamp(form, UTC if data_type.name == "timestamp" else None)
    message = f"a {type(form).__name__}"
    raise NotAValue(message)


def physical_name(field: Field) -> str:
    """The name that files and statistics use for a column."""
    mapped = field.metadata.get("delta.columnMapping.physicalName")
    return mapped if isinstance(mapped, str) else field.name


def _entry(stats: Mapping[str, Any], part: str, name: str) -> Any:
    named = stats.get(part)
    return named.get(name) if isinstance(named, Mapping) else None


def _inside(rows: Sequence[Row], position: int, inner: Struct) -> list[Row]:
    nothing = (None,) * len(inner)
    return [nothing if row[position] is None else row[position] for row in rows]


def _comparable(values: list[Value]) -> list[Value]:
    return [
        each for each in values if each is not None and not (isinstance(each, float) and math.isnan(each))
    ]


def _has_nan(values: list[Value]) -> bool:
    return any(isinstance(each, float) and math.isnan(each) for each in values)


def _is_time(data_type: DataType) -> bool:
    return isinstance(data_type, Primitive) and data_type.name in {"timestamp", "timestamp_ntz"}
