"""Draws the shape of a history's table: columns, partitioning, properties, pools of values, and possible operations."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from conformance.generation.choices import Choices, HypothesisChoices, composite
from conformance.generation.column_specs import ColumnSpec, default_pool, draw_pool, is_known_name
from conformance.generation.feature_bundles import FEATURES, Feature, Types, Weights
from conformance.generation.table_filled_columns import with_generated, with_identity
from conformance.generation.table_profiles import PROFILES, TableProfile
from conformance.generation.values.complex import has_literals, is_comparable
from delta_models.operations import ConvertFromParquet, Create, CreateAs, Operation, Properties, Replace
from delta_models.schema import DOUBLE, LONG, STRING, Field, Struct, limit_of, width_of
from delta_models.table.char_varchar import char_field, varchar_field
from delta_models.table.generated_columns import generated_columns
from delta_models.values import Value

if TYPE_CHECKING:
    from hypothesis import strategies as st

NAMES = ("id", "name", "part", "num", "when", "note")
ODD_NAMES = ("select", "Übergröße", "ID2", "a-b", "_x", "0a", "日付", "from")
LENGTHS = (2, 3, 5, 33)


@dataclass(frozen=True, slots=True)
class TableShape:
    """The table that a history is drawn for.

    `operations` names what may occur, with weights. `pools` holds for each column the few values of which most rows are
    made, so that predicates and merges hit. `column_specs` says which other values may occur. A `strange` shape has NaN
    and -0.0. A `tame` one leaves out whatever is known to trip an engine. A `portable` one keeps predicates within the
    portable core.
    """

    schema: Struct
    partition_by: tuple[str, ...] = ()
    properties: Properties = ()
    operations: Weights = ()
    pools: tuple[tuple[Value, ...], ...] = ()
    column_specs: tuple[ColumnSpec, ...] = ()
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
        generated_positions = {position for position, _ in generated_columns(self.schema)}
        return tuple(position for position in range(len(self.schema)) if position not in generated_positions)

    def literal(self) -> tuple[int, ...]:
        """The positions of the columns that take constants."""
        return tuple(
            position for position in self.assignable() if has_literals(self.schema.fields[position].type)
        )

    def comparable(self) -> tuple[int, ...] | None:
        """The positions of the columns that predicates may compare; None for all. Engines pad a char(n) differently."""
        positions = tuple(
            position
            for position, field in enumerate(self.schema.fields)
            if is_comparable(field.type) and width_of(field) is None
        )
        return None if len(positions) == len(self.schema) else positions


def generate_shapes(profile: TableProfile | str) -> st.SearchStrategy[TableShape]:
    """Return a strategy for the shapes of a table profile, which may be given by its name."""
    return _shapes(PROFILES[profile] if isinstance(profile, str) else profile)


@composite
def _shapes(draw: Callable[..., Any], profile: TableProfile) -> TableShape:
    return draw_shape(HypothesisChoices(draw), profile)


def draw_shape(choices: Choices, profile: TableProfile) -> TableShape:
    """Draw the shape of one history's table."""
    features = _features(choices, profile)
    data_types = profile.types + _types(features, partition=False)
    partition_types = profile.partition_types + _types(features, partition=True)
    width = choices.weighted(profile.columns)
    partitions = min(choices.weighted(profile.partitions), width - 1)
    names = _names(choices, profile, width)
    first = width - partitions
    types = [choices.weighted(partition_types if index >= first else data_types) for index in range(width)]
    if not any(map(is_comparable, types)):
        types[0] = LONG
    portable = not _share(choices, profile.reference_predicates_one_in)
    if not portable:
        types[0] = DOUBLE
    strange = (
        _share(choices, profile.strange_doubles_one_in) if portable and DOUBLE in types else not portable
    )
    hostile = _share(choices, profile.hostile_texts_one_in)
    tame = profile.always_tame or choices.one_in(2) or (bool(profile.features) and choices.one_in(2))
    if tame:
        names = [
            NAMES[index] if index >= first and is_known_name(name) else name
            for index, name in enumerate(names)
        ]
    far = any(feature.far for feature in features)
    column_specs = [
        ColumnSpec(data_type, index >= first, strange=strange, hostile=hostile, tame=tame, far=far)
        for index, data_type in enumerate(types)
    ]
    operations = profile.operations + tuple(
        operation for feature in features for operation in feature.operations
    )
    fields = [Field(name, data_type) for name, data_type in zip(names, types, strict=True)]
    for feature in features:
        fields = _with_rules(choices, feature, fields, first)
    column_specs = [
        replace(spec, limit=limit_of(field)) for spec, field in zip(column_specs, fields, strict=False)
    ]
    column_specs += [
        ColumnSpec(column.type, partition=False, hostile=hostile, tame=tame) for column in fields[width:]
    ]
    return TableShape(
        schema=Struct(tuple(fields)),
        partition_by=tuple(reversed(names[first:])),
        properties=_properties(choices, profile, features),
        operations=tuple(
            (name, weight)
            for name, weight in operations
            if name in profile.always or not _share(choices, profile.switched_off_one_in)
        ),
        pools=tuple(draw_pool(choices, spec) for spec in column_specs),
        column_specs=tuple(column_specs),
        strange=strange,
        tame=tame,
        portable=portable,
        profile=profile.name,
        features=tuple(feature.name for feature in features),
    )


