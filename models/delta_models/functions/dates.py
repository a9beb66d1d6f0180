"""Functions of dates, timestamps and times of day. The calendar of a timestamp is that of the session's zone."""

from __future__ import annotations

import calendar
from collections.abc import Callable, Sequence
from datetime import date, timedelta, tzinfo

from delta_models.casts.assignment import MICROS_A_DAY, Overflow, civil
from delta_models.casts.explicit import Unreadable, converter, find_zone, is_time
from delta_models.functions.base import Apply, BadCall, Function, simple
from delta_models.schema import (
    DATE,
    DOUBLE,
    INTEGER,
    LONG,
    STRING,
    TIMESTAMP,
    TIMESTAMP_NTZ,
    DataType,
    DecimalType,
)
from delta_models.time_zones import MICROS_A_SECOND, days_from_civil, to_local, to_utc
from delta_models.values import Decimal, Value

_EPOCH = date(1970, 1, 1)
_MICROS = {
    "MICROSECOND": 1, "MILLISECOND": 1_000, "SECOND": MICROS_A_SECOND, "MINUTE": 60 * MICROS_A_SECOND,
    "HOUR": 3_600 * MICROS_A_SECOND, "DAY": MICROS_A_DAY, "WEEK": 7 * MICROS_A_DAY,
}  # fmt: skip
_MONTHS = {"MONTH": 1, "QUARTER": 3, "YEAR": 12, "DECADE": 120}
_UNITS = {
    "YYYY": "YEAR", "YY": "YEAR", "MON": "MONTH", "MM": "MONTH", "DD": "DAY", "YEARS": "YEAR", "MONTHS": "MONTH",
    "DAYS": "DAY", "HOURS": "HOUR", "MINUTES": "MINUTE", "SECONDS": "SECOND", "WEEKS": "WEEK", "DAYOFMONTH": "DAY",
    "DAYOFYEAR": "DAY",
}  # fmt: skip


def weekday(days: int) -> int:
    """Return the day of the week, 0 for Monday."""
    return (days + 3) % 7


def iso_week(days: int) -> int:
    """Return the week of the year by ISO 8601."""
    thursday = days - weekday(days) + 3
    return (thursday - days_from_civil(civil(thursday)[0], 1, 1)) // 7 + 1


def day_of_year(days: int) -> int:
    """Return the day of the year, counted from 1."""
    return days - days_from_civil(civil(days)[0], 1, 1) + 1


def add_months(days: int, months: int) -> int:
    """Return the same day some months later, or the last day of a month that is too short."""
    year, month, day = civil(days)
    total = year * 12 + month - 1 + months
    year, month = divmod(total, 12)
    return days_from_civil(year, month + 1, min(day, _month_length(year, month + 1)))


def _month_length(year: int, month: int) -> int:
    return calendar.monthrange(year % 400 + 2000, month)[1]


def _last_day(days: int) -> int:
    year, month, _ = civil(days)
    return days_from_civil(year, month, _month_length(year, month))


