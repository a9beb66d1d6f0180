"""Changes of a table's definition, and upkeep, as calls of deltalake."""

from __future__ import annotations

from delta_adapters.dialects import render_sql
from delta_adapters.dialects.delta_rs_constraints import DeltaRsConstraintDialect
from delta_models import operations as ops
from delta_models.schema import Struct, schema_string

PORTABLE = DeltaRsConstraintDialect()
FEATURES = {
    "appendOnly": "AppendOnly",
    "changeDataFeed": "ChangeDataFeed",
    "checkConstraints": "CheckConstraints",
    "deletionVectors": "DeletionVectors",
    "generatedColumns": "GeneratedColumns",
    "invariants": "Invariants",
    "timestampNtz": "TimestampWithoutTimezone",
}


def statements(operation: ops.Operation, schema: Struct, handle: str) -> list[str] | None:
    """The lines that perform the operation on a table of this schema; None if it is of another kind."""
    alter = f"{handle}.alter"
    match operation:
        case ops.SetProperties(properties=pairs):
            custom = any(not key.startswith("delta.") for key, _ in pairs)
            more = ", raise_if_not_exists=False" if custom else ""
            return [f"{alter}.set_table_properties({dict(pairs)!r}{more})"]
        case ops.AddConstraint(name=name, check=check):
            return [f"{alter}.add_constraint({ {name: render_sql(check, schema, PORTABLE)}!r})"]
        case ops.DropConstraint(name=name, if_exists=if_exists):
            return [f"{alter}.drop_constraint({name!r}, raise_if_not_exists={not if_exists})"]
        case ops.AddColumn(field=field, parent=(), after=None, first=False):
            added = schema_string(Struct((field,)))
            return [f"{alter}.add_columns(Schema.from_json({added!r}).fields)"]
        case ops.SetNullable(path=(name,), nullable=True):
            return [f"{alter}.drop_column_not_null({name!r})"]
        case ops.EnableFeature(feature=feature) if feature in FEATURES:
            named = f"TableFeatures.{FEATURES[feature]}"
            return [f"{alter}.add_feature({named}, allow_protocol_versions_increase=True)"]
    return _upkeep(operation, handle)


def _upkeep(operation: ops.Operation, handle: str) -> list[str] | None:
    match operation:
        case ops.Checkpoint():
            return [f"{handle}.create_checkpoint()"]
        case ops.CleanLog():
            return [f"{handle}.cleanup_metadata()"]
        case ops.Optimize(where=None):
            return [f"{handle}.optimize.compact()"]
        case ops.ZOrder(columns=columns, where=None):
            return [f"{handle}.optimize.z_order({list(columns)!r})"]
        case ops.CompactLog(commits=commits):
            first = f"max(0, newest - {commits - 1})"
            return [f"newest = {handle}.version()", f"{handle}.compact_logs({first}, newest)"]
        case ops.Vacuum(retention_hours=hours, dry_run=dry_run, lite=lite):
            retention = "None" if hours is None else str(int(hours))
            options = f"dry_run={dry_run}, enforce_retention_duration={hours is None}, full={not lite}"
            return [f"{handle}.vacuum({retention}, {options})"]
    return None
