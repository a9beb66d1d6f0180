"""Does a minimum or a maximum bound the values that are there? What the protocol lets a writer cut is no breach."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from delta_models.schema import DataType, Primitive
from delta_models.values import Decimal, Value

_MILLI = 1_000


def misjudged(
    data_type: DataType, present: Sequence[Value], bound: Value, *, low: bool, tight: bool
) -> Iterator[tuple[str, str]]:
    """The requirements that a bound breaks, each with what is wrong; `present` are the values, none of them null."""
    kind = "minimum" if low else "maximum"
    if isinstance(data_type, Primitive) and data_type.name in {"float", "double"}:
        numbers = [value for value in present if not math.isnan(value)]
        if len(numbers) != len(present):
            yield from _beside_nan(numbers, bound, low=low)
            return
        if math.isnan(bound) and not low:
            if tight:
                yield "stats.tight-bounds", "the maximum is said to be NaN, there is none"
            return
    extreme = _extreme(data_type, present, low=low)
    if extreme == bound:
        return
    shown = f"the {kind} is said to be {_shown(bound)}, it is {_shown(extreme)}"
    requirement = _judge(data_type, extreme, bound, low=low)
    if requirement is not None:
        yield requirement, shown
    elif tight and not _is_cut(data_type, extreme, bound, low=low):
        yield "stats.tight-bounds", shown


def _beside_nan(numbers: Sequence[float], bound: float, *, low: bool) -> Iterator[tuple[str, str]]:
    """Bounds of a column that also holds NaN, of which the protocol says nothing: NaN is the largest of all."""
    if low:
        if numbers and not bound <= min(numbers):
            yield "stats.min-values", f"the minimum is said to be {bound}, it is {min(numbers)}"
    elif not math.isnan(bound):
        if numbers and bound < max(numbers):
            yield "stats.max-values", f"the maximum is said to be {bound}, it is {max(numbers)}"
        yield "stats.max-covers-nan", f"the maximum is said to be {bound}, there is NaN"


def _judge(data_type: DataType, extreme: Value, bound: Value, *, low: bool) -> str | None:
    """The requirement that a bound breaks which is not the extreme value itself; None: it is a bound."""
    name = data_type.name if isinstance(data_type, Primitive) else ""
    if low:
        outside = _utf8(extreme) < _utf8(bound) if name == "string" else not bound <= extreme
        return "stats.min-values" if outside else None
    if name == "string":
        if _utf8(bound) >= _utf8(extreme):
            return None
        return "stats.max-string-not-below" if extreme.startswith(bound) else "stats.max-values"
    if bound >= extreme:
        return None
    if name in {"timestamp", "timestamp_ntz"} and bound >= extreme // _MILLI * _MILLI:
        return None  # the protocol has timestamps truncated down, the maximum as well
    return "stats.max-values"


def _extreme(data_type: DataType, present: Sequence[Value], *, low: bool) -> Value:
    choose = min if low else max
    if data_type == Primitive("string"):
        # Code points order as their UTF-8 bytes do, except for the surrogates that stand for other bytes.
        return choose(present) if all(map(str.isascii, present)) else choose(present, key=_utf8)
    return choose(present)


def _is_cut(data_type: DataType, value: Value, bound: Value, *, low: bool) -> bool:
    """Whether a bound can come from cutting a string or a timestamp as the protocol allows."""
    if data_type == Primitive("string"):
        if low or len(bound) < 2:
            return bool(value.startswith(bound)) and len(bound) > 0
        return bool(value.startswith(bound[:-1])) and len(value) >= len(bound)
    if data_type in {Primitive("timestamp"), Primitive("timestamp_ntz")}:
        return bool(abs(bound - value) < _MILLI)
    return False


def _utf8(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def _shown(value: Value) -> str:
    return str(value) if isinstance(value, Decimal) else repr(value)[:80]
