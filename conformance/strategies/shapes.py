"""The shape of a history's table: columns, partitioning, properties, pools of values, and what may happen to it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from conformance.strategies.dice import Dice
from conformance.strategies.guards import is_known_trigger, is_storable
from conformance.strategies.profiles import PROFILES, Profile, Weights
from conformance.strategies.values import plain_values, special_values
from delta_models.operations import Properties
from delta_models.schema import DOUBLE, DataType, Field, Struct
from delta_models.values import Value

NAMES = ("id", "name", "part", "num", "when", "note")
ODD_NAMES = ("select", "Übergröße", "ID2", "a-b", "_x", "0a", "日付", "from")
POOL_SIZES = (3, 4, 5, 2)


@dataclass(frozen=True, slots=True)
class Kind:
    """What values a column may hold."""

    type: DataType
    partition: bool
    strange: bool = False
    hostile: bool = False
    tame: bool = False

    def admits(self, value: Value) -> bool:
        """Whether a value may be drawn for the column."""
        if not is_storable(self.type, value, partition=self.partition):
            return False
        return not (self.tame and is_known_trigger(self.type, value, partition=self.partition))


@dataclass(frozen=True, slots=True)
class Shape:
    """What a history plays with.

    `operations` are the names, with weights, of what may occur. `pools` holds, column by column, the few values of
    which most rows are made, so that predicates and merges hit; `kinds` says which others may occur. `strange`: NaN and
    -0.0 do. `tame`: nothing of which an engine is known to trip. `portable` keeps predicates within the portable core.
    """

    schema: Struct
    partition_by: tuple[str, ...] = ()
    properties: Properties = ()
    operations: Weights = ()
    pools: tuple[tuple[Value, ...], ...] = ()
    kinds: tuple[Kind, ...] = ()
    strange: bool = False
    tame: bool = False
    portable: bool = True
    profile: str = "dev"

    def data_columns(self) -> tuple[str, ...]:
        """The columns by which the table is not partitioned."""
        return tuple(name for name in self.schema.names if name not in self.partition_by)


def draw_shape(dice: Dice, profile: Profile) -> Shape:
    """The shape of one history."""
    width = dice.weighted(profile.columns)
    partitions = min(dice.weighted(profile.partitions), width - 1)
    names = _names(dice, profile, width)
    first = width - partitions
    types = [dice.weighted(profile.partition_types if at >= first else profile.types) for at in range(width)]
    portable = not _share(dice, profile.reference_predicates_one_in)
    if not portable:
        types[0] = DOUBLE
    strange = _share(dice, profile.strange_doubles_one_in) if portable and DOUBLE in types else not portable
    hostile = _share(dice, profile.hostile_texts_one_in)
    tame = dice.one_in(2)
    kinds = [
        Kind(each, at >= first, strange=strange, hostile=hostile, tame=tame) for at, each in enumerate(types)
    ]
    return Shape(
        schema=Struct(tuple(Field(name, each) for name, each in zip(names, types, strict=True))),
        partition_by=tuple(reversed(names[first:])),
        properties=_properties(dice, profile),
        operations=tuple(
            (name, weight)
            for name, weight in profile.operations
            if name in profile.always or not _share(dice, profile.switched_off_one_in)
        ),
        pools=tuple(_pool(dice, each) for each in kinds),
        kinds=tuple(kinds),
        strange=strange,
        tame=tame,
        portable=portable,
        profile=profile.name,
    )


def profile_of(shape: Shape) -> Profile:
    """The profile that a shape was drawn for."""
    return PROFILES[shape.profile]


@lru_cache(maxsize=1024)
def every_value(kind: Kind) -> tuple[Value, ...]:
    """All values that may be drawn for a column, the plain ones first."""
    return tuple(filter(kind.admits, plain_values(kind.type))) + _special(kind)


@lru_cache(maxsize=1024)
def _special(kind: Kind) -> tuple[Value, ...]:
    values = special_values(kind.type, strange=kind.strange, hostile=kind.hostile)
    return tuple(filter(kind.admits, values))


def _names(dice: Dice, profile: Profile, width: int) -> list[str]:
    names = list(NAMES[:width])
    if _share(dice, profile.odd_names_one_in):
        names[dice.below(width)] = dice.pick(ODD_NAMES)
    return names


def _pool(dice: Dice, kind: Kind) -> tuple[Value, ...]:
    plain = plain_values(kind.type)
    special = _special(kind)
    size = dice.pick(POOL_SIZES)
    chosen = dice.some(plain, max(1, size // 2)) + dice.some(special, size - size // 2)
    return tuple({(repr(each)): each for each in chosen}.values())


def _properties(dice: Dice, profile: Profile) -> Properties:
    properties = [("delta.checkpointInterval", dice.weighted(profile.checkpoint_intervals))]
    if _share(dice, profile.deletion_vectors_one_in):
        properties.append(("delta.enableDeletionVectors", "true"))
    return tuple(sorted(properties))


def _share(dice: Dice, one_in: int) -> bool:
    return one_in > 0 and dice.one_in(one_in)
