"""Translate a table's definition between the model and the log: metadata, protocol and metadata domains."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, replace

from delta_adapters.dialects import render_sql
from delta_adapters.dialects.spark_sql import SparkSqlDialect
from delta_adapters.reference import actions
from delta_adapters.reference.row_tracking import COLUMNS, TRACKING, row_columns, with_row_id_columns
from delta_adapters.reference.v2_checkpoints import FEATURE as SECOND_CHECKPOINTS
from delta_adapters.reference.v2_checkpoints import POLICY, SECOND
from delta_models.expressions import Call, Expression, type_of
from delta_models.log import Protocol, Snapshot
from delta_models.log.parquet.data_files import physical_name
from delta_models.log.row_ids import ENABLED
from delta_models.log.validity.protocol import supports
from delta_models.schema import TIMESTAMP_NTZ, VARIANT, Array, DataType, Field, Json, Map, Struct
from delta_models.sql import parse_expression
from delta_models.table import Table
from delta_models.table.generated_columns import CONSTRAINT, DEFAULT, GENERATION
from delta_models.table.identity import STEP
from delta_models.values import Row

SQL = SparkSqlDialect()
LEGACY = frozenset({"appendOnly", "invariants"})
# Features that a protocol older than table features implies by its version.
VERSIONED = ("checkConstraints", "changeDataFeed", "generatedColumns", "columnMapping", "identityColumns")
FEATURE = "delta.feature."
MODE, HIGHEST = "delta.columnMapping.mode", "delta.columnMapping.maxColumnId"
COLUMN_ID, PHYSICAL_NAME = "delta.columnMapping.id", "delta.columnMapping.physicalName"
TYPE_CHANGES = "delta.typeChanges"
CLUSTERING = "delta.clustering"
VARIANTS = "variantType"
READER = frozenset(
    {
        "columnMapping",
        "deletionVectors",
        "timestampNtz",
        "typeWidening",
        "v2Checkpoint",
        "vacuumProtocolCheck",
        VARIANTS,
    }
)
BY_PROPERTY = {
    "delta.enableDeletionVectors": "deletionVectors",
    "delta.enableChangeDataFeed": "changeDataFeed",
    "delta.enableTypeWidening": "typeWidening",
    "delta.enableInCommitTimestamps": "inCommitTimestamp",
    ENABLED: TRACKING,
}
WRITABLE = LEGACY | READER | set(BY_PROPERTY.values()) | {
    "allowColumnDefaults", "checkConstraints", "clustering", "domainMetadata", "generatedColumns",
    "identityColumns",
}  # fmt: skip


def table_of(snapshot: Snapshot, rows: tuple[Row, ...]) -> Table:
    """Return a state of the log as the model's table, with constraints and defaults as expressions."""
    schema = snapshot.schema
    properties, constraints = [], []
    for key, value in sorted(snapshot.properties.items()):
        if key.startswith(CONSTRAINT):
            constraints.append((key.removeprefix(CONSTRAINT), parse_expression(value, schema)))
        else:
            properties.append((key, value))
    defaults = tuple(_defaults(schema))
    return Table(
        exists=True,
        schema=_without_defaults(schema) if defaults else schema,
        partition_by=snapshot.partition_by,
        properties=tuple(properties),
        rows=rows,
        features=tuple(sorted(set(snapshot.protocol.writer_features or ()))),
        constraints=tuple(constraints),
        defaults=defaults,
        cluster_by=_clustering(snapshot),
        transactions=tuple(
            sorted(
                (transaction.app_id, transaction.version) for transaction in snapshot.transactions.values()
            )
        ),
    )


def is_append_only(snapshot: Snapshot) -> bool:
    """Whether rows of a table must stay."""
    return snapshot.properties.get("delta.appendOnly", "false").lower() == "true"


def why_not_writable(protocol: Protocol) -> str | None:
    """Return why this engine must not write a table with a protocol, None if it may."""
    unknown = sorted(_supported(protocol) - WRITABLE)
    return f"the writer features {', '.join(unknown)}" if unknown else None


