"""Cast values that are written to a column of another type, by ANSI's store assignment.

`can_assign` says whether a pair of types is allowed. `assigner` returns the function that casts a value. A value that
does not fit is an `Overflow`: it is never wrapped around or truncated silently. Text forms are those of Spark.

The caller says how the fields of structs are paired, at any depth: `fields_by_name` or `fields_by_position`. It also
names the session's time zone: moments become dates, texts and local times by its clocks.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from datetime import UTC, date, timedelta, tzinfo

from delta_models.schema import (
    BYTE,
    DATE,
    DOUBLE,
    FLOAT,
    INTEGER,
    INTEGRALS,
    LONG,
    SHORT,
    STRING,
    TIMESTAMP,
    TIMESTAMP_NTZ,
    VARIANT,
    VOID,
    Array,
    DataType,
    DecimalType,
    Map,
    Primitive,
    Struct,
)  # fmt: skip
from delta_models.time_zones import to_local, to_utc
from delta_models.values import Decimal, Value, to_single

BITS = {BYTE: 8, SHORT: 16, INTEGER: 32, LONG: 64}
MICROS_A_DAY = 86_400_000_000
EPOCH = date(1970, 1, 1)
FIRST_DAY, LAST_DAY = (date.min - EPOCH).days, (date.max - EPOCH).days

_DAYS_AND_TIMES = {DATE, TIMESTAMP, TIMESTAMP_NTZ}

Cast = Callable[[Value], Value]
Pairing = Callable[
    [Struct, Struct], tuple[int | None, ...]
]  # for each field of the target its place in the source


class NotAssignable(TypeError):
    """Values of one type may not be written to a column of the other."""


class Overflow(ValueError):
    """The value does not fit the type of the column."""


def fields_by_name(source: Struct, target: Struct) -> tuple[int | None, ...]:
    """Return the place of each field of the target in the source, by its name. Raises NotAssignable if names differ."""
    places = fields_by_name_or_null(source, target)
    if None in places:
        raise _refusal(source, target)
    return places


def fields_by_name_or_null(source: Struct, target: Struct) -> tuple[int | None, ...]:
    """Return the same, and None for a field that the source lacks and that becomes null. Raises NotAssignable."""
    places = {field.name.casefold(): place for place, field in enumerate(source)}
    named = {field.name.casefold() for field in target}
    if len(places) != len(source) or not places.keys() <= named:
        raise _refusal(source, target)
    return tuple(places.get(field.name.casefold()) for field in target)


def fields_by_position(source: Struct, target: Struct) -> tuple[int | None, ...]:
    """Return the same place for each field, whatever it is called. Raises NotAssignable if their number differs."""
    if len(source) != len(target):
        raise _refusal(source, target)
    return tuple(range(len(target)))


def can_assign(source: DataType, target: DataType) -> bool:
    """Whether values of a type may be written to a column of another."""
    try:
        assigner(source, target)
    except NotAssignable:
        return False
    return True


def assigner(
    source: DataType, target: DataType, pairing: Pairing = fields_by_name, zone: tzinfo = UTC
) -> Cast:
    """Return the function that casts a value of a type for a column of another type; null stays null.

    Raises NotAssignable. The function raises Overflow.
    """
    cast = _cast(source, target, pairing, zone)
    return lambda value: None if value is None else cast(value)


def _cast(source: DataType, target: DataType, pairing: Pairing, zone: tzinfo) -> Cast:
    match source, target:
        case Struct(), Struct():
            return _struct_cast(source, target, pairing, zone)
        case Array(), Array():
            if source.contains_null and not target.contains_null:
                raise _refusal(source, target)
            element = assigner(source.element, target.element, pairing, zone)
            return lambda value: tuple(map(element, value))
        case Map(), Map():
            if source.value_contains_null and not target.value_contains_null:
                raise _refusal(source, target)
            key = assigner(source.key, target.key, pairing, zone)
            part = assigner(source.value, target.value, pairing, zone)
            return lambda value: tuple((key(name), part(content)) for name, content in value)
    if source in {target, VOID}:
        return _same
    if _is_number(source) and _is_number(target):
        return _number_cast(source, target)
    if target == STRING and isinstance(source, (Primitive, DecimalType)) and source != VARIANT:
        return _text_cast(source, zone)
    if source in _DAYS_AND_TIMES and target in _DAYS_AND_TIMES:
        return _calendar_cast(source, target, zone)
    raise _refusal(source, target)


def _calendar_cast(source: DataType, target: DataType, zone: tzinfo) -> Cast:
    if source == DATE:
        return lambda value: _moment(value * MICROS_A_DAY, target, zone)
    local = (lambda value: to_local(value, zone)) if source == TIMESTAMP else _same
    if target == DATE:
        return lambda value: local(value) // MICROS_A_DAY
    return lambda value: _moment(local(value), target, zone)


def _moment(local: int, target: DataType, zone: tzinfo) -> int:
    return to_utc(local, zone) if target == TIMESTAMP else local


def _refusal(source: DataType, target: DataType) -> NotAssignable:
    return NotAssignable(f"{source} may not be written to a column of type {target}")


def _same(value: Value) -> Value:
    return value


def _struct_cast(source: Struct, target: Struct, pairing: Pairing, zone: tzinfo) -> Cast:
    parts: list[tuple[int, Cast] | None] = []
    for place, theirs in zip(pairing(source, target), target, strict=True):
        if not theirs.nullable and (place is None or source.fields[place].nullable):
            raise _refusal(source, target)
        mine = None if place is None else source.fields[place].type
        parts.append(
            None if place is None or mine is None else (place, assigner(mine, theirs.type, pairing, zone))
        )
    return lambda value: tuple(None if part is None else part[1](value[part[0]]) for part in parts)


# Numbers


def _is_number(data_type: DataType) -> bool:
    return data_type in {*INTEGRALS, FLOAT, DOUBLE} or isinstance(data_type, DecimalType)


def _number_cast(source: DataType, target: DataType) -> Cast:
    if isinstance(target, DecimalType):
        exact = _as_decimal(source)
        return lambda value: round_decimal(exact(value), target)
    if target in {FLOAT, DOUBLE}:
        wide = _as_double(source)
        return (lambda value: to_single(wide(value))) if target == FLOAT else wide
    whole = _as_whole(source)
    half = 1 << (BITS[_primitive(target)] - 1)

    def cast(value: Value) -> int:
        number = whole(value)
        if not -half <= number < half:
            message = f"{value} does not fit {target}"
            raise Overflow(message)
        return number

    return cast


def _primitive(data_type: DataType) -> Primitive:
    assert isinstance(data_type, Primitive)  # noqa: S101 - narrows the type
    return data_type


def _as_whole(source: DataType) -> Callable[[Value], int]:
    """The number without its fraction."""
    if isinstance(source, DecimalType):
        return lambda value: _towards_zero(value[0], 10 ** value[1])
    if source in {FLOAT, DOUBLE}:
        return _whole_of_double
    return int


def _whole_of_double(value: float) -> int:
    if math.isnan(value) or math.isinf(value):
        message = f"{value} is no whole number"
        raise Overflow(message)
    return int(value)


def _as_double(source: DataType) -> Callable[[Value], float]:
    if isinstance(source, DecimalType):
        return lambda value: float(str(Decimal(*value)))
    return float


def _as_decimal(source: DataType) -> Callable[[Value], Decimal]:
    if isinstance(source, DecimalType):
        return lambda value: Decimal(*value)
    if source in {FLOAT, DOUBLE}:
        return lambda value: decimal_of_double(value, single=source == FLOAT)
    return lambda value: Decimal(value, 0)


def decimal_of_double(value: float, *, single: bool = False) -> Decimal:
    """Return the decimal with the fewest digits that reads as the double. Raises Overflow."""
    if math.isnan(value) or math.isinf(value):
        message = f"{value} is no decimal"
        raise Overflow(message)
    digits, exponent = shortest_digits(value, single=single)
    sign = -1 if math.copysign(1.0, value) < 0 else 1
    number = sign * int(digits)
    return Decimal(number * 10**exponent, 0) if exponent >= 0 else Decimal(number, -exponent)


def round_decimal(value: Decimal, target: DecimalType) -> Decimal:
    """Return a decimal rounded half up to a type's scale. Raises Overflow if it has too many digits then."""
    number, scale = value
    if scale > target.scale:
        unit = 10 ** (scale - target.scale)
        rounded, rest = divmod(abs(number), unit)
        rounded += 2 * rest >= unit
        number = -rounded if number < 0 else rounded
    else:
        number *= 10 ** (target.scale - scale)
    if abs(number) >= 10**target.precision:
        message = f"{value} does not fit {target}"
        raise Overflow(message)
    return Decimal(number, target.scale)


