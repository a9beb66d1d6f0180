"""Parse partition values, which are strings in the log.

See the protocol's section "Partition Value Serialization".
"""

from __future__ import annotations

import math
import re
from datetime import UTC, tzinfo
from fractions import Fraction

from delta_models.schema import DataType, DecimalType, Primitive
from delta_models.time_zones import MICROS_A_DAY, days_from_civil, to_utc
from delta_models.values import Decimal, Value, parse_decimal, to_single

_DATE = re.compile(r"([+-]?\d{1,})-(\d{1,2})-(\d{1,2})")
_TIME = re.compile(r"(\d{1,2}):(\d{1,2}):(\d{1,2})(?:\.(\d{1,9}))?")
_OFFSET = re.compile(r"([+-])(\d{1,2}):?(\d{2})")
_INTERVAL = re.compile(r"INTERVAL\s+([+-]?)'([+-]?)([\d:. -]+)'\s+([A-Z]+(?: TO [A-Z]+)?)", re.IGNORECASE)
_SIZES = (
    ("YEAR", 12),
    ("MONTH", 1),
    ("DAY", MICROS_A_DAY),
    ("HOUR", 3_600_000_000),
    ("MINUTE", 60_000_000),
    ("SECOND", 1_000_000),
)
_UNITS = [unit for unit, _ in _SIZES]
_LIMITS = {"byte": 7, "short": 15, "integer": 31, "long": 63}
_SPECIAL = {"nan": math.nan, "infinity": math.inf, "-infinity": -math.inf, "inf": math.inf, "-inf": -math.inf}


def parse_partition_value(data_type: DataType, text: str | None, zone: tzinfo = UTC) -> Value:
    """Return the value that a partition column has in every row of a file. Raises ValueError.

    The empty string is null for every type. A timestamp without an offset is local time of the writer's `zone`.
    """
    if text is None or text == "":
        return None
    match data_type:
        case Primitive(name="string"):
            return text
        case Primitive(name="byte" | "short" | "integer" | "long" as name):
            return _whole(text, _LIMITS[name])
        case Primitive(name="boolean"):
            return _boolean(text)
        case Primitive(name="double"):
            return _floating(text)
        case Primitive(name="float"):
            return to_single(_floating(text))
        case Primitive(name="date"):
            return parse_date(text)
        case Primitive(name="timestamp"):
            return parse_timestamp(text, zone)
        case Primitive(name="timestamp_ntz"):
            return parse_timestamp(text, None)
        case Primitive(name="binary"):
            return _binary(text)
        case DecimalType():
            return _decimal(text, data_type)
        case Primitive(name=name) if name.startswith("interval "):
            return parse_interval(text)
    raise ValueError(f"a column of type {data_type} cannot partition a table")


def parse_date(text: str) -> int:
    """Return the days since the epoch of `2024-02-29`, `-0044-03-15` or `+12024-01-01`. Raises ValueError."""
    match = _DATE.fullmatch(text.strip())
    if not match:
        raise ValueError(f"not a date: {text!r}")
    return days_from_civil(int(match[1]), int(match[2]), int(match[3]))


def parse_timestamp(text: str, zone: tzinfo | None) -> int:
    """Return the microseconds of `2024-02-29 12:00:00.5`, or of an instant `2024-02-29T12:00:00.5Z`.

    A text without an offset is local time of `zone`. Without `zone`, the result is local microseconds (timestamp_ntz).
    Raises ValueError.
    """
    stripped = text.strip()
    day, separator, clock = stripped.partition("T" if "T" in stripped else " ")
    micros = parse_date(day) * MICROS_A_DAY
    if not separator:
        return micros if zone is None else to_utc(micros, zone)
    clock, offset = _split_offset(clock)
    match = _TIME.fullmatch(clock)
    if not match or int(match[1]) > 23 or int(match[2]) > 59 or int(match[3]) > 59:
        raise ValueError(f"not a timestamp: {text!r}")
    seconds = int(match[1]) * 3600 + int(match[2]) * 60 + int(match[3])
    micros += seconds * 1_000_000 + int((match[4] or "0").ljust(6, "0")[:6])
    if offset is not None:
        return micros - offset
    return micros if zone is None else to_utc(micros, zone)


def parse_interval(text: str) -> int:
    """Return the months or microseconds of an interval. Raises ValueError.

    `INTERVAL '1-6' YEAR TO MONTH` has months, `INTERVAL '1 02:03:04.5' DAY TO SECOND` microseconds.
    """
    match = _INTERVAL.fullmatch(text.strip())
    if not match:
        raise ValueError(f"not an interval: {text!r}")
    sign = -1 if (match[1] == "-") != (match[2] == "-") else 1
    numbers, units = re.split(r"[-: ]", match[3]), match[4].upper().split(" TO ")
    first = _UNITS.index(units[0])
    total = Fraction(0)
    for number, (_, size) in zip(numbers, _SIZES[first:], strict=False):
        total += Fraction(number) * size
    return sign * int(total)


def _split_offset(clock: str) -> tuple[str, int | None]:
    if clock.endswith("Z"):
        return clock[:-1], 0
    for position, character in enumerate(clock):
        if character in "+-":
            match = _OFFSET.fullmatch(clock[position:])
            if not match:
                raise ValueError(f"not an offset: {clock[position:]!r}")
            minutes = int(match[2]) * 60 + int(match[3])
            return clock[:position], (-minutes if match[1] == "-" else minutes) * 60_000_000
    return clock, None


def _whole(text: str, bits: int) -> int:
    value = int(text)
    if not -(1 << bits) <= value < 1 << bits:
        raise ValueError(f"{text} does not fit {bits + 1} bits")
    return value


def _boolean(text: str) -> bool:
    if text.lower() in {"true", "false"}:
        return text.lower() == "true"
    raise ValueError(f"not a boolean: {text!r}")


def _floating(text: str) -> float:
    special = _SPECIAL.get(text.lower())
    return float(text) if special is None else special


def _binary(text: str) -> bytes:
    """The bytes that the characters of an escaped string mean."""
    return text.encode("utf-8", "surrogateescape")


def _decimal(text: str, data_type: DecimalType) -> Decimal:
    mantissa, _, exponent = text.strip().upper().partition("E")
    parsed = parse_decimal(mantissa.removeprefix("+"))
    if exponent:
        shift = parsed.scale - int(exponent)
        parsed = Decimal(parsed.unscaled * 10 ** max(0, -shift), max(0, shift))
    fitted = parsed.at_scale(data_type.scale)
    if abs(fitted.unscaled) >= 10**data_type.precision:
        raise ValueError(f"{text} does not fit {data_type}")
    return fitted
