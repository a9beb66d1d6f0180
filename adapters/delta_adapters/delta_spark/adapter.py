"""The alphabet as calls of delta-spark's public API: DataFrames, `DeltaTable`, and SQL where only SQL has the call."""

from __future__ import annotations

import functools
import json
import os
import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from importlib import metadata
from pathlib import Path
from typing import Any, ClassVar, NoReturn

from delta_adapters.arrow_rows import to_arrow
from delta_adapters.contract import Answer, Identity, Look, detail_table, history_table
from delta_adapters.delta_spark.rejections import EngineGone, reject
from delta_adapters.delta_spark.session import start_session, stop_session
from delta_adapters.delta_spark.statements import statement
from delta_adapters.dialects import Inexpressible, render_sql
from delta_adapters.dialects.spark_sql import SparkSqlDialect
from delta_models.expressions import Expression
from delta_models.operations import (
    AddColumn,
    AddConstraint,
    Append,
    AtTimestamp,
    AtVersion,
    Checkpoint,
    CloneTo,
    Cluster,
    ConvertFromParquet,
    Create,
    CreateAs,
    Delete,
    Detail,
    Drop,
    DropColumn,
    DropConstraint,
    DropFeature,
    EnableFeature,
    History,
    Latest,
    Merge,
    MergeClause,
    Operation,
    Optimize,
    Overwrite,
    Purge,
    ReadChanges,
    RenameColumn,
    Reopen,
    ReorderColumn,
    Replace,
    Restore,
    SetDefault,
    SetNullable,
    SetProperties,
    UnsetProperties,
    Update,
    Vacuum,
    When,
    WidenColumn,
    ZOrder,
)
from delta_models.outcomes import Committed, NoChange, Outcome, Unknown, Unsupported
from delta_models.schema import Struct, schema_string
from delta_models.values import Rows

COMMIT = re.compile(r"(\d{20})\.json")
DIED_WITH_ITS_ENGINE = 70
SQL = SparkSqlDialect()
TAG = "spark.databricks.delta.commitInfo.userMetadata"


GENERATION = "delta.generationExpression"
INCOMING = "conformance_incoming"
EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 - in the session's zone, which is UTC
STATED: tuple[type[Operation], ...] = (
    AddColumn, DropColumn, RenameColumn, ReorderColumn, WidenColumn, SetNullable, SetDefault, SetProperties,
    UnsetProperties, AddConstraint, DropConstraint, Cluster, Purge,
)  # fmt: skip


