"""Changes of a table's definition as calls of `DeltaTable.alter`."""

from __future__ import annotations

from collections.abc import Callable

from deltalake import CommitProperties, DeltaTable, Field, Schema, TableFeatures

from delta_adapters.dialects import render_sql
from delta_adapters.dialects.delta_rs_constraints import DeltaRsConstraintDialect
from delta_models import operations as ops
from delta_models.schema import Struct, parse_schema, schema_string

EngineCall = Callable[[CommitProperties], object]
PORTABLE = DeltaRsConstraintDialect()
FEATURES = {
    "appendOnly": TableFeatures.AppendOnly,
    "changeDataFeed": TableFeatures.ChangeDataFeed,
    "checkConstraints": TableFeatures.CheckConstraints,
    "deletionVectors": TableFeatures.DeletionVectors,
    "generatedColumns": TableFeatures.GeneratedColumns,
    "invariants": TableFeatures.Invariants,
    "timestampNtz": TableFeatures.TimestampWithoutTimezone,
}


def alter(operation: ops.Operation, table: DeltaTable) -> EngineCall | None:
    """Return the call that performs the operation; None if deltalake has none."""
    match operation:
        case ops.SetProperties(properties=pairs):
            custom = any(not key.startswith("delta.") for key, _ in pairs)
            return lambda properties: table.alter.set_table_properties(
                dict(pairs), raise_if_not_exists=not custom, commit_properties=properties
            )
        case ops.AddConstraint(name=name, check=check):
            constraint = {name: render_sql(check, parse_schema(table.schema().to_json()), PORTABLE)}
            return lambda properties: table.alter.add_constraint(constraint, commit_properties=properties)
        case ops.DropConstraint(name=name, if_exists=if_exists):
            return lambda properties: table.alter.drop_constraint(
                name, raise_if_not_exists=not if_exists, commit_properties=properties
            )
        case ops.AddColumn(field=field, parent=(), after=None, first=False):
            schema = Schema.from_json(schema_string(Struct((field,))))
            fields: list[Field] = list(schema.fields)
            return lambda properties: table.alter.add_columns(fields, commit_properties=properties)
        case ops.SetNullable(path=(name,), nullable=True):
            return lambda properties: table.alter.drop_column_not_null(name, commit_properties=properties)
        case ops.EnableFeature(feature=feature) if feature in FEATURES:
            return lambda properties: table.alter.add_feature(
                FEATURES[feature], allow_protocol_versions_increase=True, commit_properties=properties
            )
    return None
