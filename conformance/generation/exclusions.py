"""Which values may not be drawn: those that no file system stores, and, in tame histories, those that are known to trip
a released engine, lest they hide others. What trips one stands in `delta_adapters.deviations.triggers`.
"""

from __future__ import annotations

from delta_adapters.deviations.predicates import LONGEST_NAME
from delta_adapters.deviations.triggers import partition_name_trigger, value_trigger
from delta_models.schema import STRING, DataType
from delta_models.values import Value


def is_known_trigger(data_type: DataType, value: Value, *, partition: bool) -> bool:
    """Whether a value is one that a tame history stays clear of."""
    return value_trigger(data_type, value, partition=partition) is not None


def is_known_name(name: str) -> bool:
    """Whether the name of a partition column is one that a tame history stays clear of."""
    return partition_name_trigger(name) is not None


def is_storable(data_type: DataType, value: Value, *, partition: bool) -> bool:
    """Whether a value can stand where it is to stand: as a partition's folder its name must not be too long, even if
    every byte but letters and digits takes three."""
    if not partition or data_type != STRING or value is None:
        return True
    return sum(1 if byte < 128 and chr(byte).isalnum() else 3 for byte in value.encode()) <= LONGEST_NAME
