"""Convert partition values and paths between Python and the texts in the log; null is stored as null or an empty text.

`serialize` and `parse` take single values, `parse_column` takes many files at once. Tables may have dates and times
outside of Python's years 1 to 9999. `internal` returns them as numbers, as Spark does: days and microseconds.
"""

from __future__ import annotations

import datetime as dt
import math
import re
from collections.abc import Iterable, Mapping
from decimal import Decimal, InvalidOperation
from typing import Any, TypeAlias
from urllib.parse import quote, unquote
from zoneinfo import ZoneInfo

import pyarrow as pa
from pyspark.sql.types import (
    BinaryType,
    BooleanType,
    ByteType,
    DataType,
    DateType,
    DecimalType,
    DoubleType,
    FloatType,
    IntegerType,
    LongType,
    ShortType,
    StringType,
    TimestampNTZType,
    TimestampType,
)

from pyspark_delta.exceptions import CorruptLog, InvalidArgument

__all__ = [
    "HIVE_NULL",
    "Internal",
    "absolute_path",
    "arrow_type",
    "decode_path",
    "encode_path",
    "hive_path",
    "internal",
    "is_absolute",
    "parse",
    "parse_column",
    "serialize",
    "zone_for",
]

Internal: TypeAlias = "int | float | bool | str | bytes | Decimal"

HIVE_NULL = "__HIVE_DEFAULT_PARTITION__"

_EPOCH = dt.datetime(1970, 1, 1)  # noqa: DTZ001 - a wall clock without a zone
_EPOCH_UTC = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
_EPOCH_DAY = dt.date(1970, 1, 1).toordinal()
_MICROSECOND = dt.timedelta(microseconds=1)
_DAY_US = 86_400_000_000

_INTEGERS = {ByteType: pa.int8(), ShortType: pa.int16(), IntegerType: pa.int32(), LongType: pa.int64()}
_TIME = re.compile(
    r"(?P<date>[+-]?\d+-\d{1,2}-\d{1,2})"
    r"(?:[ T](?P<h>\d{1,2}):(?P<m>\d{1,2})(?::(?P<s>\d{1,2})(?:\.(?P<f>\d{1,9}))?)?)?"
    r"\s*(?P<zone>Z|UTC|[+-]\d{1,2}(?::?\d{2}(?::?\d{2})?)?)?",
    re.ASCII,
)
_DATE = re.compile(r"(?P<y>[+-]?\d+)-(?P<m>\d{1,2})-(?P<d>\d{1,2})", re.ASCII)


def serialize(value: Any, data_type: DataType) -> str | None:
    """The text for the log of a Python value as Spark returns it; times are converted to UTC."""
    if value is None:
        return None
    if isinstance(data_type, BooleanType):
        return "true" if value else "false"
    if isinstance(data_type, FloatType | DoubleType):
        return _float_text(float(value))
    if isinstance(data_type, TimestampType):
        moment = value.astimezone(dt.UTC) if value.tzinfo else value.replace(tzinfo=dt.UTC)
        return f"{_wall(moment.replace(tzinfo=None), 'T')}Z"
    if isinstance(data_type, TimestampNTZType):
        return _wall(value, " ")
    if isinstance(data_type, DateType):
        return f"{value.year:04d}-{value.month:02d}-{value.day:02d}"
    if isinstance(data_type, DecimalType):
        return format(value, "f")
    if isinstance(data_type, BinaryType):
        try:
            return bytes(value).decode() or None
        except UnicodeDecodeError:
            raise InvalidArgument(
                f"the partition value {bytes(value)!r} is no UTF-8 text, which the log could not give back",
                "Partition by another column, or by a text of this one (hex, base64).",
            ) from None
    return str(value) or None


def zone_for(spark: Any, columns: Iterable[DataType]) -> str:
    """The time zone for times without one: the session's, as delta-spark reads them."""
    if spark is None or not any(isinstance(column, TimestampType) for column in columns):
        return "UTC"
    return str(spark.conf.get("spark.sql.session.timeZone"))


