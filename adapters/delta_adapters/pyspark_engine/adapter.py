"""The alphabet as calls of the in-house engine's public API: `pyspark_delta.read`, `write` and `DeltaTable`."""

from __future__ import annotations

import dataclasses
import datetime as dt
import functools
import json
import os
import re
import sys
from collections.abc import Callable, Mapping
from importlib import metadata
from pathlib import Path
from typing import Any, ClassVar, NoReturn

from delta_adapters.arrow_rows import to_arrow
from delta_adapters.contract import Answer, Identity, Look, detail_table, history_table
from delta_adapters.delta_spark.rejections import EngineGone
from delta_adapters.delta_spark.session import stop_session
from delta_adapters.dialects import Inexpressible, render_sql
from delta_adapters.dialects.spark_sql import SparkSqlDialect
from delta_adapters.pyspark_engine.session import start_session
from delta_models.expressions import Expression
from delta_models.operations import (
    AddColumn,
    AddConstraint,
    Append,
    AtTimestamp,
    AtVersion,
    Checkpoint,
    CloneTo,
    ConvertFromParquet,
    Create,
    CreateAs,
    Delete,
    Detail,
    DropConstraint,
    EnableFeature,
    History,
    Latest,
    Merge,
    MergeClause,
    Operation,
    Optimize,
    Overwrite,
    Purge,
    Read,
    Reopen,
    Replace,
    Restore,
    SetNullable,
    SetProperties,
    UnsetProperties,
    Update,
    Vacuum,
    When,
    ZOrder,
)
from delta_models.outcomes import Committed, NoChange, Outcome, Unknown, Unsupported
from delta_models.schema import Struct, schema_string
from delta_models.values import Rows

COMMIT = re.compile(r"(\d{20})\.json")
DIED_WITH_ITS_ENGINE = 70
SQL = SparkSqlDialect()
EPOCH = dt.datetime(1970, 1, 1)  # noqa: DTZ001 - in the session's zone, which is UTC
TAG = "spark.databricks.delta.commitInfo.userMetadata"