def _towards_zero(number: int, unit: int) -> int:
    return -(-number // unit) if number < 0 else number // unit


# Texts


def _text_cast(source: DataType, zone: tzinfo) -> Cast:
    match source:
        case DecimalType():
            return decimal_text
        case Primitive("boolean"):
            return lambda value: "true" if value else "false"
        case Primitive("float"):
            return lambda value: double_text(value, single=True)
        case Primitive("double"):
            return double_text
        case Primitive("date"):
            return date_text
        case Primitive("timestamp"):
            return lambda value: timestamp_text(to_local(value, zone))
        case Primitive("timestamp_ntz"):
            return timestamp_text
        case Primitive("binary"):
            return lambda value: value.decode("utf-8", "surrogateescape")
    return str


def decimal_text(value: Value) -> str:
    """Return a decimal as plain digits, or with an exponent instead of many zeros after the point."""
    number = Decimal(*value)
    digits = str(abs(number.unscaled))
    exponent = len(digits) - 1 - number.scale
    if number.scale == 0 or exponent >= -6:
        return str(number)
    sign = "-" if number.unscaled < 0 else ""
    fraction = f".{digits[1:]}" if len(digits) > 1 else ""
    return f"{sign}{digits[0]}{fraction}E{exponent}"


def double_text(value: float, *, single: bool = False) -> str:
    """Return a double as the JVM writes it: plain between a thousandth and ten million, else with an exponent."""
    if math.isnan(value):
        return "NaN"
    sign = "-" if math.copysign(1.0, value) < 0 else ""
    if math.isinf(value):
        return f"{sign}Infinity"
    if value == 0:
        return f"{sign}0.0"
    digits, exponent = shortest_digits(value, single=single)
    if len(digits) == 1 and not single:  # the JVM gives two digits, and then the two that are nearest
        mantissa, _, power = f"{abs(value):.1e}".partition("e")
        digits, exponent = mantissa.replace(".", "").rstrip("0"), int(power)
        exponent -= len(digits) - 1
    point = len(digits) + exponent  # where the decimal point stands, counted from the first digit
    if -3 < point <= 7:
        if point <= 0:
            return f"{sign}0.{'0' * -point}{digits}"
        whole = digits[:point].ljust(point, "0")
        return f"{sign}{whole}.{digits[point:] or '0'}"
    return f"{sign}{digits[0]}.{digits[1:] or '0'}E{point - 1}"


def shortest_digits(value: float, *, single: bool = False) -> tuple[str, int]:
    """Return the fewest significant digits that read as the value, and the power of ten of the last digit."""
    text = next(
        form
        for form in (f"{abs(value):.{places}e}" for places in range(18))
        if (to_single(float(form)) if single else float(form)) == abs(value)
    )
    mantissa, _, power = text.partition("e")
    digits = mantissa.replace(".", "")
    stripped = digits.rstrip("0") or "0"
    return stripped, int(power) - (len(stripped) - 1)


def date_text(days: int) -> str:
    """Return a date in ISO form. Years after 9999 have a sign; the year before 1 is 0."""
    if FIRST_DAY <= days <= LAST_DAY:
        return (EPOCH + timedelta(days=days)).isoformat()
    year, month, day = civil(days)
    sign = "+" if year > 9999 else "-" if year < 0 else ""
    return f"{sign}{abs(year):04}-{month:02}-{day:02}"


def timestamp_text(micros: int) -> str:
    """Return a timestamp in UTC as text, its fraction without trailing zeros."""
    days, rest = divmod(micros, MICROS_A_DAY)
    seconds, fraction = divmod(rest, 1_000_000)
    text = f"{date_text(days)} {seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"
    return f"{text}.{fraction:06}".rstrip("0") if fraction else text


def civil(days: int) -> tuple[int, int, int]:
    """Return year, month and day of any day in the proleptic Gregorian calendar."""
    cycles, _ = divmod(days, 146_097)  # days in 400 years
    moment = date(2000, 1, 1) + timedelta(
        days=days - cycles * 146_097 - (date(2000, 1, 1) - EPOCH).days % 146_097
    )
    shift = (days - (moment - EPOCH).days) // 146_097
    return moment.year + 400 * shift, moment.month, moment.day