def parse(text: str | None, data_type: DataType, zone: str = "UTC") -> Any:
    """The Python value of a partition value, as Spark's `collect` would return it; times are in UTC."""
    value = internal(text, data_type, zone)
    if value is None:
        return None
    try:
        if isinstance(data_type, DateType):
            return dt.date.fromordinal(_EPOCH_DAY + int(value))
        if isinstance(data_type, TimestampType):
            return _EPOCH_UTC + dt.timedelta(microseconds=int(value))
        if isinstance(data_type, TimestampNTZType):
            return _EPOCH + dt.timedelta(microseconds=int(value))
    except (OverflowError, ValueError):
        raise InvalidArgument(
            f"the partition value {text!r} is beyond what a Python {data_type.typeName()} can hold",
            "Read it through Spark, or filter by another value.",
        ) from None
    return value


def internal(text: str | None, data_type: DataType, zone: str = "UTC") -> Internal | None:
    """The value in a form that compares as SQL compares: days, microseconds, numbers, text, bytes."""
    if text is None or text == "":
        return None
    try:
        return _internal(text, data_type, zone)
    except (ValueError, InvalidOperation, OverflowError):
        raise CorruptLog(
            f"the log has the partition value {text!r}, which is no {data_type.simpleString()}"
        ) from None


def parse_column(texts: pa.Array | pa.ChunkedArray, data_type: DataType, zone: str = "UTC") -> pa.Array:
    """Many partition values as one Arrow array of the column's type."""
    encoded = (texts.combine_chunks() if isinstance(texts, pa.ChunkedArray) else texts).dictionary_encode()
    values = [internal(text, data_type, zone) for text in encoded.dictionary.to_pylist()]
    target = arrow_type(data_type)
    if isinstance(data_type, DateType):
        parsed = pa.array(values, pa.int32()).cast(target)
    elif isinstance(data_type, TimestampType | TimestampNTZType):
        parsed = pa.array(values, pa.int64()).cast(target)
    else:
        parsed = pa.array(values, target)
    return parsed.take(encoded.indices)


def arrow_type(data_type: DataType) -> pa.DataType:
    """The Arrow type of a partition column."""
    if type(data_type) in _INTEGERS:
        return _INTEGERS[type(data_type)]
    if isinstance(data_type, DecimalType):
        return pa.decimal128(data_type.precision, data_type.scale)
    simple: tuple[tuple[type[DataType], pa.DataType], ...] = (
        (BooleanType, pa.bool_()),
        (FloatType, pa.float32()),
        (DoubleType, pa.float64()),
        (DateType, pa.date32()),
        (TimestampType, pa.timestamp("us", "UTC")),
        (TimestampNTZType, pa.timestamp("us")),
        (BinaryType, pa.binary()),
        (StringType, pa.string()),
    )
    for kind, arrow in simple:
        if isinstance(data_type, kind):
            return arrow
    raise InvalidArgument(f"a column of type {data_type.simpleString()} can't have partition values")


def hive_path(values: Mapping[str, str | None]) -> str:
    """The folders of a partition, such as `a=1/b=x`, escaped as Hive does; empty without partitioning."""
    return "/".join(
        f"{_folder(name)}={_folder(text) if text else HIVE_NULL}" for name, text in values.items()
    )


def encode_path(path: str) -> str:
    """The path as the log writes it: a relative URI, or an absolute one."""
    if is_absolute(path) and not path.startswith("/"):
        return path
    return quote(path, safe="/-_.!~*'()@&=+$,", errors="surrogateescape")


def decode_path(path: str) -> str:
    """The file system path of an action's path; a relative path stays relative."""
    if path.startswith("file:"):
        path = re.sub(r"^file:/*", "/", path)
    return unquote(path, errors="surrogateescape") if "%" in path else path


def is_absolute(path: str) -> bool:
    """Whether a path of the log does not depend on the table's folder."""
    return path.startswith("/") or _SCHEME.match(path) is not None


def absolute_path(path: str, root: str) -> str:
    """The absolute, decoded path of an action's file; relative paths are below `root`."""
    decoded = decode_path(path)
    return decoded if is_absolute(path) else f"{root}/{decoded}"


