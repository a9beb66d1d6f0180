"""Cast values as SQL's CAST does, in Spark's ANSI mode: also from text, and across a session's time zone.

Unlike an assignment (`casts.assignment`), a cast may lose digits of a fraction, and it reads text.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from datetime import UTC, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from delta_models.casts.assignment import MICROS_A_DAY, Overflow, assigner, can_assign, round_decimal
from delta_models.schema import (
    BOOLEAN,
    DATE,
    DOUBLE,
    FLOAT,
    INTEGRALS,
    STRING,
    TIMESTAMP,
    TIMESTAMP_NTZ,
    VOID,
    Array,
    DataType,
    DecimalType,
    Map,
    Primitive,
    Struct,
)
from delta_models.time_zones import MICROS_A_SECOND, days_from_civil, to_local, to_utc
from delta_models.values import Decimal, Value, to_single

Conversion = Callable[[Value], Value]

_DATE = re.compile(r"([+-]?\d{4,7})(?:-(\d{1,2})(?:-(\d{1,2})(?:[ T].*)?)?)?", re.DOTALL)
_TIMESTAMP = re.compile(
    r"(?:([+-]?\d{4,7})(?:-(\d{1,2})(?:-(\d{1,2}))?)?)?"
    r"(?:[ T]?T?(\d{1,2}):(\d{1,2})(?::(\d{1,2})(?:\.(\d{0,9}))?)?)?\s*(\S.*)?"
)
_TIME = re.compile(r"T?(\d{1,2}):(\d{1,2})(?::(\d{1,2})(?:\.(\d{1,9}))?)?")
_OFFSET = re.compile(r"(?:UTC|GMT|UT)?([+-])(\d{1,2})(?::?(\d{2}))?(?::?(\d{2}))?")
_DECIMAL = re.compile(r"([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d+))?")
_TRUE, _FALSE = {"t", "true", "y", "yes", "1"}, {"f", "false", "n", "no", "0"}
_SPECIAL = {
    "nan": math.nan, "infinity": math.inf, "inf": math.inf, "+infinity": math.inf, "+inf": math.inf,
    "-infinity": -math.inf, "-inf": -math.inf,
}  # fmt: skip
_LARGEST_SCALE = 1_000


class NotConvertible(TypeError):
    """Values of one type cannot be cast to the other."""


class Unreadable(ValueError):
    """The text is not a value of the type."""


def is_time(data_type: DataType) -> bool:
    """Whether a type is a time of day, whose values are microseconds since midnight."""
    return isinstance(data_type, Primitive) and data_type.name.startswith("time(")


def converter(source: DataType, target: DataType, zone: tzinfo = UTC) -> Conversion:
    """Return the function that casts a value of a type to another in a session of this zone; null stays null.

    Raises NotConvertible. The function raises Unreadable or Overflow.
    """
    convert = _conversion(source, target, zone)
    return lambda value: None if value is None else convert(value)


def _conversion(source: DataType, target: DataType, zone: tzinfo) -> Conversion:
    if source in {target, VOID}:
        return lambda value: value
    match source, target:
        case Array(), Array():
            element = converter(source.element, target.element, zone)
            return lambda value: tuple(map(element, value))
        case Map(), Map():
            key, part = converter(source.key, target.key, zone), converter(source.value, target.value, zone)
            return lambda value: tuple((key(name), part(content)) for name, content in value)
        case Struct(), Struct() if len(source) == len(target):
            parts = [converter(mine.type, its.type, zone) for mine, its in zip(source, target, strict=True)]
            return lambda value: tuple(cast(part) for cast, part in zip(parts, value, strict=True))
    if source == STRING:
        return _from_text(target, zone)
    if source == BOOLEAN and (target in {*INTEGRALS, FLOAT, DOUBLE} or isinstance(target, DecimalType)):
        as_number = assigner(INTEGRALS[0], target)
        return lambda value: as_number(int(value))
    if target == BOOLEAN and (source in {*INTEGRALS, FLOAT, DOUBLE} or isinstance(source, DecimalType)):
        return lambda value: bool(value[0] if isinstance(value, Decimal) else value)
    if source == TIMESTAMP or (source == DATE and target == TIMESTAMP) or target == TIMESTAMP:
        return _across_zone(source, target, zone)
    if is_time(source) and target == STRING:
        return time_text
    if can_assign(source, target):
        return assigner(source, target)
    raise NotConvertible(f"a {source} cannot be cast to {target}")


def _across_zone(source: DataType, target: DataType, zone: tzinfo) -> Conversion:
    if source == TIMESTAMP:
        if target == TIMESTAMP_NTZ:
            return lambda value: to_local(value, zone)
        if target == DATE:
            return lambda value: to_local(value, zone) // MICROS_A_DAY
        if target == STRING:
            text = assigner(TIMESTAMP_NTZ, STRING)
            return lambda value: text(to_local(value, zone))
        if target in INTEGRALS:
            whole = assigner(INTEGRALS[-1], target)
            return lambda value: whole(value // MICROS_A_SECOND)
        if target in {FLOAT, DOUBLE}:
            wide = assigner(DOUBLE, target)
            return lambda value: wide(value / MICROS_A_SECOND)
        if isinstance(target, DecimalType):
            return lambda value: round_decimal(Decimal(value, 6), target)
    elif source == DATE:
        return lambda value: to_utc(value * MICROS_A_DAY, zone)
    elif source == TIMESTAMP_NTZ:
        return lambda value: to_utc(value, zone)
    elif source in INTEGRALS:
        return lambda value: value * MICROS_A_SECOND
    elif source in {FLOAT, DOUBLE}:
        return _seconds_of_double
    elif isinstance(source, DecimalType):
        return lambda value: round_decimal(Decimal(*value), DecimalType(38, 6)).unscaled
    raise NotConvertible(f"a {source} cannot be cast to {target}")


def _seconds_of_double(value: float) -> int:
    if math.isnan(value) or math.isinf(value):
        raise Overflow(f"{value} is no timestamp")
    return int(value * MICROS_A_SECOND)


def find_zone(name: str) -> tzinfo:
    """Return the time zone of this name. Raises Unreadable."""
    if name.upper() in {"UTC", "GMT", "Z", "UT"}:
        return UTC
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise Unreadable(f"no time zone is called {name!r}") from error


# From text


def _from_text(target: DataType, zone: tzinfo) -> Conversion:
    match target:
        case Primitive("byte" | "short" | "integer" | "long"):
            fit = assigner(DecimalType(38, 0), target)
            return lambda text: fit(_whole(text))
        case Primitive("float"):
            return lambda text: to_single(_double(text))
        case Primitive("double"):
            return _double
        case DecimalType():
            return lambda text: round_decimal(read_decimal(text), target)
        case Primitive("boolean"):
            return _boolean
        case Primitive("binary"):
            return lambda text: text.encode("utf-8", "surrogateescape")
        case Primitive("date"):
            return read_date
        case Primitive("timestamp"):
            return lambda text: read_timestamp(text, zone)
        case Primitive("timestamp_ntz"):
            return lambda text: read_timestamp(text, None)
    if is_time(target):
        return read_time
    raise NotConvertible(f"a string cannot be cast to {target}")


def _whole(text: str) -> Decimal:
    """A whole number. As in Spark, a fraction is cut off, and an exponent is not allowed."""
    match = _DECIMAL.fullmatch(text.strip())
    if match is None or match[4] or not match[2]:
        raise Unreadable(f"{text!r} is no whole number")
    return Decimal(int(match[1] + match[2]), 0)


def read_decimal(text: str) -> Decimal:
    """Return the decimal in a text in plain or scientific form. Raises Unreadable or Overflow."""
    match = _DECIMAL.fullmatch(text.strip())
    if match is None or not (match[2] or match[3]):
        raise Unreadable(f"{text!r} is no number")
    fraction, exponent = match[3] or "", int(match[4] or 0)
    unscaled, scale = int(f"{match[1]}{match[2]}{fraction}"), len(fraction) - exponent
    if abs(scale) > _LARGEST_SCALE:
        raise Overflow(f"{text} does not fit a decimal")
    return Decimal(unscaled * 10 ** max(0, -scale), max(0, scale))


def _double(text: str) -> float:
    stripped = text.strip().rstrip("dDfF") if not text.strip().lower().endswith("inf") else text.strip()
    special = _SPECIAL.get(text.strip().lower())
    if special is not None:
        return special
    if _DECIMAL.fullmatch(stripped) and any(map(str.isdigit, stripped)):
        return float(stripped)
    raise Unreadable(f"{text!r} is no number")


def _boolean(text: str) -> bool:
    word = text.strip().lower()
    if word in _TRUE:
        return True
    if word in _FALSE:
        return False
    raise Unreadable(f"{text!r} is no boolean")


def read_date(text: str) -> int:
    """Return the day that `2024`, `2024-2`, `2024-02-29` or a timestamp names. Raises Unreadable."""
    match = _DATE.fullmatch(text.strip())
    if match is None:
        raise Unreadable(f"{text!r} is no date")
    return _days(match[1], match[2], match[3], text)


def _days(year: str, month: str | None, day: str | None, text: str) -> int:
    try:
        return days_from_civil(int(year), int(month or 1), int(day or 1))
    except ValueError as error:
        raise Unreadable(f"{text!r} is no date: {error}") from error


def read_timestamp(text: str, zone: tzinfo | None) -> int:
    """Return the instant of `2024-02-29 12:00:00.5`, in its own zone if it names one, else in `zone`.

    Without `zone`, return local microseconds and ignore a zone in the text. Raises Unreadable.
    """
    match = _TIMESTAMP.fullmatch(text.strip())
    if match is None or match[1] is None or not text.strip():
        raise Unreadable(f"{text!r} is no timestamp")
    local = _days(match[1], match[2], match[3], text) * MICROS_A_DAY
    if match[4] is not None:
        local += _clock(match[4], match[5], match[6], match[7], text)
    if match[8] is not None and match[4] is None:
        raise Unreadable(f"{text!r} is no timestamp")
    offset = None if match[8] is None else _offset(match[8])
    if zone is None:
        return local
    if isinstance(offset, int):
        return local - offset
    return to_utc(local, zone if offset is None else offset)


def _clock(hour: str, minute: str, second: str | None, fraction: str | None, text: str) -> int:
    hours, minutes, seconds = int(hour), int(minute), int(second or 0)
    if hours > 23 or minutes > 59 or seconds > 59:
        raise Unreadable(f"{text!r} is no time of a day")
    micros = int((fraction or "").ljust(6, "0")[:6])
    return ((hours * 60 + minutes) * 60 + seconds) * MICROS_A_SECOND + micros


def _offset(text: str) -> int | tzinfo:
    match = _OFFSET.fullmatch(text)
    if match is None:
        return find_zone(text)
    seconds = int(match[2]) * 3600 + int(match[3] or 0) * 60 + int(match[4] or 0)
    return (-seconds if match[1] == "-" else seconds) * MICROS_A_SECOND


def read_time(text: str) -> int:
    """Return the microseconds since midnight of `12:30` or `12:30:00.5`. Raises Unreadable."""
    match = _TIME.fullmatch(text.strip())
    if match is None:
        raise Unreadable(f"{text!r} is no time of a day")
    return _clock(match[1], match[2], match[3], match[4], text)


def time_text(micros: int) -> str:
    """Return a time of day as text, its fraction without trailing zeros."""
    seconds, fraction = divmod(micros, MICROS_A_SECOND)
    text = f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"
    return f"{text}.{fraction:06}".rstrip("0") if fraction else text


def to_bytes(value: Value) -> bytes:
    """Return the UTF-8 bytes of a string; bytes stay as they are."""
    return value if isinstance(value, bytes) else str(value).encode("utf-8", "surrogateescape")
