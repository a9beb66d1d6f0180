"""Operations as calls of delta-spark's public API: DataFrames, `DeltaTable`, and SQL where only SQL has the call."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path
from typing import Any, ClassVar

from delta_adapters.contract import Answer, Identity
from delta_adapters.delta_spark.rejections import rejection_of
from delta_adapters.delta_spark.session import build_version, start_session
from delta_adapters.delta_spark.statements import statement
from delta_adapters.delta_spark.streaming import read_stream, write_stream
from delta_adapters.spark.adapter import Perform, SparkAdapter
from delta_adapters.spark.sql_rendering import SQL, moment, sql
from delta_adapters.temporary_tables import temporary_source
from delta_models.operations import (
    AddColumn,
    AddConstraint,
    Append,
    AtTimestamp,
    AtVersion,
    Checkpoint,
    Cluster,
    Create,
    CreateAs,
    Drop,
    DropColumn,
    DropConstraint,
    DropFeature,
    Latest,
    Operation,
    Overwrite,
    Purge,
    ReadChanges,
    ReadStream,
    RenameColumn,
    ReorderColumn,
    Replace,
    SetDefault,
    SetNullable,
    SetProperties,
    UnsetProperties,
    Vacuum,
    When,
    WidenColumn,
    WriteStream,
)
from delta_models.outcomes import Committed, Outcome, Unsupported
from delta_models.schema import LENGTH
from delta_models.wire_names import name_of

GENERATION = "delta.generationExpression"
START, STEP, EXPLICIT = "delta.identity.start", "delta.identity.step", "delta.identity.allowExplicitInsert"
FEATURE = "delta.feature."
INCOMING = "conformance_incoming"
SQL_OPERATIONS: tuple[type[Operation], ...] = (
    AddColumn, DropColumn, RenameColumn, ReorderColumn, WidenColumn, SetNullable, SetDefault, SetProperties,
    UnsetProperties, AddConstraint, DropConstraint, Cluster, Purge,
)  # fmt: skip


class DeltaSpark(SparkAdapter):
    """delta-spark. The adapter addresses a table by its path, or by the name under which it was created."""

    HOME = __file__

    def __init__(self) -> None:
        super().__init__()
        self._names: dict[str, str] = {}  # real path of a table -> the name under which it was created

    @functools.cached_property
    def identity(self) -> Identity:
        """The engine's name and version."""
        return Identity(
            "delta-spark",
            build_version() or metadata.version("delta-spark"),
            "https://delta.io",
            "https://github.com/delta-io/delta/issues",
            ("delta-spark",),
        )

    def _session(self, work: Path) -> Any:
        return start_session(work)

    def _api(self) -> Any:
        from delta.tables import DeltaTable  # noqa: PLC0415 - takes a second

        return DeltaTable

    def _refusal(self, error: Exception) -> Outcome:
        return rejection_of(error)

    # Read

    def _frame(self, at: When) -> Any:
        reader = self._spark.read.format("delta")
        match at:
            case Latest():
                pass
            case AtVersion(version=version):
                reader = reader.option("versionAsOf", version)
            case AtTimestamp(micros=micros):
                reader = reader.option("timestampAsOf", moment(micros))
            case _:
                return Unsupported(f"a read at {name_of(at)}")
        return reader.load(self._location)

    def _changes(self, read: ReadChanges) -> Any:
        reader = self._spark.read.format("delta").option("readChangeFeed", "true")
        if isinstance(read.first, AtVersion):
            reader = reader.option("startingVersion", read.first.version)
        if isinstance(read.last, AtVersion):
            reader = reader.option("endingVersion", read.last.version)
        return reader.load(self._location)

    def _details(self, at: When) -> Mapping[str, Any]:
        """Return the details of the table. For an older version, Spark only shows properties and the protocol."""
        if not isinstance(at, AtVersion):
            return super()._details(at)
        name = SQL.quote(f"{self._location}@v{at.version}")
        shown = dict(map(tuple, self._spark.sql(f"SHOW TBLPROPERTIES delta.{name}").collect()))
        versions = {key: int(shown.pop(f"delta.{key}")) for key in ("minReaderVersion", "minWriterVersion")}
        features = [key.removeprefix(FEATURE) for key in shown if key.startswith(FEATURE)]
        properties = [(key, value) for key, value in shown.items() if not key.startswith(FEATURE)]
        return {**versions, "tableFeatures": features, "properties": properties}

    def _follow(self, stream: ReadStream) -> Answer | Outcome:
        return read_stream(self._spark, stream, self._location)

    # Table

    def _create(self, create: Create) -> Outcome | None:
        start = self._api().createIfNotExists if create.if_not_exists else self._api().create
        builder = start(self._spark)
        real_path = str(Path(self._location).resolve())
        # Under a second name Spark would only add the table to its catalogue, and create nothing.
        name = None if create.name is None else self._names.get(real_path) or self._name_for(create)
        if name is not None:
            builder = builder.tableName(name)
        if not create.managed:
            builder = builder.location(self._location)
        self._define(builder, create)
        if name is not None:
            self._names[real_path] = name
        return None

    def _define(self, builder: Any, definition: Create | Replace) -> None:
        for column, spark_field in zip(definition.schema, self._struct_type(definition.schema), strict=True):
            builder = builder.addColumn(
                column.name,
                column.metadata.get(LENGTH, spark_field.dataType),
                column.nullable,
                **_generated(column.metadata),
            )
        if definition.partition_by:
            builder = builder.partitionedBy(*definition.partition_by)
        if definition.cluster_by:
            builder = builder.clusterBy(*definition.cluster_by)
        for key, value in definition.properties:
            builder = builder.property(key, value)
        builder.execute()

    def _replace(self, operation: Replace) -> Outcome | None:
        start = self._api().createOrReplace if operation.or_create else self._api().replace
        self._define(start(self._spark).location(self._location), operation)
        return None

    def _create_as(self, create: CreateAs) -> Outcome | None:
        rows = self._rows(create.rows).coalesce(1)
        if not create.source_dropped:
            return self._created(create, rows)
        with temporary_source(self._location) as source:
            rows.write.format("delta").save(str(source))
            return self._created(create, self._spark.read.format("delta").load(str(source)))

    def _created(self, create: CreateAs, rows: Any) -> Outcome | None:
        from pyspark.sql import functions  # noqa: PLC0415

        writer = rows.writeTo(self._path_name()).using("delta")
        for key, value in create.properties:
            writer = writer.tableProperty(key, value)
        if create.partition_by:
            writer = writer.partitionedBy(*(functions.col(SQL.quote(name)) for name in create.partition_by))
        if create.replace:
            writer.createOrReplace()
        else:
            writer.create()
        return None

    def _name_for(self, create: Create) -> str:
        """Return a name in a database of the table's parent folder, so that a managed table lies at `location`."""
        folder = Path(self._location).resolve()
        database = f"d{abs(hash(str(folder.parent))):x}"
        self._spark.sql(
            f"CREATE DATABASE IF NOT EXISTS {SQL.quote(database)} LOCATION '{folder.parent.as_uri()}'"
        )
        return f"{SQL.quote(database)}.{SQL.quote(folder.name if create.managed else str(create.name))}"

    def _drop(self, _: Drop) -> Outcome | None:
        name = self._names.get(str(Path(self._location).resolve()))
        self._spark.sql(f"DROP TABLE {name or self._path_name()}")
        # Dropping a table without a name succeeds in Spark, but the table stays.
        return Committed() if name else None

    # Write

    def _write(self, write: Append | Overwrite, mode: str) -> Outcome | None:
        options: dict[str, str] = {}
        if isinstance(write, Overwrite):
            if write.where is not None:
                options["replaceWhere"] = sql(write.where)
            if write.dynamic:
                options["partitionOverwriteMode"] = "dynamic"
        if write.schema_mode != "none":
            options[{"merge": "mergeSchema", "overwrite": "overwriteSchema"}[write.schema_mode]] = "true"
        if write.transaction is not None:
            options |= {"txnAppId": write.transaction[0], "txnVersion": str(write.transaction[1])}
        frame = self._rows(write.rows, write.files)
        if not write.by_name:
            return self._insert(frame, mode, options)
        frame.write.format("delta").mode(mode).options(**options).save(self._location)
        return None

    def _insert(self, frame: Any, mode: str, options: Mapping[str, str]) -> Outcome | None:
        if options:
            return Unsupported("INSERT by position takes no options")
        frame.createOrReplaceTempView(INCOMING)
        into = "INTO" if mode == "append" else "OVERWRITE"
        self._spark.sql(f"INSERT {into} {self._path_name()} SELECT * FROM {INCOMING}")  # noqa: S608 - our own names
        return None

    def _write_stream(self, operation: WriteStream) -> Outcome | None:
        write_stream(self._spark, operation, self._struct_type(operation.rows.schema), self._location)
        return None

    # Constraints, properties and maintenance

    def _drop_feature(self, drop: DropFeature) -> Outcome | None:
        self._table().dropFeatureSupport(drop.feature, drop.truncate_history or None)
        return None

    def _run_statement(self, operation: Operation) -> Outcome | None:
        """Perform an operation that has no other call by a SQL statement."""
        text = statement(operation, self._path_name())
        if text is None:
            return Unsupported(f"there is no statement for {name_of(operation)}")
        self._spark.sql(text)
        return None

    def _vacuum(self, vacuum: Vacuum) -> Outcome | None:
        if not vacuum.dry_run and not vacuum.lite:
            self._table().vacuum(vacuum.retention_hours)
            return None
        words = [f"VACUUM {self._path_name()}"]
        if vacuum.lite:
            words.append("LITE")
        if vacuum.retention_hours is not None:
            words.append(f"RETAIN {vacuum.retention_hours!r} HOURS")
        if vacuum.dry_run:
            words.append("DRY RUN")
        self._spark.sql(" ".join(words)).collect()
        return None

    def _checkpoint(self, _: Checkpoint) -> Outcome | None:
        return Unsupported(
            "delta-spark has no public call for a checkpoint; it writes them by delta.checkpointInterval"
        )

    PERFORM: ClassVar[Mapping[type[Operation], Perform]] = {
        **SparkAdapter.SHARED,
        Create: _create,
        Replace: _replace,
        CreateAs: _create_as,
        Drop: _drop,
        WriteStream: _write_stream,
        DropFeature: _drop_feature,
        Vacuum: _vacuum,
        Checkpoint: _checkpoint,
        **dict.fromkeys(SQL_OPERATIONS, _run_statement),
    }

    def _path_name(self) -> str:
        return f"delta.{SQL.quote(self._location)}"


def _generated(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Return how a column is generated, as an argument of the table builder."""
    if STEP not in metadata:
        return {"generatedAlwaysAs": metadata.get(GENERATION)}
    from delta.tables import IdentityGenerator  # noqa: PLC0415 - as above

    how = "generatedByDefaultAs" if metadata.get(EXPLICIT) else "generatedAlwaysAs"
    return {how: IdentityGenerator(metadata[START], metadata[STEP])}
