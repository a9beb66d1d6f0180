"""Draws the tables of directed histories: with chosen facets, and with the types of which most is missing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from conformance.generation import TableShape, draw_shape
from conformance.generation.choices import RandomChoices
from conformance.generation.facets import NESTED as NESTED_FACET
from conformance.generation.facets import NOT_NULL, PARTITIONED, Facet
from conformance.generation.feature_bundles import CLOCKS, NESTED, PLAIN_TYPES, SMALL, VARIANTS, Types
from conformance.generation.table_profiles import GATE, TYPES
from conformance.planning.cells import PARTITION, TYPE, Cell
from conformance.planning.coverage import Coverage
from delta_adapters.capabilities import Capabilities, type_names
from delta_models.schema import VOID, DataType, DecimalType, Primitive, Struct

MOST_WEIGHT = 4  # of a type of which nothing is missing
WIDE = ((4, 1), (5, 3), (6, 3))  # columns of a table while types are missing
SOUGHT = 100  # what a type has in addition that a history is for
NEEDED = 12  # what the type has in addition of which most is missing
CONTAINERS = {"struct", "array", "map"}
EVERY: Types = (*PLAIN_TYPES, *TYPES, *SMALL, *CLOCKS, *VARIANTS, (VOID, 1), *NESTED)


def draw_directed_shape(
    choices: RandomChoices,
    *,
    facets: Sequence[Facet],
    bundles: Sequence[str],
    claims: Sequence[Capabilities],
    coverage: Coverage,
    focus: Cell | None = None,
) -> TableShape:
    """Draw the shape of a table with these facets, as far as all the claims allow it.

    The types are mostly those of which most is missing, or that which the cell in `focus` names.
    """
    needs = coverage.needs(TYPE) if focus is None or focus[0] != TYPE else Counter({focus[-1]: 1})
    data_types = frozenset.intersection(*(claim.data_types for claim in claims))
    partition_types = frozenset.intersection(*(claim.partition_types for claim in claims))
    nested = all(claim.nested for claim in claims)
    if "converted" in bundles:  # a Parquet file has no type for what holds nothing
        data_types -= {"void"}
    types = _weighted(needs, data_types, "", nested=nested)
    folders = _weighted(needs, partition_types - CONTAINERS, PARTITION, nested=False)
    names = {facet.name for facet in facets}
    if not names and focus is not None:  # a plain table is wanted
        types = tuple(
            entry for entry in types if not {*type_names(entry[0])} & {*CONTAINERS, "timestamp_ntz"}
        )
    asked = [facet.bundle for facet in facets if facet.bundle and facet.name != NESTED_FACET]
    if NESTED_FACET in names:  # mostly such types, but no others than are claimed
        types += tuple(
            (data_type, 4 * weight) for data_type, weight in types if {*type_names(data_type)} & CONTAINERS
        )
    shape = draw_shape(
        choices,
        replace(
            GATE,
            types=types,
            partition_types=folders or types,
            partitions=((1, 2), (2, 2)) if PARTITIONED in names and folders else ((0, 1),),
            columns=WIDE if any(needs.values()) else GATE.columns,
            features=tuple(dict.fromkeys((*bundles, *asked))),
            operations=(("Append", 1),),
        ),
    )
    if NOT_NULL in names:
        shape = replace(shape, schema=_with_not_null(shape.schema, shape.partition_by))
    properties = dict(shape.properties)
    for facet in facets:
        properties |= dict(facet.properties)
    return replace(
        shape,
        tame=shape.tame and focus is None,  # the operation of a single cell may be what a known cause needs
        properties=tuple(
            (key, value)
            for key, value in sorted(properties.items())
            if all(claim.covers_table(shape.schema, (), {key: value}) is None for claim in claims)
        ),
    )


def _with_not_null(schema: Struct, partition_by: Sequence[str]) -> Struct:
    """The schema with a column that may not be null: its first plain one, unless it has such a column."""
    if any(not field.nullable for field in schema):
        return schema
    plain = [
        field.name
        for field in schema
        if isinstance(field.type, Primitive | DecimalType)
        and field.type != VOID
        and field.metadata_json == "{}"
        and field.name not in partition_by
    ]
    return Struct(tuple(replace(field, nullable=field.name not in plain[:1]) for field in schema))


def _weighted(needs: Counter[str], claimed: frozenset[str], prefix: str, *, nested: bool) -> Types:
    """The types of columns that are claimed, those more likely of which more is missing."""
    weights: dict[DataType, int] = {}
    for data_type, weight in EVERY:
        weights.setdefault(data_type, min(weight, MOST_WEIGHT))
    most = max(needs.values(), default=0) or 1
    return tuple(
        (
            data_type,
            weight
            + round(
                (NEEDED if len(needs) > 1 else SOUGHT) * max(needs[prefix + name] for name in names) / most
            ),
        )
        for data_type, weight in weights.items()
        if (names := {*type_names(data_type)}) <= claimed and (nested or len(names) == 1)
    )