_SCHEME = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*:/")
# The characters that Spark and Hive write as %XX in a partition's folder name, and NUL, which file systems forbid.
_ESCAPED = re.compile("[\x00-\x1f\x7f\"#%'*/:=?\\\\{\\[\\]^]")


def _folder(text: str) -> str:
    return _ESCAPED.sub(lambda match: f"%{ord(match.group()):02X}", text)


def _internal(text: str, data_type: DataType, zone: str) -> Internal:
    if type(data_type) in _INTEGERS:
        return int(text)
    if isinstance(data_type, BooleanType):
        return _boolean(text)
    if isinstance(data_type, FloatType | DoubleType):
        return float(text)
    if isinstance(data_type, DecimalType):
        return Decimal(text)
    if isinstance(data_type, DateType):
        match = _TIME.fullmatch(text.strip())
        if match is None:
            raise ValueError(text)
        return _days(match["date"])
    if isinstance(data_type, TimestampType):
        return _micros(text, zone)
    if isinstance(data_type, TimestampNTZType):
        return _micros(text, None)
    if isinstance(data_type, BinaryType):
        return text.encode()
    return text


def _boolean(text: str) -> bool:
    folded = text.strip().lower()
    if folded in {"true", "t", "yes", "y", "1"}:
        return True
    if folded in {"false", "f", "no", "n", "0"}:
        return False
    raise ValueError(text)


def _days(text: str) -> int:
    match = _DATE.fullmatch(text)
    if match is None:
        raise ValueError(text)
    year, month, day = int(match["y"]), int(match["m"]), int(match["d"])
    # The Gregorian calendar repeats after 400 years of 146,097 days, so any year maps to one that Python knows.
    shift = (year - 2000) // 400
    return dt.date(year - 400 * shift, month, day).toordinal() + 146_097 * shift - _EPOCH_DAY


def _micros(text: str, zone: str | None) -> int:
    match = _TIME.fullmatch(text.strip())
    if match is None:
        raise ValueError(text)
    fraction = int((match["f"] or "0").ljust(6, "0")[:6])
    hour, minute, second = int(match["h"] or 0), int(match["m"] or 0), int(match["s"] or 0)
    if hour > 23 or minute > 59 or second > 59:
        raise ValueError(text)
    days = _days(match["date"])
    local = days * _DAY_US + ((hour * 60 + minute) * 60 + second) * 1_000_000 + fraction
    if zone is None:
        return local
    offset = match["zone"]
    if offset in {"Z", "UTC"} or (offset is None and zone.upper() in {"UTC", "Z", "ETC/UTC"}):
        return local
    if offset is not None:
        return local - _offset_us(offset)
    try:
        wall = _EPOCH + dt.timedelta(microseconds=local)
        return (wall.replace(tzinfo=_zone(zone)) - _EPOCH_UTC) // _MICROSECOND
    except OverflowError:
        return local


def _zone(name: str) -> dt.tzinfo:
    """The time zone for a name that Spark's session accepts: one of the tz database, or an offset."""
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        offset = re.fullmatch(r"(?:UTC|GMT|UT)?([+-]\d{1,2}(?::?\d{2}(?::?\d{2})?)?)", name.strip())
        if offset is None:
            raise InvalidArgument(f"there is no time zone {name!r}") from None
        return dt.timezone(dt.timedelta(microseconds=_offset_us(offset[1])))


def _offset_us(text: str) -> int:
    digits = text[1:].replace(":", "")
    if len(digits) <= 2:
        digits = digits.zfill(2)
    digits = digits.ljust(6, "0")
    seconds = int(digits[:2]) * 3600 + int(digits[2:4]) * 60 + int(digits[4:6])
    return (-seconds if text[0] == "-" else seconds) * 1_000_000


def _wall(moment: dt.datetime, between: str) -> str:
    return (
        f"{moment.year:04d}-{moment.month:02d}-{moment.day:02d}{between}"
        f"{moment.hour:02d}:{moment.minute:02d}:{moment.second:02d}.{moment.microsecond:06d}"
    )


def _float_text(value: float) -> str:
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    return repr(value)
