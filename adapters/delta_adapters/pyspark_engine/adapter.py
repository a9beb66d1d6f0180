"""Operations as calls of the in-house engine's public API: `pyspark_delta.read`, `write` and `DeltaTable`."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path
from typing import Any, ClassVar

from delta_adapters.contract import Identity
from delta_adapters.spark.adapter import Perform, SparkAdapter
from delta_adapters.spark.java import find_java
from delta_adapters.spark.session import start_session
from delta_adapters.spark.sql_rendering import moment, sql
from delta_models.operations import (
    AddColumn,
    AddConstraint,
    Append,
    AtTimestamp,
    AtVersion,
    Checkpoint,
    Create,
    CreateAs,
    DropConstraint,
    Latest,
    Operation,
    Overwrite,
    Purge,
    ReadChanges,
    Replace,
    SetNullable,
    SetProperties,
    UnsetProperties,
    Vacuum,
    When,
)
from delta_models.outcomes import Outcome, Unsupported
from delta_models.schema import Struct
from delta_models.wire_names import name_of


class PysparkEngine(SparkAdapter):
    """The in-house engine. The adapter addresses tables by their paths."""

    HOME = __file__

    @functools.cached_property
    def identity(self) -> Identity:
        """The engine's name and version."""
        return Identity(
            "pyspark",
            metadata.version("delta-conformance"),
            "https://github.com/delta-conformance/delta-conformance",
            "https://github.com/delta-conformance/delta-conformance/issues",
            ("delta-spark",),
        )

    def _session(self, work: Path) -> Any:
        return start_session(work, {}, find_java())

    def _api(self) -> Any:
        from pyspark_delta import DeltaTable  # noqa: PLC0415 - takes a second

        return DeltaTable

    def _refusal(self, error: Exception) -> Outcome:
        from delta_adapters.pyspark_engine.rejections import outcome_of  # noqa: PLC0415 - imports the engine

        return outcome_of(error)

    # Read

    def _frame(self, at: When) -> Any:
        from pyspark_delta import read  # noqa: PLC0415

        match at:
            case Latest():
                return read(self._spark, self._location)
            case AtVersion(version=version):
                return read(self._spark, self._location, version=version)
            case AtTimestamp(micros=micros):
                return read(self._spark, self._location, timestamp=moment(micros))
        return Unsupported(f"a read at {name_of(at)}")

    def _changes(self, _: ReadChanges) -> Any:
        return Unsupported("change feeds")

    # Table

    def _create(self, create: Create) -> Outcome | None:
        start = self._api().createIfNotExists if create.if_not_exists else self._api().create
        if create.name is not None or create.managed or create.cluster_by:
            return Unsupported("names in a catalogue and clustered tables")
        self._define(start(self._spark), create)
        return None

    def _replace(self, replace: Replace) -> Outcome | None:
        start = self._api().createOrReplace if replace.or_create else self._api().replace
        if replace.cluster_by:
            return Unsupported("clustered tables")
        self._define(start(self._spark), replace)
        return None

    def _define(self, builder: Any, table: Create | Replace) -> None:
        builder = builder.location(self._location).addColumns(self._struct_type(table.schema))
        if table.partition_by:
            builder = builder.partitionedBy(*table.partition_by)
        for key, value in table.properties:
            builder = builder.property(key, value)
        builder.execute()

    def _create_as(self, create: CreateAs) -> Outcome | None:
        if create.replace:
            return Unsupported("CreateAs with replace")
        self._save(
            self._rows(create.rows),
            "error",
            partition_by=create.partition_by,
            properties=dict(create.properties),
        )
        return None

    # Write

    def _write(self, write: Append | Overwrite, mode: str) -> Outcome | None:
        if not write.by_name:
            return Unsupported("by position")
        options: dict[str, Any] = {}
        if isinstance(write, Overwrite):
            if write.where is not None:
                options["replace_where"] = sql(write.where)
            if write.dynamic:
                options["partition_overwrite_mode"] = "dynamic"
        if write.schema_mode != "none":
            options[f"{write.schema_mode}_schema"] = True
        if write.transaction is not None:
            options |= {"txn_app_id": write.transaction[0], "txn_version": write.transaction[1]}
        self._save(self._rows(write.rows, write.files), mode, **options)
        return None

    def _save(self, frame: Any, mode: Any, **options: Any) -> None:
        from pyspark_delta import write  # noqa: PLC0415

        write(frame, self._location, mode=mode, user_metadata=self._tag or None, **options)

    # Constraints, properties and maintenance

    def _vacuum(self, vacuum: Vacuum) -> Outcome | None:
        if vacuum.lite:
            return Unsupported("VACUUM LITE")
        self._table().vacuum(vacuum.retention_hours, dryRun=vacuum.dry_run)
        return None

    def _purge(self, _: Purge) -> Outcome | None:
        self._table().purge()
        return None

    def _add_column(self, add: AddColumn) -> Outcome | None:
        if add.first or add.after is not None:
            return Unsupported("a column elsewhere than at the end")
        self._table().addColumns(self._struct_type(Struct((add.field,))), add.parent)
        return None

    def _set_nullable(self, change: SetNullable) -> Outcome | None:
        self._table().setNullable(change.path, change.nullable)
        return None

    def _set_properties(self, change: SetProperties) -> Outcome | None:
        self._table().setProperties(dict(change.properties))
        return None

    def _unset_properties(self, change: UnsetProperties) -> Outcome | None:
        self._table().unsetProperties(*change.keys)
        return None

    def _add_constraint(self, add: AddConstraint) -> Outcome | None:
        self._table().addConstraint(add.name, sql(add.check))
        return None

    def _drop_constraint(self, drop: DropConstraint) -> Outcome | None:
        self._table().dropConstraint(drop.name, ifExists=drop.if_exists)
        return None

    def _checkpoint(self, _: Checkpoint) -> Outcome | None:
        self._table().checkpoint()
        return None

    PERFORM: ClassVar[Mapping[type[Operation], Perform]] = {
        **SparkAdapter.SHARED,
        Create: _create,
        Replace: _replace,
        CreateAs: _create_as,
        Vacuum: _vacuum,
        Purge: _purge,
        AddColumn: _add_column,
        SetNullable: _set_nullable,
        SetProperties: _set_properties,
        UnsetProperties: _unset_properties,
        AddConstraint: _add_constraint,
        DropConstraint: _drop_constraint,
        Checkpoint: _checkpoint,
    }
