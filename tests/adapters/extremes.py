"""Values at the limits of each type, which a literal must express exactly."""

from __future__ import annotations

import math

from delta_models.schema import (
    BOOLEAN,
    BYTE,
    DATE,
    DOUBLE,
    FLOAT,
    INTEGER,
    LONG,
    SHORT,
    STRING,
    TIMESTAMP,
    TIMESTAMP_NTZ,
    DataType,
    DecimalType,
)
from delta_models.values import Decimal, Value, to_single

FIRST_DAY, LAST_DAY = -719_162, 2_932_896
DAY = 86_400_000_000
DAYS = (FIRST_DAY, -141_428, -141_427, -1, 0, 18_262, LAST_DAY)
MICROS = (
    FIRST_DAY * DAY,
    -12_219_292_800_000_001,
    -1,
    0,
    1,
    1_577_836_800_123_456,
    9_223_372_036_854_775,
    (LAST_DAY + 1) * DAY - 1,
)


def _bits(size: int) -> tuple[int, ...]:
    return (-(2 ** (size - 1)), -1, 0, 1, 2 ** (size - 1) - 1)


def _decimals(precision: int, scale: int) -> tuple[Decimal, ...]:
    largest = 10**precision - 1
    return tuple(Decimal(unscaled, scale) for unscaled in (-largest, -1, 0, 1, largest // 3, largest))


EXTREMES: dict[DataType, tuple[Value, ...]] = {
    BYTE: _bits(8),
    SHORT: _bits(16),
    INTEGER: _bits(32),
    LONG: (*_bits(64), 2**53 + 1),
    FLOAT: (-math.inf, to_single(-3.4028234663852886e38), 0.0, to_single(1.4e-45), to_single(0.1), math.inf, math.nan),
    DOUBLE: (
        -math.inf, -1.7976931348623157e308, -0.1, 0.0, 5e-324, 2.2250738585072014e-308, 0.1, 1 / 3, 1e23, math.inf,
        math.nan,
    ),
    STRING: (
        "", " ", "'", "''", '"', "\\", "\\'", "a\nb\tc\r", "%_", "a/b=c&d?e#f", "100%25", "é😀\u202e", "null", "x" * 40,
        "NaN", "$1 ${a} :b ?", "--", "/* */", ";", "__HIVE_DEFAULT_PARTITION__",
    ),
    BOOLEAN: (True, False),
    DATE: DAYS,
    TIMESTAMP: MICROS,
    TIMESTAMP_NTZ: MICROS,
    DecimalType(5, 2): _decimals(5, 2),
    DecimalType(18, 0): _decimals(18, 0),
    DecimalType(38, 0): _decimals(38, 0),
    DecimalType(38, 10): _decimals(38, 10),
    DecimalType(38, 38): _decimals(38, 38),
}  # fmt: skip