class DeltaSpark:
    """delta-spark in one JVM: started once, one table addressed at a time by its path."""

    def __init__(self) -> None:
        self._spark: Any = None
        self._location = ""
        self._names: dict[str, str] = {}  # real path of a table that was created by name -> that name

    @functools.cached_property
    def identity(self) -> Identity:
        """Who is tested."""
        return Identity(
            "delta-spark",
            metadata.version("delta-spark"),
            "https://delta.io",
            "https://github.com/delta-io/delta/issues",
            ("delta-spark",),
        )

    @functools.cached_property
    def capabilities(self) -> Mapping[str, Any]:
        """What it claims."""
        text = Path(__file__).with_name("capabilities.json").read_text(encoding="utf-8")
        document: dict[str, Any] = json.loads(text)
        return document

    def start(self, work: Path) -> None:
        """Start the JVM and the session."""
        self._spark = start_session(work)

    def stop(self) -> None:
        """End the session and its JVM."""
        if self._spark is not None:
            stop_session(self._spark)
            self._spark = None

    def open(self, location: str) -> None:
        """Address the table at this path. delta-spark keeps what it knows of a table by path: a new one is cold."""
        self._location = location

    def execute(self, operation: Operation, tag: str) -> Outcome:
        """Perform one operation."""
        perform = self._PERFORM.get(type(operation))
        if perform is None:
            return Unsupported(f"the adapter does not know {type(operation).__name__}")
        before = self._version()
        try:
            self._tag(tag)
            answer = perform(self, operation)
        except Inexpressible as error:
            return Unsupported(str(error))
        except Exception as error:  # noqa: BLE001 - whatever the engine throws is told as a rejection
            return self._refused(error, before)
        if answer is not None:
            return answer
        return NoChange() if self._version() == before else Committed()

    def read(self, read: Look) -> Answer | Outcome:
        """The rows of the table, or what is told of it."""
        try:
            match read:
                case ReadChanges():
                    return Answer(self._changes(read).toArrow())
                case History():
                    told = self._table().history().select("version", "operation", "timestamp").collect()
                    return Answer(history_table(tuple(each) for each in told))
                case Detail():
                    return Answer(_detail(self._table().detail().collect()[0]))
            frame = self._frame(read.at)
            if isinstance(frame, Unsupported):
                return frame
            if read.where is not None:
                frame = frame.where(_sql(read.where))
            if read.columns is not None:
                frame = frame.select([SQL.quote(each) for each in read.columns])
            return Answer(frame.toArrow())
        except Inexpressible as error:
            return Unsupported(str(error))
        except Exception as error:  # noqa: BLE001
            return self._refused(error, self._version())

    def _changes(self, read: ReadChanges) -> Any:
        reader = self._spark.read.format("delta").option("readChangeFeed", "true")
        if isinstance(read.first, AtVersion):
            reader = reader.option("startingVersion", read.first.version)
        if isinstance(read.last, AtVersion):
            reader = reader.option("endingVersion", read.last.version)
        return reader.load(self._location)

    # Table

    def _create(self, create: Create) -> Outcome | None:
        from delta.tables import DeltaTable  # noqa: PLC0415

        start = DeltaTable.createIfNotExists if create.if_not_exists else DeltaTable.create
        builder = start(self._spark)
        if create.name is not None:
            builder = builder.tableName(self._name_for(create))
        if not create.managed:
            builder = builder.location(self._location)
        self._define(builder, create)
        if create.name is not None:
            self._names[str(Path(self._location).resolve())] = self._name_for(create)
        return None

    def _define(self, builder: Any, definition: Create | Replace) -> None:
        for column, type_of_it in zip(definition.schema, self._struct_type(definition.schema), strict=True):
            made = column.metadata.get(GENERATION)
            builder = builder.addColumn(
                column.name, type_of_it.dataType, column.nullable, generatedAlwaysAs=made
            )
        if definition.partition_by:
            builder = builder.partitionedBy(*definition.partition_by)
        if definition.cluster_by:
            builder = builder.clusterBy(*definition.cluster_by)
        for key, value in definition.properties:
            builder = builder.property(key, value)
        builder.execute()

    def _replace(self, operation: Replace) -> Outcome | None:
        from delta.tables import DeltaTable  # noqa: PLC0415

        start = DeltaTable.createOrReplace if operation.or_create else DeltaTable.replace
        self._define(start(self._spark).location(self._location), operation)
        return None

    def _create_as(self, create: CreateAs) -> Outcome | None:
        from pyspark.sql import functions  # noqa: PLC0415

        writer = self._rows(create.rows).coalesce(1).writeTo(self._path_name()).using("delta")
        for key, value in create.properties:
            writer = writer.tableProperty(key, value)
        if create.partition_by:
            writer = writer.partitionedBy(*(functions.col(SQL.quote(each)) for each in create.partition_by))
        if create.replace:
            writer.createOrReplace()
        else:
            writer.create()
        return None

    def _clone(self, clone: CloneTo) -> Outcome | None:
        target = str(Path(self._location).resolve().parent / clone.target)
        if isinstance(clone.at, AtVersion):
            self._table().cloneAtVersion(clone.at.version, target, isShallow=clone.shallow)
        else:
            self._table().clone(target, isShallow=clone.shallow)
        return NoChange()

    def _convert(self, convert: ConvertFromParquet) -> Outcome | None:
        from delta.tables import DeltaTable  # noqa: PLC0415

        partitions = Struct(tuple(convert.rows.schema[name] for name in convert.partition_by))
        DeltaTable.convertToDelta(
            self._spark,
            f"parquet.{SQL.quote(self._location)}",
            self._struct_type(partitions) if convert.partition_by else None,
        )
        return None

    def _name_for(self, create: Create) -> str:
        """The name in the catalogue: in a database of its own, so that the folder of a managed table is `location`."""
        folder = Path(self._location).resolve()
        database = f"d{abs(hash(str(folder.parent))):x}"
        self._spark.sql(
            f"CREATE DATABASE IF NOT EXISTS {SQL.quote(database)} LOCATION '{folder.parent.as_uri()}'"
        )
        return f"{SQL.quote(database)}.{SQL.quote(folder.name if create.managed else str(create.name))}"

    def _drop(self, _: Drop) -> Outcome | None:
        name = self._names.get(str(Path(self._location).resolve()))
        self._spark.sql(f"DROP TABLE {name or self._path_name()}")
        # Of a table without a name Spark says "done", and leaves it where it is.
        return Committed() if name else None

    def _restore(self, restore: Restore) -> Outcome | None:
        match restore.at:
            case AtVersion(version=version):
                self._table().restoreToVersion(version)
            case AtTimestamp(micros=micros):
                self._table().restoreToTimestamp(_moment(micros))
            case _:
                return Unsupported(f"restore to {type(restore.at).__name__}")
        return None

    # Write

    def _append(self, append: Append) -> Outcome | None:
        return self._write(append, "append", {})

    def _overwrite(self, overwrite: Overwrite) -> Outcome | None:
        options: dict[str, str] = {}
        if overwrite.where is not None:
            options["replaceWhere"] = _sql(overwrite.where)
        if overwrite.dynamic:
            options["partitionOverwriteMode"] = "dynamic"
        return self._write(overwrite, "overwrite", options)

    def _write(self, write: Append | Overwrite, mode: str, options: dict[str, str]) -> Outcome | None:
        if write.schema_mode != "none":
            options[{"merge": "mergeSchema", "overwrite": "overwriteSchema"}[write.schema_mode]] = "true"
        if write.transaction is not None:
            options |= {"txnAppId": write.transaction[0], "txnVersion": str(write.transaction[1])}
        frame = self._rows(write.rows)
        frame = frame.coalesce(1) if write.files == 1 else frame.repartition(write.files)
        if not write.by_name:
            if options:
                return Unsupported("INSERT by position takes no options")
            frame.createOrReplaceTempView(INCOMING)
            into = "INTO" if mode == "append" else "OVERWRITE"
            self._spark.sql(f"INSERT {into} {self._path_name()} SELECT * FROM {INCOMING}")  # noqa: S608 - our own names
            return None
        frame.write.format("delta").mode(mode).options(**options).save(self._location)
        return None

    # Change

    def _delete(self, delete: Delete) -> Outcome | None:
        self._table().delete(_rendered(delete.where))
        return None

    def _update(self, update: Update) -> Outcome | None:
        self._table().update(_rendered(update.where), _assignments(update.assignments))
        return None

    def _merge(self, merge: Merge) -> Outcome | None:
        source = self._rows(merge.source).alias("source")
        builder = self._table().alias("target").merge(source, _sql(merge.on))
        if merge.schema_evolution:
            builder = builder.withSchemaEvolution()
        for clause in merge.clauses:
            builder = _with_clause(builder, clause)
        builder.execute()
        return None

    # Upkeep

    def _optimize(self, optimize: Optimize) -> Outcome | None:
        builder = self._table().optimize()
        if optimize.where is not None:
            builder = builder.where(_sql(optimize.where))
        builder.executeCompaction()
        return None

    def _z_order(self, order: ZOrder) -> Outcome | None:
        builder = self._table().optimize()
        if order.where is not None:
            builder = builder.where(_sql(order.where))
        builder.executeZOrderBy(*map(SQL.quote, order.columns))
        return None

    def _enable(self, enable: EnableFeature) -> Outcome | None:
        self._table().addFeatureSupport(enable.feature)
        return None

    def _drop_feature(self, drop: DropFeature) -> Outcome | None:
        self._table().dropFeatureSupport(drop.feature, drop.truncate_history or None)
        return None

    def _state(self, operation: Operation) -> Outcome | None:
        """A statement of SQL, for what has no other call."""
        words = statement(operation, self._path_name())
        if words is None:
            return Unsupported(f"there is no statement for {type(operation).__name__}")
        self._spark.sql(words)
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

    def _reopen(self, _: Reopen) -> Outcome | None:
        return Unsupported("the harness reopens a table by `open` with another path")

    _PERFORM: ClassVar[dict[type[Operation], Callable[[Any, Any], Outcome | None]]] = {
        Create: _create,
        Drop: _drop,
        Restore: _restore,
        Append: _append,
        Overwrite: _overwrite,
        Delete: _delete,
        Update: _update,
        Merge: _merge,
        Optimize: _optimize,
        Vacuum: _vacuum,
        Checkpoint: _checkpoint,
        Reopen: _reopen,
        Replace: _replace,
        CreateAs: _create_as,
        CloneTo: _clone,
        ConvertFromParquet: _convert,
        ZOrder: _z_order,
        EnableFeature: _enable,
        DropFeature: _drop_feature,
        **dict.fromkeys(STATED, _state),
    }

    # Means

    def _table(self) -> Any:
        from delta.tables import DeltaTable  # noqa: PLC0415

        return DeltaTable.forPath(self._spark, self._location)

    def _path_name(self) -> str:
        return f"delta.{SQL.quote(self._location)}"

    def _frame(self, at: When) -> Any:
        reader = self._spark.read.format("delta")
        match at:
            case Latest():
                pass
            case AtVersion(version=version):
                reader = reader.option("versionAsOf", version)
            case AtTimestamp(micros=micros):
                reader = reader.option("timestampAsOf", _moment(micros))
            case _:
                return Unsupported(f"a read at {type(at).__name__}")
        return reader.load(self._location)

    def _rows(self, rows: Rows) -> Any:
        """A frame of the rows, in which every column may be null: whether one must not is the table's to say."""
        schema = Struct(tuple(replace(each, nullable=True) for each in rows.schema))
        return self._spark.createDataFrame(to_arrow(Rows(schema, rows.rows)), self._struct_type(schema))

    def _struct_type(self, schema: Struct) -> Any:
        from pyspark.sql.types import StructType  # noqa: PLC0415

        return StructType.fromJson(json.loads(schema_string(schema)))

    def _tag(self, tag: str) -> None:
        if tag:
            self._spark.conf.set(TAG, tag)
        else:
            self._spark.conf.unset(TAG)

    def _version(self) -> int | None:
        """The newest version in the table's folder: a look at the storage, far cheaper than to ask the engine."""
        try:
            names = os.listdir(Path(self._location, "_delta_log"))  # noqa: PTH208 - names are all that is needed
        except (FileNotFoundError, NotADirectoryError):
            return None
        return max((int(found[1]) for found in map(COMMIT.fullmatch, names) if found), default=None)

    def _refused(self, error: Exception, before: int | None) -> Outcome:
        try:
            rejected = reject(error)
        except EngineGone as gone:
            self._die(gone)
        if self._version() != before:
            return Unknown(f"it failed, and there is a new version: {rejected.kind}: {rejected.message}")
        return rejected

    def _die(self, gone: EngineGone) -> NoReturn:
        """A host without its engine is of no use: it dies of it, and the harness sees when and at what."""
        print(f"delta-spark's JVM is gone: {gone}", file=sys.stderr, flush=True)  # noqa: T201 - the host's own log
        os._exit(DIED_WITH_ITS_ENGINE)


