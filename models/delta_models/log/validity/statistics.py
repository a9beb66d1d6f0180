"""Do the statistics of a file tell the truth about its rows? Section "Per-file Statistics" of the protocol."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from delta_models.log.actions import Add, spelling
from delta_models.log.partitions import parse_partition_value
from delta_models.log.reader import mapping_mode
from delta_models.log.parquet.data_files import physical_name
from delta_models.log.state import Snapshot
from delta_models.schema import DataType, DecimalType, Field, Primitive, Struct
from delta_models.values import Decimal, Row, Value, parse_decimal, to_single

_MILLI = 1_000
_WHOLE = ("byte", "short", "integer", "long")


def breaches(
    snapshot: Snapshot, add: Add, rows: Sequence[Row], length: int, deleted: int
) -> Iterator[tuple[str, str]]:
    """What the statistics get wrong, as (requirement, detail).

    `rows` are the valid rows of the file, `length` the number of all its rows, `deleted` of those in its deletion vector.
    """
    try:
        stats = add.statistics
    except ValueError as error:
        yield "stats.well-formed", f"stats is no JSON object: {error}"
        return
    if stats is None:
        return
    yield from _shape(stats)
    count = stats.get("numRecords")
    if type(count) is int and count != length:
        also = f" ({length - deleted} of them valid)" if deleted else ""
        yield "stats.num-records", f"numRecords is {count}, the file has {length} rows{also}"
    tight = stats.get("tightBounds", True) is not False
    mapped = mapping_mode(snapshot) != "none"
    columns: list[Sequence[Value]] = list(zip(*rows, strict=True)) if rows else [()] * len(snapshot.schema)
    partitions = {name.casefold() for name in snapshot.partition_by}
    for each, values in zip(snapshot.schema.fields, columns, strict=True):
        if each.name.casefold() not in partitions:
            yield from _column(each, each.name, values, _Parts.of(stats), tight, count, mapped)


class _Parts:
    """The same place in nullCount, minValues and maxValues."""

    __slots__ = ("high", "low", "nulls")

    def __init__(self, nulls: Any, low: Any, high: Any) -> None:
        self.nulls = nulls
        self.low = low
        self.high = high

    @classmethod
    def of(cls, stats: Mapping[str, Any]) -> _Parts:
        return cls(stats.get("nullCount"), stats.get("minValues"), stats.get("maxValues"))

    def inside(self, name: str) -> _Parts:
        return _Parts(*(part.get(name) if isinstance(part, dict) else None for part in (self.nulls, self.low, self.high)))


def _shape(stats: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    count = stats.get("numRecords")
    if count is not None and (type(count) is not int or count < 0):
        yield "stats.well-formed", f"numRecords is {count!r}"
    if type(stats.get("tightBounds", True)) is not bool:
        yield "stats.well-formed", f"tightBounds is {stats['tightBounds']!r}"
    for name in ("nullCount", "minValues", "maxValues"):
        if not isinstance(stats.get(name, {}), dict | None):
            yield "stats.well-formed", f"{name} is no object"


def _column(
    each: Field, where: str, values: Sequence[Value], parts: _Parts, tight: bool, count: Any, mapped: bool
) -> Iterator[tuple[str, str]]:
    inner = parts.inside(physical_name(each) if mapped else each.name)
    if isinstance(each.type, Struct):
        columns: list[Sequence[Value]]
        if values:
            width = len(each.type)
            present = [(None,) * width if value is None else value for value in values]
            columns = list(zip(*present, strict=True)) if width else []
        else:
            columns = [()] * len(each.type)
        for child, inside in zip(each.type.fields, columns, strict=True):
            yield from _column(child, f"{where}.{child.name}", inside, inner, tight, count, mapped)
        return
    yield from _null_count(where, values, inner.nulls, tight, count)
    if each.type == Primitive("variant"):
        return
    present = [value for value in values if value is not None]
    if present:
        yield from _bound(each.type, where, present, inner.low, tight, "stats.min-values", low=True)
        yield from _bound(each.type, where, present, inner.high, tight, "stats.max-values", low=False)


def _null_count(
    where: str, values: Sequence[Value], said: Any, tight: bool, count: Any
) -> Iterator[tuple[str, str]]:
    if said is None or isinstance(said, dict):
        return
    if type(said) is not int:
        yield "stats.well-formed", f"nullCount of {where} is {said!r}"
        return
    nulls = sum(value is None for value in values)
    if tight:
        if said != nulls:
            yield "stats.null-count", f"nullCount of {where} is {said}, there are {nulls} nulls"
    elif (said == 0 and nulls) or (said == count and nulls != len(values)):
        yield "stats.null-count", f"wide nullCount of {where} is {said} of {count}, there are {nulls} nulls"


def _bound(
    data_type: DataType, where: str, present: Sequence[Value], said: Any, tight: bool, requirement: str, *, low: bool
) -> Iterator[tuple[str, str]]:
    if said is None:
        return
    kind = "minimum" if low else "maximum"
    try:
        bound = parse_bound(data_type, said)
    except (ValueError, TypeError, AttributeError) as error:
        yield "stats.well-formed", f"the {kind} of {where} is no {data_type}: {error}"
        return
    if bound is None:
        return
    nans = False
    if isinstance(data_type, Primitive) and data_type.name in {"float", "double"}:
        numbers = [value for value in present if not math.isnan(value)]
        nans = len(numbers) != len(present)
        if math.isnan(bound):
            if low and numbers:
                yield requirement, f"the {kind} of {where} is NaN, there are numbers"
            return
        if nans and not low:
            yield "stats.max-covers-nan", f"the {kind} of {where} is {bound}, there is NaN"
        present = numbers
        if not present:
            return
    extreme = _extreme(data_type, present, low=low)
    yield from _compare(data_type, where, extreme, bound, tight and not nans, requirement, low=low)


def _compare(
    data_type: DataType, where: str, extreme: Value, bound: Value, tight: bool, requirement: str, *, low: bool
) -> Iterator[tuple[str, str]]:
    kind = "minimum" if low else "maximum"
    name = data_type.name if isinstance(data_type, Primitive) else ""
    shown = f"the {kind} of {where} is said to be {_shown(bound)}, it is {_shown(extreme)}"
    if name == "string":
        first, second = (extreme, bound) if low else (bound, extreme)
        if _utf8(first) < _utf8(second):
            if low or not extreme.startswith(bound):
                yield requirement, shown
            else:
                yield "stats.max-string-not-below", shown
        elif tight and extreme != bound and not _is_cut(extreme, bound):
            yield "stats.tight-bounds", shown
        return
    if name in {"timestamp", "timestamp_ntz"}:
        if low and bound > extreme or not low and bound < extreme // _MILLI * _MILLI:
            yield requirement, shown
        elif not low and bound < extreme:
            yield "stats.max-timestamp-not-below", shown
        elif tight and abs(bound - extreme) >= _MILLI:
            yield "stats.tight-bounds", shown
        return
    if (extreme < bound) if low else (extreme > bound):
        yield requirement, shown
    elif tight and extreme != bound:
        yield "stats.tight-bounds", shown


def _extreme(data_type: DataType, present: Sequence[Value], *, low: bool) -> Value:
    choose = min if low else max
    if isinstance(data_type, Primitive) and data_type.name == "string":
        return choose(present, key=_utf8) if not all(map(str.isascii, present)) else choose(present)
    return choose(present)


def _is_cut(value: str, bound: str) -> bool:
    """Whether a bound can come from cutting the value: they agree up to the last character of the bound."""
    return len(bound) >= 2 and value[: len(bound) - 1] == bound[:-1] and len(value) >= len(bound)


def parse_bound(data_type: DataType, said: Any) -> Value:
    """The value that a minimum or maximum in statistics means. Raises ValueError if none; None carries no information."""
    match data_type:
        case Primitive(name="byte" | "short" | "integer" | "long"):
            if type(said) is int:
                return said
        case Primitive(name="float" | "double" as name):
            number = parse_partition_value(Primitive("double"), said) if type(said) is str else float(said)
            return to_single(number) if name == "float" and number is not None else number
        case DecimalType(scale=scale):
            text = said if type(said) is str else str(said) if type(said) is int else spelling(said)
            return _decimal(text, scale)
        case Primitive(name="string"):
            if type(said) is str:
                return said
        case Primitive(name="boolean"):
            if type(said) is bool:
                return said
        case Primitive(name="date" | "timestamp" | "timestamp_ntz"):
            if type(said) is str:
                return parse_partition_value(data_type, said)
        case _:
            return None
    raise ValueError(repr(said)[:60])


def _decimal(text: str, scale: int) -> Decimal:
    mantissa, _, exponent = text.upper().partition("E")
    parsed = parse_decimal(mantissa)
    shift = parsed.scale - int(exponent or 0)
    exact = Decimal(parsed.unscaled * 10 ** max(0, -shift), max(0, shift))
    return exact.at_scale(scale)


def _utf8(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def _shown(value: Value) -> str:
    return repr(value)[:80] if not isinstance(value, Decimal) else str(value)
