"""Does a minimum or a maximum bound the values that are there? What the protocol lets a writer cut is no breach."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from delta_models.requirements.base import Verdict
from delta_models.schema import DataType, Primitive
from delta_models.values import Decimal, Value

_MILLI = 1_000


def judge_bound(
    data_type: DataType, present: Sequence[Value], bound: Value, *, low: bool, tight: bool
) -> Iterator[Verdict]:
    """The rules on a minimum or a maximum; `present` are the values, none of them null."""
    rule = "stats.min-values" if low else "stats.max-values"
    if isinstance(data_type, Primitive) and data_type.name in {"float", "double"}:
        numbers = [value for value in present if not math.isnan(value)]
        if len(numbers) != len(present):
            yield from _beside_nan(numbers, bound, low=low)
            return
        if math.isnan(bound) and not low:
            yield rule, None
            if tight:
                yield "stats.tight-bounds", "the maximum is said to be NaN, there is none"
            return
    extreme = _extreme(data_type, present, low=low)
    if extreme == bound:
        yield rule, None
        if tight:
            yield "stats.tight-bounds", None
        return
    broken = _outside(data_type, extreme, bound, low=low)
    if broken is not None:
        yield broken, _other(bound, extreme, low=low)
        return
    yield rule, None
    cut = _is_cut(data_type, extreme, bound, low=low)
    if cut and not low and data_type == Primitive("string"):
        yield "stats.max-string-not-below", None
    if tight:
        yield "stats.tight-bounds", None if cut else _other(bound, extreme, low=low)


def _other(bound: Value, extreme: Value, *, low: bool) -> str:
    kind = "minimum" if low else "maximum"
    return f"the {kind} is said to be {_shown(bound)}, it is {_shown(extreme)}"


def _beside_nan(numbers: Sequence[float], bound: float, *, low: bool) -> Iterator[Verdict]:
    """Bounds of a column that also holds NaN, of which the protocol says nothing: NaN is the largest of all."""
    if low:
        if numbers:
            least = min(numbers)
            wrong = None if bound <= least else f"the minimum is said to be {bound}, it is {least}"
            yield "stats.min-values", wrong
    elif math.isnan(bound):
        yield "stats.max-values", None
        yield "stats.max-covers-nan", None
    else:
        if numbers:
            most = max(numbers)
            wrong = None if bound >= most else f"the maximum is said to be {bound}, it is {most}"
            yield "stats.max-values", wrong
        yield "stats.max-covers-nan", f"the maximum is said to be {bound}, there is NaN"


def _outside(data_type: DataType, extreme: Value, bound: Value, *, low: bool) -> str | None:
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