def _moment(micros: int) -> str:
    return (EPOCH + timedelta(microseconds=micros)).isoformat(sep=" ", timespec="milliseconds")


def _detail(row: Any) -> Any:
    return detail_table(
        row["numFiles"], row["sizeInBytes"], row["partitionColumns"], row["properties"],
        (row["minReaderVersion"], row["minWriterVersion"]),
    )  # fmt: skip


def _sql(expression: Expression) -> str:
    return render_sql(expression, None, SQL)


def _rendered(expression: Expression | None) -> str | None:
    return None if expression is None else _sql(expression)


def _assignments(assignments: tuple[tuple[str, Expression], ...]) -> dict[str, str]:
    return {SQL.quote(name): _sql(value) for name, value in assignments}


def _with_clause(builder: Any, clause: MergeClause) -> Any:
    condition, values = _rendered(clause.condition), _assignments(clause.assignments)
    match clause.when, clause.action, clause.everything:
        case "matched", "update", True:
            return builder.whenMatchedUpdateAll(condition)
        case "matched", "update", False:
            return builder.whenMatchedUpdate(condition, values)
        case "matched", "delete", _:
            return builder.whenMatchedDelete(condition)
        case "not-matched", "insert", True:
            return builder.whenNotMatchedInsertAll(condition)
        case "not-matched", "insert", False:
            return builder.whenNotMatchedInsert(condition, values)
        case "not-matched-by-source", "update", False:
            return builder.whenNotMatchedBySourceUpdate(condition, values)
        case "not-matched-by-source", "delete", _:
            return builder.whenNotMatchedBySourceDelete(condition)
    raise Inexpressible(f"a merge clause {clause.when}, {clause.action}{' *' if clause.everything else ''}")
