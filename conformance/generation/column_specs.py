"""Which values a column may hold. Some are excluded: those that no file system stores, and known triggers.

A known trigger is a value that trips a released engine. In tame histories it would hide other differences. The triggers
stand in `delta_adapters.deviations.triggers`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from conformance.generation.choices import Choices
from conformance.generation.values.complex import far_values, plain_values, special_values
from delta_adapters.deviations.predicates import LONGEST_NAME
from delta_adapters.deviations.triggers import partition_name_trigger, value_trigger
from delta_models.schema import STRING, DataType
from delta_models.values import Value

POOL_SIZES = (3, 4, 5, 2)
FAR_TO_OTHERS = 3  # how much likelier a far value is than another special one


@dataclass(frozen=True, slots=True)
class ColumnSpec:
    """The values that a column may hold, by its type and by what is drawn for its table."""

    type: DataType
    partition: bool
    strange: bool = False
    hostile: bool = False
    tame: bool = False
    limit: int | None = None  # of code points
    far: bool = False

    def admits(self, value: Value) -> bool:
        """Whether a value may be drawn for the column."""
        if not is_storable(self.type, value, partition=self.partition):
            return False
        if self.limit is not None and value is not None and len(value) > self.limit:
            return False
        return not (self.tame and is_known_trigger(self.type, value, partition=self.partition))


def is_known_trigger(data_type: DataType, value: Value, *, partition: bool) -> bool:
    """Whether tame histories leave a value out."""
    return value_trigger(data_type, value, partition=partition) is not None


def is_known_name(name: str) -> bool:
    """Whether tame histories leave a name of a partition column out."""
    return partition_name_trigger(name) is not None


def is_storable(data_type: DataType, value: Value, *, partition: bool) -> bool:
    """Whether file systems can store a value.

    As the name of a partition's folder it must not be too long, even if each byte but letters and digits takes three.
    """
    if not partition or data_type != STRING or value is None:
        return True
    return sum(1 if byte < 128 and chr(byte).isalnum() else 3 for byte in value.encode()) <= LONGEST_NAME


@lru_cache(maxsize=1024)
def every_value(spec: ColumnSpec) -> tuple[Value, ...]:
    """Return all values that may be drawn for a column, the plain ones first."""
    return _plain(spec) + _special(spec)


def draw_pool(choices: Choices, spec: ColumnSpec) -> tuple[Value, ...]:
    """Draw the few values of which most rows of a column are made."""
    plain = plain_values(spec.type)
    special = _special(spec)
    size = choices.pick(POOL_SIZES)
    chosen = choices.some(plain, max(1, size // 2)) + choices.some(special, size - size // 2)
    return tuple({repr(value): value for value in chosen}.values())


def default_pool(spec: ColumnSpec) -> tuple[Value, ...]:
    """Return a pool for a column that came after the shape was drawn."""
    return _plain(spec)[:3] + _special(spec)[:1]


def _plain(spec: ColumnSpec) -> tuple[Value, ...]:
    return tuple(filter(spec.admits, plain_values(spec.type)))


@lru_cache(maxsize=1024)
def _special(spec: ColumnSpec) -> tuple[Value, ...]:
    values = special_values(spec.type, strange=spec.strange, hostile=spec.hostile)
    if spec.far:
        values = far_values(spec.type) * FAR_TO_OTHERS + values
    return tuple(filter(spec.admits, values))
