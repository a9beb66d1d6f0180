"""The shape of a history's table: columns, partitioning, properties, pools of values, and what may happen to it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache

from conformance.generation.choices import Choices
from conformance.generation.exclusions import is_known_name, is_known_trigger, is_storable
from conformance.generation.feature_bundles import FEATURES, Feature, Types, Weights
from conformance.generation.table_filled_columns import (
    with_generated,
    with_identity,
    with_lengths,
    with_width,
)
from conformance.generation.table_profiles import PROFILES, TableProfile
from conformance.generation.values.complex import (
    far_values,
    has_literals,
    is_comparable,
    plain_values,
    special_values,
)
from delta_models.operations import Properties
from delta_models.schema import DOUBLE, LONG, DataType, Field, Struct, limit_of, width_of
from delta_models.table.generated_columns import generated_columns
from delta_models.values import Value

NAMES = ("id", "name", "part", "num", "when", "note")
ODD_NAMES = ("select", "Übergröße", "ID2", "a-b", "_x", "0a", "日付", "from")
POOL_SIZES = (3, 4, 5, 2)
FAR_TO_OTHERS = 3  # how much likelier a far value is than another special one


@dataclass(frozen=True, slots=True)
class ColumnSpec:
    """What values a column may hold."""

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


@dataclass(frozen=True, slots=True)
class TableShape:
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
    kinds: tuple[ColumnSpec, ...] = ()
    strange: bool = False
    tame: bool = False
    portable: bool = True
    profile: str = "dev"
    features: tuple[str, ...] = ()

    def data_columns(self) -> tuple[str, ...]:
        """The columns by which the table is not partitioned."""
        return tuple(name for name in self.schema.names if name not in self.partition_by)

    def assignable(self) -> tuple[int, ...]:
        """The positions of the columns to which a writer gives values: all but the generated ones."""
        made = {at for at, _ in generated_columns(self.schema)}
        return tuple(at for at in range(len(self.schema)) if at not in made)

    def literal(self) -> tuple[int, ...]:
        """The positions of the columns that take constants."""
        return tuple(at for at in self.assignable() if has_literals(self.schema.fields[at].type))

    def comparable(self) -> tuple[int, ...] | None:
        """The positions of columns that predicates may compare; None for all. Who fills up a char(n) differs."""
        found = tuple(
            at
            for at, field in enumerate(self.schema.fields)
            if is_comparable(field.type) and width_of(field) is None
        )
        return None if len(found) == len(self.schema) else found


def draw_shape(dice: Choices, profile: TableProfile) -> TableShape:
    """The shape of one history."""
    features = _features(dice, profile)
    data_types = profile.types + _types(features, partition=False)
    partition_types = profile.partition_types + _types(features, partition=True)
    width = dice.weighted(profile.columns)
    partitions = min(dice.weighted(profile.partitions), width - 1)
    names = _names(dice, profile, width)
    first = width - partitions
    types = [dice.weighted(partition_types if at >= first else data_types) for at in range(width)]
    if not any(map(is_comparable, types)):
        types[0] = LONG
    portable = not _share(dice, profile.reference_predicates_one_in)
    if not portable:
        types[0] = DOUBLE
    strange = _share(dice, profile.strange_doubles_one_in) if portable and DOUBLE in types else not portable
    hostile = _share(dice, profile.hostile_texts_one_in)
    tame = dice.one_in(2) or (bool(profile.features) and dice.one_in(2))
    if tame:
        names = [
            NAMES[at] if at >= first and is_known_name(candidate) else candidate
            for at, candidate in enumerate(names)
        ]
    far = any(each.far for each in features)
    kinds = [
        ColumnSpec(data_type, at >= first, strange=strange, hostile=hostile, tame=tame, far=far)
        for at, data_type in enumerate(types)
    ]
    operations = profile.operations + tuple(
        operation for feature in features for operation in feature.operations
    )
    fields = [Field(name, data_type) for name, data_type in zip(names, types, strict=True)]
    for feature in features:
        fields = _ruled(dice, feature, fields, first)
    kinds = [replace(kind, limit=limit_of(field)) for kind, field in zip(kinds, fields, strict=False)]
    kinds += [
        ColumnSpec(column.type, partition=False, hostile=hostile, tame=tame) for column in fields[width:]
    ]
    return TableShape(
        schema=Struct(tuple(fields)),
        partition_by=tuple(reversed(names[first:])),
        properties=_properties(dice, profile, features),
        operations=tuple(
            (name, weight)
            for name, weight in operations
            if name in profile.always or not _share(dice, profile.switched_off_one_in)
        ),
        pools=tuple(_pool(dice, kind) for kind in kinds),
        kinds=tuple(kinds),
        strange=strange,
        tame=tame,
        portable=portable,
        profile=profile.name,
        features=tuple(each.name for each in features),
    )


def current(shape: TableShape, schema: Struct, partition_by: tuple[str, ...]) -> TableShape:
    """The shape as the table now is: its columns may have come, gone, moved or changed since it was drawn."""
    if schema == shape.schema and partition_by == shape.partition_by:
        return shape
    kinds, pools = [], []
    first = shape.kinds[0]
    for field in schema:
        partition = field.name in partition_by
        kind = ColumnSpec(
            field.type, partition, first.strange, first.hostile, first.tame, limit_of(field), first.far
        )
        known = [
            at
            for at, other in enumerate(shape.schema)
            if other.name == field.name and other.type == field.type
        ]
        pool = tuple(filter(kind.admits, shape.pools[known[0]])) if known else ()
        kinds.append(kind)
        pools.append(pool or _some(kind))
    return replace(shape, schema=schema, partition_by=partition_by, kinds=tuple(kinds), pools=tuple(pools))


def profile_of(shape: TableShape) -> TableProfile:
    """The profile that a shape was drawn for."""
    return PROFILES[shape.profile]


@lru_cache(maxsize=1024)
def every_value(kind: ColumnSpec) -> tuple[Value, ...]:
    """All values that may be drawn for a column, the plain ones first."""
    return tuple(filter(kind.admits, plain_values(kind.type))) + _special(kind)


@lru_cache(maxsize=1024)
def _special(kind: ColumnSpec) -> tuple[Value, ...]:
    values = special_values(kind.type, strange=kind.strange, hostile=kind.hostile)
    if kind.far:
        values = far_values(kind.type) * FAR_TO_OTHERS + values
    return tuple(filter(kind.admits, values))


def _names(dice: Choices, profile: TableProfile, width: int) -> list[str]:
    names = list(NAMES[:width])
    if _share(dice, profile.odd_names_one_in):
        names[dice.below(width)] = dice.pick(ODD_NAMES)
    return names


def _pool(dice: Choices, kind: ColumnSpec) -> tuple[Value, ...]:
    plain = plain_values(kind.type)
    special = _special(kind)
    size = dice.pick(POOL_SIZES)
    chosen = dice.some(plain, max(1, size // 2)) + dice.some(special, size - size // 2)
    return tuple({(repr(each)): each for each in chosen}.values())


def _some(kind: ColumnSpec) -> tuple[Value, ...]:
    return tuple(filter(kind.admits, plain_values(kind.type)))[:3] + _special(kind)[:1]


def _features(dice: Choices, profile: TableProfile) -> tuple[Feature, ...]:
    drawn = [name for name, one_in in profile.others if _share(dice, one_in)]
    return tuple(FEATURES[name] for name in (*profile.features, *drawn))


def _types(features: tuple[Feature, ...], *, partition: bool) -> Types:
    return tuple(
        data_type
        for feature in features
        for data_type in (feature.partition_types if partition else feature.types)
    )


def _ruled(dice: Choices, feature: Feature, fields: list[Field], partitions_from: int) -> list[Field]:
    """The columns with the rules that a feature brings."""
    if feature.not_null and partitions_from > 1 and dice.one_in(2):
        at = dice.below(partitions_from)
        fields = [*fields[:at], replace(fields[at], nullable=False), *fields[at + 1 :]]
    if feature.computed:
        fields = with_generated(dice, fields, partitions_from)
    if feature.lengths:
        fields = with_lengths(dice, fields, partitions_from)
    if feature.widths:
        fields = with_width(dice, fields)
    if feature.identity:
        fields = with_identity(dice, fields)
    return fields


def _properties(dice: Choices, profile: TableProfile, features: tuple[Feature, ...]) -> Properties:
    properties = {"delta.checkpointInterval": dice.weighted(profile.checkpoint_intervals)}
    if _share(dice, profile.deletion_vectors_one_in):
        properties["delta.enableDeletionVectors"] = "true"
    for feature in features:
        properties |= dict(feature.properties)
        if feature.options:
            properties |= dict(dice.weighted(feature.options))
    return tuple(sorted(properties.items()))


def _share(dice: Choices, one_in: int) -> bool:
    return one_in > 0 and dice.one_in(one_in)
