"""Facets: what may be special about a table, and how a history gets a table with it.

A facet is a table feature, a property that changes how an engine writes, or a trait such as being partitioned. A plan
that covers pairs counts facets of the model's table. It directs histories at a facet by the bundle and the properties
that the facet has here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from delta_adapters.capabilities import ANY, IDENTITIES, Capabilities
from delta_models.operations import Properties
from delta_models.schema import Array, Map, Struct
from delta_models.table import Table
from delta_models.table.generated_columns import generated_columns
from delta_models.table.identity import identities


@dataclass(frozen=True, slots=True)
class Facet:
    """A facet, and what a table needs to have it.

    `bundle` is that of the feature bundles which brings its columns, `enabled` the feature that an operation of the
    history enables, `claim` the feature that an engine must claim to write.
    """

    name: str
    properties: Properties = ()
    bundle: str = ""
    enabled: str = ""
    claim: str = ""
    partitions: bool = False


def _by_property(name: str, key: str, value: str = "true", *more: tuple[str, str]) -> Facet:
    return Facet(name, tuple(sorted(((key, value), *more))))


PLAIN = "plain"  # what a table without any other facet is
PARTITIONED, NOT_NULL, NESTED, CONSTRAINED = "partitioned", "invariants", "nested", "checkConstraints"

FACETS = (
    Facet(PLAIN),
    Facet(PARTITIONED, partitions=True),
    Facet(NESTED, bundle="nested-types"),
    _by_property("deletionVectors", "delta.enableDeletionVectors"),
    _by_property("changeDataFeed", "delta.enableChangeDataFeed"),
    _by_property("appendOnly", "delta.appendOnly"),
    _by_property("columnMapping", "delta.columnMapping.mode", "name"),
    _by_property("rowTracking", "delta.enableRowTracking"),
    _by_property("inCommitTimestamp", "delta.enableInCommitTimestamps"),
    _by_property("typeWidening", "delta.enableTypeWidening"),
    _by_property("v2Checkpoint", "delta.checkpointPolicy", "v2"),
    _by_property("allowColumnDefaults", "delta.feature.allowColumnDefaults", "supported"),
    Facet(NOT_NULL, bundle="constraints", claim="invariants"),
    Facet(CONSTRAINED, bundle="constraints", claim="checkConstraints"),
    Facet("timestampNtz", bundle="clocks", claim="timestampNtz"),
    Facet("generatedColumns", bundle="generated", claim="generatedColumns"),
    Facet("identityColumns", bundle="identity", claim=IDENTITIES),
    Facet("domainMetadata", enabled="domainMetadata", claim="domainMetadata"),
    Facet("vacuumProtocolCheck", enabled="vacuumProtocolCheck", claim="vacuumProtocolCheck"),
    _by_property(
        "stats-as-struct", "delta.checkpoint.writeStatsAsStruct", "true",
        ("delta.checkpoint.writeStatsAsJson", "false"),
    ),
    _by_property("few-stats", "delta.dataSkippingNumIndexedCols", "1"),
    _by_property("serializable", "delta.isolationLevel", "Serializable"),
    _by_property("compressed", "delta.parquet.compression.codec", "zstd"),
    _by_property("checkpoint-each", "delta.checkpointInterval", "1"),
    _by_property("kept-long", "delta.deletedFileRetentionDuration", "interval 2 weeks"),
)  # fmt: skip
BY_NAME = {facet.name: facet for facet in FACETS}

_TRAITS: dict[str, Callable[[Table], bool]] = {
    PARTITIONED: lambda table: bool(table.partition_by),
    NESTED: lambda table: any(isinstance(field.type, Struct | Array | Map) for field in table.schema),
    NOT_NULL: lambda table: any(not field.nullable for field in table.schema),
    CONSTRAINED: lambda table: bool(table.constraints),
    "timestampNtz": lambda table: "timestamp_ntz" in str(table.schema),
    "generatedColumns": lambda table: bool(generated_columns(table.schema)),
    "identityColumns": lambda table: bool(identities(table.schema)),
    "domainMetadata": lambda table: table.supports("domainMetadata"),
    "vacuumProtocolCheck": lambda table: table.supports("vacuumProtocolCheck"),
}


def facets_of(table: Table) -> frozenset[str]:
    """Return the facets that a table has, as the model knows it; `PLAIN` if it has no other."""
    return frozenset(_facets_of(table)) or frozenset({PLAIN})


def offered_facets(capabilities: Capabilities) -> tuple[Facet, ...]:
    """Return the facets of tables that an engine claims to write."""
    return tuple(facet for facet in FACETS if _is_claimed(facet, capabilities))


def _facets_of(table: Table) -> Iterator[str]:
    properties = dict(table.properties)
    for facet in FACETS:
        if facet.name == PLAIN:
            continue
        trait = _TRAITS.get(facet.name)
        if trait is not None:
            if trait(table):
                yield facet.name
        elif all(properties.get(key) == value for key, value in facet.properties):
            yield facet.name


def _is_claimed(facet: Facet, capabilities: Capabilities) -> bool:
    if facet.claim and facet.claim not in capabilities.write_features:
        return False
    if facet.name == NESTED:
        return capabilities.nested and {"struct", "array", "map"} <= capabilities.data_types
    if facet.enabled:
        return "EnableFeature" in capabilities.operations
    if facet.name == CONSTRAINED:
        return "AddConstraint" in capabilities.operations
    if facet.partitions:
        return bool(capabilities.partition_types)
    claimed = capabilities.properties
    return ANY in claimed or all(key in claimed for key, _ in facet.properties)