@dataclass(frozen=True, slots=True)
class Definition:
    """The actions that write a table's definition, and the schema and row columns that data files depend on."""

    schema: Struct
    forms: tuple[actions.Form, ...]
    row_columns: tuple[str, ...] = ()


def redefine(
    snapshot: Snapshot | None, before: Table, after: Table, *, keep_features: bool = True
) -> Definition:
    """Return the actions that turn one definition into another."""
    properties = {key: value for key, value in after.properties if not key.startswith(FEATURE)}
    properties = with_row_id_columns(_known_names(snapshot) | properties)
    schema = after.schema
    if properties.get(MODE, "none") != "none":
        known = int(snapshot.properties.get(HIGHEST, "0")) if snapshot else 0
        numbering = _Numbering(max(known, int(properties.get(HIGHEST, "0"))))
        schema = numbering.struct(schema)
        properties[HIGHEST] = str(numbering.highest)
    if snapshot is not None:
        schema = _with_type_changes(before.schema, schema)
    forms: list[actions.Form] = []
    protocol = _protocol(snapshot, after, keep_features=keep_features)
    if protocol is not None:
        forms.append(protocol)
    if snapshot is None or _metadata_changes(before, after) or schema != after.schema:
        written = _with_defaults(schema, after)
        properties |= {
            f"{CONSTRAINT}{name}": render_sql(check, None, SQL) for name, check in after.constraints
        }
        forms.append(actions.metadata(written, after.partition_by, properties, snapshot))
    if before.cluster_by != after.cluster_by:
        names = [[physical_name(schema[name])] for name in after.cluster_by]
        forms.append(actions.domain(CLUSTERING, json.dumps({"clusteringColumns": names})))
    return Definition(schema, tuple(forms), row_columns(properties))


def _known_names(snapshot: Snapshot | None) -> dict[str, str]:
    """Return the names that the table already has for its columns of row ids and row versions."""
    properties = snapshot.properties if snapshot is not None else {}
    return {key: properties[key] for key in COLUMNS if key in properties}


def _metadata_changes(before: Table, after: Table) -> bool:
    def parts(table: Table) -> tuple[object, ...]:
        return (table.schema, table.partition_by, table.properties, table.constraints, table.defaults)

    return parts(before) != parts(after)


def _protocol(snapshot: Snapshot | None, after: Table, *, keep_features: bool) -> actions.Form | None:
    """Return the protocol if it changes. It gains features as they are needed, and loses them only by a drop."""
    old = _supported(snapshot.protocol) if snapshot else frozenset()
    new = (
        LEGACY
        | frozenset(after.features)
        | frozenset(_needed_features(after))
        | (old if keep_features else frozenset())
    )
    if snapshot is not None and new == old and (snapshot.protocol.writer_features or not after.features):
        return None
    if snapshot is None and new == LEGACY:
        return actions.protocol()
    return actions.protocol_of(sorted(new), sorted(new & READER))


def _supported(protocol: Protocol) -> frozenset[str]:
    """The writer features that a protocol lists, or implies by its version."""
    listed = frozenset(protocol.writer_features or LEGACY)
    return listed | frozenset(feature for feature in VERSIONED if supports(protocol, feature))


def _needed_features(table: Table) -> Iterator[str]:
    yield from _features_of_properties(table)
    if table.constraints:
        yield "checkConstraints"
    if table.defaults:
        yield "allowColumnDefaults"
    if TRACKING in table.features or table.property(ENABLED).lower() == "true":
        yield "domainMetadata"
    if table.cluster_by:
        yield from ("clustering", "domainMetadata")
    if any(GENERATION in field.metadata_json for field in table.schema):
        yield "generatedColumns"
    if any(STEP in field.metadata_json for field in table.schema):
        yield "identityColumns"
    if TIMESTAMP_NTZ in _types(table.schema):
        yield "timestampNtz"
    if VARIANT in _types(table.schema):
        yield VARIANTS