def truncate_date(days: int, unit: str) -> int | None:
    """Return the first day of the year, quarter, month or week; None for a unit that dates do not have."""
    year, month, _ = civil(days)
    match _UNITS.get(unit.upper(), unit.upper()):
        case "YEAR":
            return days_from_civil(year, 1, 1)
        case "QUARTER":
            return days_from_civil(year, (month - 1) // 3 * 3 + 1, 1)
        case "MONTH":
            return days_from_civil(year, month, 1)
        case "WEEK":
            return days - weekday(days)
    return None


def _date_part(read: Callable[[int], int]) -> Function:
    """A part of the date of a date, a timestamp or its text."""

    def make(types: Sequence[DataType], _result: DataType, zone: tzinfo) -> Apply:
        as_day = converter(types[0], DATE, zone)
        return lambda value: read(as_day(value))

    return Function((None,), lambda _: INTEGER, make)


def _clock_part(size: int, modulus: int) -> Function:
    """A part of the time of day."""

    def make(types: Sequence[DataType], _result: DataType, zone: tzinfo) -> Apply:
        local = _local_clock(types[0], zone)
        return lambda value: local(value) % MICROS_A_DAY // size % modulus

    return Function((None,), lambda _: INTEGER, make)


def _local_clock(data_type: DataType, zone: tzinfo) -> Callable[[Value], int]:
    if is_time(data_type) or data_type == TIMESTAMP_NTZ:
        return lambda value: value
    to_instant = converter(data_type, TIMESTAMP, zone)
    return lambda value: to_local(to_instant(value), zone)


def _date_trunc(types: Sequence[DataType], result: DataType, zone: tzinfo) -> Apply:
    instant = result == TIMESTAMP
    convert = converter(types[1], result, zone)

    def apply(unit: str, value: Value) -> Value:
        moment = convert(value)
        local = to_local(moment, zone) if instant else moment
        name = _UNITS.get(unit.upper(), unit.upper())
        if name in _MICROS and name != "WEEK":
            cut = local - local % _MICROS[name]
        else:
            day = truncate_date(local // MICROS_A_DAY, name)
            if day is None:
                return None
            cut = day * MICROS_A_DAY
        return to_utc(cut, zone) if instant else cut

    return apply


def _trunc_type(types: Sequence[DataType]) -> DataType:
    return TIMESTAMP_NTZ if types[1] == TIMESTAMP_NTZ else TIMESTAMP


def _move_function(unit: str, sign: int = 1) -> Function:
    """A function that moves a date or timestamp by so many units."""

    def make(types: Sequence[DataType], result: DataType, zone: tzinfo) -> Apply:
        convert = converter(types[0], result, zone)
        return lambda value, count: move(convert(value), result, unit, sign * count, zone)

    return Function((None, None), lambda types: _move_type(types[0], unit), make)


def _move_type(source: DataType, unit: str) -> DataType:
    if source in {TIMESTAMP, TIMESTAMP_NTZ}:
        return source
    return DATE if unit in _MONTHS or unit in {"DAY", "WEEK"} else TIMESTAMP


def move(value: int, data_type: DataType, unit: str, count: int, zone: tzinfo) -> int:
    """Return a date or timestamp so many units later.

    Days and months move by the local calendar, hours and smaller units by the clock.
    """
    if data_type == DATE:
        if unit in _MONTHS:
            return add_months(value, count * _MONTHS[unit])
        return value + count * _MICROS[unit] // MICROS_A_DAY
    if unit in {"HOUR", "MINUTE", "SECOND", "MILLISECOND", "MICROSECOND"}:
        return value + count * _MICROS[unit]
    local = to_local(value, zone) if data_type == TIMESTAMP else value
    if unit in _MONTHS:
        days, clock = divmod(local, MICROS_A_DAY)
        local = add_months(days, count * _MONTHS[unit]) * MICROS_A_DAY + clock
    else:
        local += count * _MICROS[unit]
    return to_utc(local, zone) if data_type == TIMESTAMP else local


def _make_date(year: int, month: int, day: int) -> int:
    try:
        return days_from_civil(year, month, day)
    except ValueError as error:
        raise Unreadable(f"{year}-{month}-{day} is no date") from error


def _months_between(types: Sequence[DataType], _result: DataType, zone: tzinfo) -> Apply:
    first, second = (converter(data_type, TIMESTAMP, zone) for data_type in types[:2])

    def apply(left: Value, right: Value) -> float:
        mine, its = to_local(first(left), zone), to_local(second(right), zone)
        (days, clock), (other_days, other_clock) = divmod(mine, MICROS_A_DAY), divmod(its, MICROS_A_DAY)
        (year, month, day), (other_year, other_month, other_day) = civil(days), civil(other_days)
        months = (year - other_year) * 12 + month - other_month
        ends = day == _month_length(year, month) and other_day == _month_length(other_year, other_month)
        if day == other_day or ends:
            return float(months)
        seconds = (day - other_day) * 86_400 + (clock - other_clock) / MICROS_A_SECOND
        return round(months + seconds / (31 * 86_400), 8)

    return apply


_WEEKDAYS = ("MO", "TU", "WE", "TH", "FR", "SA", "SU")


def _next_day(days: int, name: str) -> int:
    key = name.strip().upper()[:2]
    if key not in _WEEKDAYS:
        raise Unreadable(f"{name!r} is no day of the week")
    return days + (_WEEKDAYS.index(key) - weekday(days) - 1) % 7 + 1


def _seconds_of(types: Sequence[DataType], _result: DataType, zone: tzinfo) -> Apply:
    convert = converter(types[0], TIMESTAMP, zone)
    return lambda value, _format=None: convert(value) // MICROS_A_SECOND


_PATTERNS: dict[str, Callable[[int, int], str]] = {
    "yyyy": lambda day, _: f"{civil(day)[0]:04}", "yy": lambda day, _: f"{civil(day)[0] % 100:02}",
    "MM": lambda day, _: f"{civil(day)[1]:02}", "M": lambda day, _: str(civil(day)[1]),
    "dd": lambda day, _: f"{civil(day)[2]:02}", "d": lambda day, _: str(civil(day)[2]),
    "HH": lambda _, clock: f"{clock // 3_600_000_000:02}", "H": lambda _, clock: str(clock // 3_600_000_000),
    "mm": lambda _, clock: f"{clock // 60_000_000 % 60:02}", "ss": lambda _, clock: f"{clock // 1_000_000 % 60:02}",
    "SSS": lambda _, clock: f"{clock // 1_000 % 1_000:03}", "SSSSSS": lambda _, clock: f"{clock % 1_000_000:06}",
    "EEEE": lambda day, _: (_EPOCH + timedelta(days=day)).strftime("%A"),
    "E": lambda day, _: (_EPOCH + timedelta(days=day)).strftime("%a"),
    "MMMM": lambda day, _: calendar.month_name[civil(day)[1]],
    "MMM": lambda day, _: calendar.month_abbr[civil(day)[1]],
}  # fmt: skip


def _date_format(types: Sequence[DataType], _result: DataType, zone: tzinfo) -> Apply:
    local = _local_clock(types[0], zone)
    return lambda value, pattern: format_local(local(value), pattern)


def format_local(micros: int, pattern: str) -> str:
    """Return local microseconds formatted by a pattern of Java's letters. Raises BadCall for unknown letters."""
    day, clock = divmod(micros, MICROS_A_DAY)
    text, position = "", 0
    while position < len(pattern):
        character = pattern[position]
        if character == "'":
            end = pattern.find("'", position + 1)
            text, position = text + (pattern[position + 1 : end] or "'"), end + 1
        elif character.isalpha():
            run = len(pattern[position:]) - len(pattern[position:].lstrip(character))
            letters = pattern[position : position + run]
            part = _PATTERNS.get("yyyy" if letters == "y" else letters)
            if part is None:
                raise BadCall(f"date_format knows no {letters!r}")
            text, position = text + part(day, clock), position + run
        else:
            text, position = text + character, position + 1
    return text


def _seconds_with_fraction(types: Sequence[DataType], _result: DataType, zone: tzinfo) -> Apply:
    local = _local_clock(types[0], zone)
    return lambda value: Decimal(local(value) % (60 * MICROS_A_SECOND), 6)


def _checked_days(value: int) -> int:
    if not -(1 << 31) <= value < 1 << 31:
        raise Overflow(f"{value} is no day")
    return value


def _cast_to(target: DataType) -> Function:
    def make(types: Sequence[DataType], _result: DataType, zone: tzinfo) -> Apply:
        return converter(types[0], target, zone)

    return Function((None,), lambda _: target, make)


def _from_unix(unit: int) -> Function:
    return simple((LONG,), TIMESTAMP, lambda value: value * unit)


def _utc_shift(convert: Callable[[int, tzinfo], int]) -> Apply:
    return lambda value, name: convert(value, find_zone(name))


FUNCTIONS: dict[str, Function] = {
    "year": _date_part(lambda day: civil(day)[0]),
    "quarter": _date_part(lambda day: (civil(day)[1] + 2) // 3),
    "month": _date_part(lambda day: civil(day)[1]),
    "day": _date_part(lambda day: civil(day)[2]),
    "dayofmonth": _date_part(lambda day: civil(day)[2]),
    "dayofweek": _date_part(lambda day: (day + 4) % 7 + 1),
    "weekday": _date_part(weekday),
    "dayofyear": _date_part(day_of_year),
    "weekofyear": _date_part(iso_week),
    "week": _date_part(iso_week),
    "yearofweek": _date_part(lambda day: civil(day - weekday(day) + 3)[0]),
    "hour": _clock_part(3_600 * MICROS_A_SECOND, 24),
    "minute": _clock_part(60 * MICROS_A_SECOND, 60),
    "second": _clock_part(MICROS_A_SECOND, 60),
    "second_with_fraction": Function((None,), lambda _: DecimalType(8, 6), _seconds_with_fraction),
    "date_add": simple((DATE, INTEGER), DATE, lambda day, count: _checked_days(day + count)),
    "dateadd": simple((DATE, INTEGER), DATE, lambda day, count: _checked_days(day + count)),
    "date_sub": simple((DATE, INTEGER), DATE, lambda day, count: _checked_days(day - count)),
    "datediff": simple((DATE, DATE), INTEGER, lambda end, start: end - start),
    "date_diff": simple((DATE, DATE), INTEGER, lambda end, start: end - start),
    "add_months": simple((DATE, INTEGER), DATE, add_months),
    "months_between": Function((None, None), lambda _: DOUBLE, _months_between),
    "last_day": simple((DATE,), DATE, _last_day),
    "next_day": simple((DATE, STRING), DATE, _next_day),
    "trunc": simple((DATE, STRING), DATE, truncate_date),
    "date_trunc": Function((STRING, None), _trunc_type, _date_trunc),
    "date_format": Function((None, STRING), lambda _: STRING, _date_format),
    "make_date": simple((INTEGER, INTEGER, INTEGER), DATE, _make_date),
    "to_date": _cast_to(DATE),
    "date": _cast_to(DATE),
    "to_timestamp": _cast_to(TIMESTAMP),
    "timestamp": _cast_to(TIMESTAMP),
    "to_timestamp_ltz": _cast_to(TIMESTAMP),
    "to_timestamp_ntz": _cast_to(TIMESTAMP_NTZ),
    "unix_timestamp": Function((None,), lambda _: LONG, _seconds_of),
    "to_unix_timestamp": Function((None,), lambda _: LONG, _seconds_of),
    "unix_date": simple((DATE,), INTEGER, lambda day: day),
    "date_from_unix_date": simple((INTEGER,), DATE, lambda day: day),
    "unix_seconds": simple((TIMESTAMP,), LONG, lambda value: value // MICROS_A_SECOND),
    "unix_millis": simple((TIMESTAMP,), LONG, lambda value: value // 1_000),
    "unix_micros": simple((TIMESTAMP,), LONG, lambda value: value),
    "timestamp_seconds": _from_unix(MICROS_A_SECOND),
    "timestamp_millis": _from_unix(1_000),
    "timestamp_micros": _from_unix(1),
    "from_utc_timestamp": simple((TIMESTAMP, STRING), TIMESTAMP, _utc_shift(to_local)),
    "to_utc_timestamp": simple((TIMESTAMP, STRING), TIMESTAMP, _utc_shift(to_utc)),
    **{f"add_{unit.lower()}": _move_function(unit) for unit in (*_MICROS, *_MONTHS)},
}
INTERVAL_UNITS = frozenset({*_MICROS, *_MONTHS})


def find_unit(word: str) -> str:
    """Return the unit that a word means, `DAY` for `days`; an unknown word in capitals."""
    return _UNITS.get(word.upper(), word.upper())
