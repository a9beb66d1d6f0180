"""Values that are known to trip a released engine, kept out of half of the histories lest they hide others.

Each trigger belongs to a deviation that stands in `delta_adapters/deviations`. `is_storable` is another matter: no file
system can store some values as the name of a partition's folder, so they are never drawn there.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from delta_models.schema import DOUBLE, STRING, DataType, DecimalType
from delta_models.values import Value

LONGEST_NAME = 200  # bytes of a folder's name: file systems take 255, and the column's name needs some
DIGITS_OF_A_DOUBLE = 15


@dataclass(frozen=True, slots=True)
class Trigger:
    """A kind of value, in a partition column or elsewhere, that is known to trip an engine."""

    name: str
    because: str
    touches: Callable[[DataType, Value, bool], bool]


def _empty_partition_text(data_type: DataType, value: Value, partition: bool) -> bool:
    return partition and data_type == STRING and value == ""


def _negative_decimal_partition(data_type: DataType, value: Value, partition: bool) -> bool:
    return partition and isinstance(data_type, DecimalType) and data_type.scale > 0 and value.unscaled < 0


def _long_decimal(data_type: DataType, value: Value, _: bool) -> bool:
    return isinstance(data_type, DecimalType) and abs(value.unscaled) >= 10**DIGITS_OF_A_DOUBLE


def _long_double(data_type: DataType, value: Value, partition: bool) -> bool:
    if not partition or data_type != DOUBLE or value == 0 or not math.isfinite(value):
        return False
    return abs(math.log10(abs(value))) > LONGEST_NAME


def _nan(data_type: DataType, value: Value, _: bool) -> bool:
    return data_type == DOUBLE and math.isnan(value)


TRIGGERS = (
    Trigger("nan", "statistics without NaN make a file look constant", _nan),
    Trigger(
        "empty-partition-text",
        "filters see an empty partition text as empty, not as null",
        _empty_partition_text,
    ),
    Trigger("negative-decimal-partition", "the fraction gets a sign of its own", _negative_decimal_partition),
    Trigger(
        "long-double-partition", "the name of the folder gets longer than file systems take", _long_double
    ),
    Trigger("long-decimal", "statistics of decimals pass through a double", _long_decimal),
)


def is_known_trigger(data_type: DataType, value: Value, *, partition: bool) -> bool:
    """Whether a value is one that a tame history stays clear of."""
    return value is not None and any(each.touches(data_type, value, partition) for each in TRIGGERS)


def is_storable(data_type: DataType, value: Value, *, partition: bool) -> bool:
    """Whether a value can stand where it is to stand: as a partition's folder its name must not be too long, even if
    every byte but letters and digits takes three."""
    if not partition or data_type != STRING or value is None:
        return True
    return sum(1 if byte < 128 and chr(byte).isalnum() else 3 for byte in value.encode()) <= LONGEST_NAME
