"""Changes of a table's definition and of its log as calls of deltalake."""

from __future__ import annotations

from collections.abc import Callable

from delta_models import operations as ops
from delta_models.expressions import Expression
from delta_models.schema import Struct, schema_string

FEATURES = {
    "appendOnly": "AppendOnly",
    "changeDataFeed": "ChangeDataFeed",
    "checkConstraints": "CheckConstraints",
    "deletionVectors": "DeletionVectors",
    "generatedColumns": "GeneratedColumns",
    "invariants": "Invariants",
    "timestampNtz": "TimestampWithoutTimezone",
}


def definition(operation: ops.Operation, sql: Callable[[Expression], str]) -> list[str] | None:
    """The lines that perform the operation; None if it is of another kind."""
    match operation:
        case ops.Create(name=None, managed=False, cluster_by=()):
            return [_create(operation, "ignore" if operation.if_not_exists else None)]
        case ops.Replace(or_create=True, cluster_by=()):
            return [_create(operation, "overwrite")]
        case ops.SetProperties(properties=pairs):
            return [f"DeltaTable(path).alter.set_table_properties({dict(pairs)!r})"]
        case ops.AddConstraint(name=name, check=check):
            return [f"DeltaTable(path).alter.add_constraint({ {name: sql(check)}!r})"]
        case ops.AddColumn(field=field, parent=(), after=None, first=False):
            schema = schema_string(Struct((field,)))
            return [f"DeltaTable(path).alter.add_columns(Schema.from_json({schema!r}).fields)"]
        case ops.EnableFeature(feature=feature) if feature in FEATURES:
            named = f"deltalake.TableFeatures.{FEATURES[feature]}"
            return [f"DeltaTable(path).alter.add_feature({named}, allow_protocol_versions_increase=True)"]
        case ops.CompactLog(commits=commits):
            return [
                "newest = DeltaTable(path).version()",
                f"DeltaTable(path).compact_logs(max(0, newest - {commits - 1}), newest)",
            ]
    return None


def _create(operation: ops.Create | ops.Replace, mode: str | None) -> str:
    arguments = [f"Schema.from_json({schema_string(operation.schema)!r})"]
    if operation.partition_by:
        arguments.append(f"partition_by={list(operation.partition_by)!r}")
    if operation.properties:
        arguments.append(f"configuration={dict(operation.properties)!r}")
    if mode is not None:
        arguments.append(f'mode="{mode}"')
    return f"DeltaTable.create(path, {', '.join(arguments)})"