def _features_of_properties(table: Table) -> Iterator[str]:
    for key, value in table.properties:
        if key in BY_PROPERTY and value.lower() == "true":
            yield BY_PROPERTY[key]
        elif key.startswith(FEATURE):
            yield key.removeprefix(FEATURE)
        elif (key, value) == (POLICY, SECOND):
            yield SECOND_CHECKPOINTS
        elif key == MODE and value != "none":
            yield "columnMapping"


def _types(data_type: DataType) -> Iterator[DataType]:
    yield data_type
    match data_type:
        case Struct(fields=fields):
            for field in fields:
                yield from _types(field.type)
        case Array(element=element):
            yield from _types(element)
        case Map(key=key, value=value):
            yield from _types(key)
            yield from _types(value)


def _defaults(schema: Struct) -> Iterator[tuple[str, Expression]]:
    for field in schema:
        if DEFAULT in field.metadata_json:
            value = parse_expression(str(field.metadata[DEFAULT]), schema)
            yield (
                field.name,
                value if type_of(value, schema) == field.type else Call("cast", (value,), field.type),
            )


def _without_defaults(schema: Struct) -> Struct:
    return Struct(
        tuple(
            field.with_metadata({key: value for key, value in field.metadata.items() if key != DEFAULT})
            for field in schema
        )
    )


def _with_defaults(schema: Struct, table: Table) -> Struct:
    defaults = {name.casefold(): render_sql(value, None, SQL) for name, value in table.defaults}
    return Struct(
        tuple(
            field.with_metadata({**field.metadata, DEFAULT: defaults[field.name.casefold()]})
            if field.name.casefold() in defaults
            else field
            for field in schema
        )
    )


def _clustering(snapshot: Snapshot) -> tuple[str, ...]:
    domain = snapshot.domains.get(CLUSTERING)
    if domain is None:
        return ()
    names = {physical_name(field): field.name for field in snapshot.schema}
    return tuple(
        names.get(path[0], path[0]) for path in json.loads(domain.configuration)["clusteringColumns"]
    )


@dataclass(slots=True)
class _Numbering:
    """Gives column ids and physical names to the fields that have none."""

    highest: int

    def struct(self, schema: Struct) -> Struct:
        return Struct(tuple(self.field(field) for field in schema))

    def field(self, field: Field) -> Field:
        metadata = field.metadata
        if COLUMN_ID not in metadata:
            self.highest += 1
            metadata = {**metadata, COLUMN_ID: self.highest, PHYSICAL_NAME: f"col-{uuid.uuid4()}"}
        return replace(field, type=self.inside(field.type)).with_metadata(metadata)

    def inside(self, data_type: DataType) -> DataType:
        match data_type:
            case Struct():
                return self.struct(data_type)
            case Array(element=element):
                return replace(data_type, element=self.inside(element))
            case Map(key=key, value=value):
                return replace(data_type, key=self.inside(key), value=self.inside(value))
        return data_type


def _with_type_changes(old: Struct, new: Struct) -> Struct:
    """Return the new schema. Each top-level column whose type became wider records the change in its metadata."""
    old_types = {physical_name(field): field.type for field in old}
    fields = []
    for field in new:
        before = old_types.get(physical_name(field), field.type)
        if before == field.type or not _is_primitive(before) or not _is_primitive(field.type):
            fields.append(field)
            continue
        recorded = field.metadata.get(TYPE_CHANGES)
        change: Json = {"fromType": str(before), "toType": str(field.type)}
        changes: list[Json] = [*(recorded if isinstance(recorded, list) else []), change]
        fields.append(field.with_metadata({**field.metadata, TYPE_CHANGES: changes}))
    return Struct(tuple(fields))


def _is_primitive(data_type: DataType) -> bool:
    return not isinstance(data_type, Struct | Array | Map)