def adapt_shape(shape: TableShape, schema: Struct, partition_by: tuple[str, ...]) -> TableShape:
    """Return a shape for the table as it is now: its columns may have come, gone, moved or changed since the draw."""
    if schema == shape.schema and partition_by == shape.partition_by:
        return shape
    for drawn, adapted in _latest:  # a planner asks many times in a row for the same
        # By identity, since 0.0 and -0.0 are equal.
        if drawn is shape and adapted.schema == schema and adapted.partition_by == partition_by:
            return adapted
    adapted = _adapt(shape, schema, partition_by)
    _latest[:] = ((shape, adapted),)
    return adapted


_latest: list[tuple[TableShape, TableShape]] = []  # what was asked for last, and what it became


def _adapt(shape: TableShape, schema: Struct, partition_by: tuple[str, ...]) -> TableShape:
    column_specs, pools = [], []
    first = shape.column_specs[0]
    for field in schema:
        partition = field.name in partition_by
        spec = ColumnSpec(
            field.type, partition, first.strange, first.hostile, first.tame, limit_of(field), first.far
        )
        known = [
            index
            for index, drawn in enumerate(shape.schema)
            if drawn.name == field.name and drawn.type == field.type
        ]
        pool = tuple(filter(spec.admits, shape.pools[known[0]])) if known else ()
        column_specs.append(spec)
        pools.append(pool or default_pool(spec))
    return replace(
        shape, schema=schema, partition_by=partition_by, column_specs=tuple(column_specs), pools=tuple(pools)
    )


def shape_made_by(operation: Operation) -> TableShape:
    """Return the shape of the table that an operation makes, as far as engines must claim it."""
    match operation:
        case (
            Create(schema=schema, partition_by=partition_by, properties=properties)
            | Replace(schema=schema, partition_by=partition_by, properties=properties)
        ):
            return TableShape(schema, partition_by, properties)
        case CreateAs(rows=rows, partition_by=partition_by, properties=properties):
            return TableShape(rows.schema, partition_by, properties)
        case ConvertFromParquet(rows=rows, partition_by=partition_by):
            return TableShape(rows.schema, partition_by)
    return TableShape(Struct())


def profile_of(shape: TableShape) -> TableProfile:
    """Return the table profile that a shape was drawn for."""
    return PROFILES[shape.profile]


def _names(choices: Choices, profile: TableProfile, width: int) -> list[str]:
    names = list(NAMES[:width])
    if _share(choices, profile.odd_names_one_in):
        names[choices.below(width)] = choices.pick(ODD_NAMES)
    return names


def _features(choices: Choices, profile: TableProfile) -> tuple[Feature, ...]:
    drawn = [name for name, one_in in profile.others if _share(choices, one_in)]
    return tuple(FEATURES[name] for name in (*profile.features, *drawn))


def _types(features: tuple[Feature, ...], *, partition: bool) -> Types:
    return tuple(
        data_type
        for feature in features
        for data_type in (feature.partition_types if partition else feature.types)
    )


def _with_rules(choices: Choices, feature: Feature, fields: list[Field], partitions_from: int) -> list[Field]:
    """Return the columns with the rules that a feature brings."""
    if feature.not_null and partitions_from > 1 and choices.one_in(2):
        index = choices.below(partitions_from)
        fields = [*fields[:index], replace(fields[index], nullable=False), *fields[index + 1 :]]
    if feature.computed:
        fields = with_generated(choices, fields, partitions_from)
    if feature.lengths:
        fields = _with_lengths(choices, fields, partitions_from)
    if feature.widths:
        fields = _with_width(choices, fields)
    if feature.identity:
        fields = with_identity(choices, fields)
    return fields


def _with_lengths(choices: Choices, fields: list[Field], partitions_from: int) -> list[Field]:
    """Return the columns, most of their texts limited in length."""
    return [
        varchar_field(field.name, choices.pick(LENGTHS))
        if index < partitions_from and field.type == STRING and choices.below(4)
        else field
        for index, field in enumerate(fields)
    ]


def _with_width(choices: Choices, fields: list[Field]) -> list[Field]:
    """Return the columns, one limited text padded with blanks, if another column is left for predicates."""
    limited = [index for index, field in enumerate(fields) if limit_of(field) is not None]
    if not limited or len(fields) == 1:
        return fields
    index = choices.pick(limited)
    padded = char_field(fields[index].name, limit_of(fields[index]) or 1)
    return [*fields[:index], padded, *fields[index + 1 :]]


def _properties(choices: Choices, profile: TableProfile, features: tuple[Feature, ...]) -> Properties:
    properties = {"delta.checkpointInterval": choices.weighted(profile.checkpoint_intervals)}
    if _share(choices, profile.deletion_vectors_one_in):
        properties["delta.enableDeletionVectors"] = "true"
    for feature in features:
        properties |= dict(feature.properties)
        if feature.options:
            properties |= dict(choices.weighted(feature.options))
    return tuple(sorted(properties.items()))


def _share(choices: Choices, one_in: int) -> bool:
    return one_in > 0 and choices.one_in(one_in)