class PysparkEngine:
    """The in-house engine on one Spark session: started once, one table addressed at a time by its path."""

    def __init__(self) -> None:
        self._spark: Any = None
        self._location = ""
        self._tag: str | None = None

    @functools.cached_property
    def identity(self) -> Identity:
        """Who is tested."""
        return Identity(
            "pyspark",
            metadata.version("delta-conformance"),
            "https://github.com/delta-conformance/delta-conformance",
            "https://github.com/delta-conformance/delta-conformance/issues",
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
        """Address the table at this path. The engine keeps what it knows of a table by path: a new one is cold."""
        self._location = location

    def execute(self, operation: Operation, tag: str) -> Outcome:
        """Perform one operation."""
        perform = self._PERFORM.get(type(operation))
        if perform is None:
            return Unsupported(f"the adapter does not know {type(operation).__name__}")
        before = self._version()
        try:
            self._tag = tag or None
            if tag:
                self._spark.conf.set(TAG, tag)
            else:
                self._spark.conf.unset(TAG)
            answer = perform(self, operation)
        except Inexpressible as error:
            return Unsupported(str(error))
        except Exception as error:  # noqa: BLE001 - whatever the engine throws is told as a rejection
            return self._refused(error, before)
        if answer is not None:
            return answer
        return NoChange() if self._version() == before else Committed()

    def read(self, read: Look) -> Answer | Outcome:
        """The rows of the table, its history, or what the engine says of it."""
        try:
            match read:
                case Read():
                    return self._rows_of(read)
                case History():
                    told = self._table().history().collect()
                    return Answer(
                        history_table((row["version"], row["operation"], row["timestamp"]) for row in told)
                    )
                case Detail():
                    row = self._table().detail().collect()[0]
                    protocol = (row["minReaderVersion"], row["minWriterVersion"])
                    return Answer(
                        detail_table(
                            row["numFiles"],
                            row["sizeInBytes"],
                            row["partitionColumns"],
                            row["properties"],
                            protocol,
                        )
                    )
            return Unsupported(type(read).__name__)
        except Inexpressible as error:
            return Unsupported(str(error))
        except Exception as error:  # noqa: BLE001
            return self._refused(error, self._version())

    # Table

    def _create(self, create: Create) -> Outcome | None:
        from pyspark_delta import DeltaTable  # noqa: PLC0415 - takes a second

        start = DeltaTable.createIfNotExists if create.if_not_exists else DeltaTable.create
        if create.name is not None or create.managed or create.cluster_by:
            return Unsupported("names in a catalogue and clustered tables")
        self._defined(start(self._spark), create)
        return None

    def _replace(self, replace: Replace) -> Outcome | None:
        from pyspark_delta import DeltaTable  # noqa: PLC0415

        start = DeltaTable.createOrReplace if replace.or_create else DeltaTable.replace
        if replace.cluster_by:
            return Unsupported("clustered tables")
        self._defined(start(self._spark), replace)
        return None

    def _defined(self, builder: Any, table: Create | Replace) -> None:
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

    def _clone(self, clone: CloneTo) -> Outcome | None:
        target = str(Path(self._location).resolve().parent / clone.target)
        if isinstance(clone.at, AtVersion):
            self._table().cloneAtVersion(clone.at.version, target, isShallow=clone.shallow)
        else:
            self._table().clone(target, isShallow=clone.shallow)
        return Committed()  # a version of the clone, not of the table addressed

    def _convert(self, convert: ConvertFromParquet) -> Outcome | None:
        from pyspark_delta import DeltaTable  # noqa: PLC0415

        partitions = Struct(tuple(convert.rows.schema[name] for name in convert.partition_by))
        DeltaTable.convertToDelta(
            self._spark,
            f"parquet.{SQL.quote(self._location)}",
            self._struct_type(partitions) if convert.partition_by else None,
        )
        return None

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
        options: dict[str, Any] = {}
        if overwrite.where is not None:
            options["replace_where"] = _sql(overwrite.where)
        if overwrite.dynamic:
            options["partition_overwrite_mode"] = "dynamic"
        return self._write(overwrite, "overwrite", options)

    def _write(self, write: Append | Overwrite, mode: str, options: dict[str, Any]) -> Outcome | None:
        if not write.by_name:
            return Unsupported("by position")
        if write.schema_mode != "none":
            options[f"{write.schema_mode}_schema"] = True
        if write.transaction is not None:
            options |= {"txn_app_id": write.transaction[0], "txn_version": write.transaction[1]}
        frame = self._rows(write.rows)
        frame = frame.coalesce(1) if write.files == 1 else frame.repartition(write.files)
        self._save(frame, mode, **options)
        return None

    def _save(self, frame: Any, mode: Any, **options: Any) -> None:
        from pyspark_delta import write  # noqa: PLC0415

        write(frame, self._location, mode=mode, user_metadata=self._tag, **options)

    # Change

    def _delete(self, delete: Delete) -> Outcome | None:
        self._table().delete(_rendered(delete.where))
        return None

    def _update(self, update: Update) -> Outcome | None:
        self._table().update(_rendered(update.where), _assignments(update.assignments))
        return None

    def _merge(self, merge: Merge) -> Outcome | None:
        if merge.schema_evolution:
            return Unsupported("merge with schema evolution")
        source = self._rows(merge.source).alias("source")
        builder = self._table().alias("target").merge(source, _sql(merge.on))
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

    def _zorder(self, zorder: ZOrder) -> Outcome | None:
        builder = self._table().optimize()
        if zorder.where is not None:
            builder = builder.where(_sql(zorder.where))
        builder.executeZOrderBy(*(SQL.quote(name) for name in zorder.columns))
        return None

    def _vacuum(self, vacuum: Vacuum) -> Outcome | None:
        if vacuum.lite:
            return Unsupported("VACUUM LITE")
        self._table().vacuum(vacuum.retention_hours, dryRun=vacuum.dry_run)
        return None

    def _purge(self, _: Purge) -> Outcome | None:
        self._table().purge()
        return None

    # Rules

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
        self._table().addConstraint(add.name, _sql(add.check))
        return None

    def _drop_constraint(self, drop: DropConstraint) -> Outcome | None:
        self._table().dropConstraint(drop.name, ifExists=drop.if_exists)
        return None

    def _enable_feature(self, enable: EnableFeature) -> Outcome | None:
        self._table().addFeatureSupport(enable.feature)
        return None

    def _checkpoint(self, _: Checkpoint) -> Outcome | None:
        self._table().checkpoint()
        return None

    def _reopen(self, _: Reopen) -> Outcome | None:
        return Unsupported("the harness reopens a table by `open` with another path")

    _PERFORM: ClassVar[dict[type[Operation], Callable[[Any, Any], Outcome | None]]] = {
        Create: _create,
        Replace: _replace,
        CreateAs: _create_as,
        Restore: _restore,
        Append: _append,
        Overwrite: _overwrite,
        Delete: _delete,
        Update: _update,
        Merge: _merge,
        Optimize: _optimize,
        ZOrder: _zorder,
        Vacuum: _vacuum,
        Purge: _purge,
        AddColumn: _add_column,
        SetNullable: _set_nullable,
        SetProperties: _set_properties,
        UnsetProperties: _unset_properties,
        AddConstraint: _add_constraint,
        DropConstraint: _drop_constraint,
        EnableFeature: _enable_feature,
        CloneTo: _clone,
        ConvertFromParquet: _convert,
        Checkpoint: _checkpoint,
        Reopen: _reopen,
    }

    # Means

    def _table(self) -> Any:
        from pyspark_delta import DeltaTable  # noqa: PLC0415

        return DeltaTable.forPath(self._spark, self._location)

    def _rows_of(self, read: Read) -> Answer | Outcome:
        frame = self._frame(read.at)
        if isinstance(frame, Unsupported):
            return frame
        if read.where is not None:
            frame = frame.where(_sql(read.where))
        if read.columns is not None:
            frame = frame.select([SQL.quote(each) for each in read.columns])
        return Answer(frame.toArrow())

    def _frame(self, at: When) -> Any:
        from pyspark_delta import read  # noqa: PLC0415

        match at:
            case Latest():
                return read(self._spark, self._location)
            case AtVersion(version=version):
                return read(self._spark, self._location, version=version)
            case AtTimestamp(micros=micros):
                return read(self._spark, self._location, timestamp=_moment(micros))
        return Unsupported(f"a read at {type(at).__name__}")

    def _rows(self, rows: Rows) -> Any:
        """A frame of the rows, in which every column may be null: whether one must not is the table's to say."""
        schema = Struct(tuple(dataclasses.replace(each, nullable=True) for each in rows.schema))
        return self._spark.createDataFrame(to_arrow(Rows(schema, rows.rows)), self._struct_type(schema))

    def _struct_type(self, schema: Struct) -> Any:
        from pyspark.sql.types import StructType  # noqa: PLC0415

        return StructType.fromJson(json.loads(schema_string(schema)))

    def _version(self) -> int | None:
        """The newest version in the table's folder: a look at the storage."""
        try:
            names = os.listdir(Path(self._location, "_delta_log"))  # noqa: PTH208 - names are all that is needed
        except (FileNotFoundError, NotADirectoryError):
            return None
        return max((int(found[1]) for found in map(COMMIT.fullmatch, names) if found), default=None)

    def _refused(self, error: Exception, before: int | None) -> Outcome:
        from delta_adapters.pyspark_engine.rejections import refusal  # noqa: PLC0415 - imports the engine

        try:
            refused = refusal(error)
        except EngineGone as gone:
            self._die(gone)
        if self._version() != before:
            return Unknown(f"it failed, and there is a new version: {refused}")
        return refused

    def _die(self, gone: EngineGone) -> NoReturn:
        """A host without its engine is of no use: it dies of it, and the harness sees when and at what."""
        print(f"Spark's JVM is gone: {gone}", file=sys.stderr, flush=True)  # noqa: T201 - the host's own log
        os._exit(DIED_WITH_ITS_ENGINE)


def _sql(expression: Expression) -> str:
    return render_sql(expression, None, SQL)


def _rendered(expression: Expression | None) -> str | None:
    return None if expression is None else _sql(expression)


def _assignments(assignments: tuple[tuple[str, Expression], ...]) -> dict[str, str]:
    return {SQL.quote(name): _sql(value) for name, value in assignments}


def _moment(micros: int) -> str:
    return (EPOCH + dt.timedelta(microseconds=micros)).isoformat(sep=" ")


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
