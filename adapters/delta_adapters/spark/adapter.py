"""An engine on one Spark session whose API is delta-spark's or like it: what such adapters do alike.

A subclass says who it is, how its session starts, how it reads, writes and creates, and what its exceptions mean.
"""

from __future__ import annotations

import functools
import json
import os
import re
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, ClassVar, NoReturn

from delta_adapters.arrow_rows import to_arrow
from delta_adapters.contract import Answer, Identity, Query, detail_table, history_table
from delta_adapters.dialects import Inexpressible
from delta_adapters.spark.jvm_errors import EngineGone
from delta_adapters.spark.session import stop_session
from delta_adapters.spark.sql_rendering import SQL, assignments, maybe_sql, moment, sql, with_clause
from delta_models.operations import (
    Append,
    AtTimestamp,
    AtVersion,
    CloneTo,
    ConvertFromParquet,
    Delete,
    Detail,
    EnableFeature,
    History,
    Latest,
    Merge,
    Operation,
    Optimize,
    Overwrite,
    Read,
    ReadChanges,
    ReadStream,
    Reopen,
    Restore,
    SetZone,
    Update,
    When,
    ZOrder,
)
from delta_models.outcomes import Committed, NoChange, Outcome, Rejected, Unknown, Unsupported
from delta_models.schema import Struct, schema_string
from delta_models.values import Rows
from delta_models.wire_names import name_of

COMMIT = re.compile(r"(\d{20})\.json")
DIED_WITH_ITS_ENGINE = 70
ZONE = "spark.sql.session.timeZone"
TAG = "spark.databricks.delta.commitInfo.userMetadata"
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MILLISECOND = timedelta(milliseconds=1)
TOLD = ("version", "operation", "timestamp", "operationMetrics")

Perform = Callable[[Any, Any], Outcome | None]


class SparkAdapter(ABC):
    """An engine in one JVM: started once, one table addressed at a time by its path."""

    PERFORM: ClassVar[Mapping[type[Operation], Perform]]
    HOME: ClassVar[str]  # the file of the subclass: its capability document lies beside it

    def __init__(self) -> None:
        self._spark: Any = None
        self._location = ""
        self._home = ""  # a zone belongs to a history, so to a table
        self._tag = ""

    # What a subclass says

    @property
    @abstractmethod
    def identity(self) -> Identity:
        """Who is tested."""

    @abstractmethod
    def _session(self, work: Path) -> Any:
        """Start the JVM and its session."""

    @abstractmethod
    def _api(self) -> Any:
        """The engine's class `DeltaTable`."""

    @abstractmethod
    def _refusal(self, error: Exception) -> Outcome:
        """What an exception means; raises EngineGone if the JVM is no more."""

    @abstractmethod
    def _frame(self, at: When) -> Any:
        """The table as a data frame, or Unsupported."""

    @abstractmethod
    def _changes(self, read: ReadChanges) -> Any:
        """The change feed as a data frame, or Unsupported."""

    @abstractmethod
    def _write(self, write: Append | Overwrite, mode: str) -> Outcome | None:
        """Append or overwrite."""

    # The contract

    @functools.cached_property
    def capabilities(self) -> Mapping[str, Any]:
        """What it claims."""
        text = Path(self.HOME).with_name("capabilities.json").read_text(encoding="utf-8")
        document: dict[str, Any] = json.loads(text)
        return document

    def start(self, work: Path) -> None:
        """Start the JVM and the session."""
        self._spark = self._session(work)

    def stop(self) -> None:
        """End the session and its JVM."""
        if self._spark is not None:
            stop_session(self._spark)
            self._spark = None

    def open(self, location: str) -> None:
        """Address the table at this path. The engine keeps what it knows of a table by path: a new one is cold."""
        home = str(Path(location).resolve())
        if home != self._home and self._spark is not None:
            self._home = home
            self._spark.conf.set(ZONE, "UTC")
        self._location = location

    def execute(self, operation: Operation, tag: str) -> Outcome:
        """Perform one operation."""
        perform = self.PERFORM.get(type(operation))
        if perform is None:
            return Unsupported(f"the adapter does not know {name_of(operation)}")
        before = self._version()
        try:
            self._mark(tag)
            answer = perform(self, operation)
        except Inexpressible as error:
            return Unsupported(str(error))
        except Exception as error:  # noqa: BLE001 - whatever the engine throws is told as a rejection
            return self._refused(error, before)
        if answer is not None:
            return answer
        return NoChange() if self._version() == before else Committed()

    def read(self, read: Query) -> Answer | Outcome:
        """The rows of the table, or what is told of it."""
        try:
            match read:
                case Read():
                    frame = self._frame(read.at)
                    return frame if isinstance(frame, Unsupported) else Answer(_arrow(_part(frame, read)))
                case ReadChanges():
                    frame = self._changes(read)
                    return frame if isinstance(frame, Unsupported) else Answer(_arrow(frame))
                case History():
                    told = self._table().history().select(*TOLD).collect()
                    return Answer(history_table(tuple(each) for each in told))
                case Detail(at=at):
                    return self._described(at)
                case ReadStream():
                    return self._follow(read)
        except Inexpressible as error:
            return Unsupported(str(error))
        except Exception as error:  # noqa: BLE001
            return self._refused(error, self._version())

    def _described(self, at: When) -> Answer | Outcome:
        """What is said of the table, with the schema that a reader sees, unless its rows are refused."""
        facts = self._facts(at)
        try:
            frame = self._frame(at)
            if isinstance(frame, Unsupported):
                return frame
            columns = frame._jdf.schema().json()  # noqa: SLF001 - pyspark can't hold all types that a JVM can
        except Exception as error:  # noqa: BLE001 - as in `read`
            refusal = self._refused(error, self._version())
            return Answer(detail_table(facts)) if facts else refusal
        return Answer(detail_table({**facts, "columns": str(columns)}))

    def _facts(self, at: When) -> Mapping[str, Any]:
        """What the engine says of the table, beside its columns."""
        return _details(self._table().detail().collect()[0].asDict()) if at == Latest() else {}

    def _follow(self, tail: ReadStream) -> Answer | Outcome:
        """What a reader that follows the table has got."""
        return Unsupported(f"the engine has no reader that follows {tail.follows}")

    # Operations

    def _clone(self, clone: CloneTo) -> Outcome | None:
        target = str(Path(self._location).resolve().parent / clone.target)
        if isinstance(clone.at, AtVersion):
            self._table().cloneAtVersion(clone.at.version, target, isShallow=clone.shallow)
        else:
            self._table().clone(target, isShallow=clone.shallow)
        return Committed()  # a version of the clone, not of the table addressed

    def _convert(self, convert: ConvertFromParquet) -> Outcome | None:
        partitions = Struct(tuple(convert.rows.schema[name] for name in convert.partition_by))
        self._api().convertToDelta(
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
                self._table().restoreToTimestamp(moment(micros))
            case _:
                return Unsupported(f"restore to {name_of(restore.at)}")
        return None

    def _append(self, append: Append) -> Outcome | None:
        return self._write(append, "append")

    def _overwrite(self, overwrite: Overwrite) -> Outcome | None:
        return self._write(overwrite, "overwrite")

    def _delete(self, delete: Delete) -> Outcome | None:
        self._table().delete(maybe_sql(delete.where))
        return None

    def _update(self, update: Update) -> Outcome | None:
        self._table().update(maybe_sql(update.where), assignments(update.assignments))
        return None

    def _merge(self, merge: Merge) -> Outcome | None:
        source = self._rows(merge.source).alias("source")
        builder = self._table().alias("target").merge(source, sql(merge.on))
        if merge.schema_evolution:
            builder = builder.withSchemaEvolution()
        for clause in merge.clauses:
            builder = with_clause(builder, clause)
        builder.execute()
        return None

    def _optimize(self, optimize: Optimize) -> Outcome | None:
        self._part_to_optimize(optimize).executeCompaction()
        return None

    def _z_order(self, order: ZOrder) -> Outcome | None:
        self._part_to_optimize(order).executeZOrderBy(*map(SQL.quote, order.columns))
        return None

    def _part_to_optimize(self, optimize: Optimize | ZOrder) -> Any:
        builder = self._table().optimize()
        return builder if optimize.where is None else builder.where(sql(optimize.where))

    def _enable(self, enable: EnableFeature) -> Outcome | None:
        self._table().addFeatureSupport(enable.feature)
        return None

    def _set_zone(self, there: SetZone) -> Outcome | None:
        self._spark.conf.set(ZONE, there.zone)
        return None

    def _reopen(self, _: Reopen) -> Outcome | None:
        return Unsupported("the harness reopens a table by `open` with another path")

    ALIKE: ClassVar[Mapping[type[Operation], Perform]] = {
        CloneTo: _clone,
        ConvertFromParquet: _convert,
        Restore: _restore,
        Append: _append,
        Overwrite: _overwrite,
        Delete: _delete,
        Update: _update,
        Merge: _merge,
        Optimize: _optimize,
        ZOrder: _z_order,
        EnableFeature: _enable,
        SetZone: _set_zone,
        Reopen: _reopen,
    }

    # Means

    def _table(self) -> Any:
        return self._api().forPath(self._spark, self._location)

    def _rows(self, rows: Rows, files: int | None = None) -> Any:
        """A frame of the rows, in which every column may be null: whether one must not is the table's to say."""
        schema = Struct(tuple(replace(field, nullable=True) for field in rows.schema))
        frame = self._spark.createDataFrame(to_arrow(Rows(schema, rows.rows)), self._struct_type(schema))
        if files is None:
            return frame
        return frame.coalesce(1) if files == 1 else frame.repartition(files)

    def _struct_type(self, schema: Struct) -> Any:
        from pyspark.sql.types import StructType  # noqa: PLC0415 - takes a second

        return StructType.fromJson(json.loads(schema_string(schema)))

    def _mark(self, tag: str) -> None:
        self._tag = tag
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
            refusal = self._refusal(error)
        except EngineGone as gone:
            self._die(gone)
        conflict = isinstance(refusal, Rejected) and refusal.kind.startswith("conflict.")
        if self._version() != before and not conflict:  # in a conflict it is another writer's
            return Unknown(f"it failed, and there is a new version: {refusal}")
        return refusal

    def _die(self, gone: EngineGone) -> NoReturn:
        """A host without its engine is of no use: it dies of it, and the harness sees when and at what."""
        print(f"the JVM of {self.identity.name} is gone: {gone}", file=sys.stderr, flush=True)  # noqa: T201 - the host's own log
        os._exit(DIED_WITH_ITS_ENGINE)


def _part(frame: Any, read: Read) -> Any:
    if read.where is not None:
        frame = frame.where(sql(read.where))
    return frame if read.columns is None else frame.select([SQL.quote(column) for column in read.columns])


def _arrow(frame: Any) -> Any:
    """The rows of a frame. Where a variant is null pyspark's last step fails, a cast of what came from the JVM."""
    if "variant" not in frame.schema.json():
        return frame.toArrow()
    import pyarrow as pa  # noqa: PLC0415 - as above

    return pa.Table.from_batches(frame._collect_as_arrow(empty_list_if_zero_records=False))  # noqa: SLF001


def _details(told: Mapping[str, Any]) -> dict[str, Any]:
    """What the engine's own detail says, under the names of the contract."""
    created = told.get("createdAt")
    same = (
        "numFiles", "sizeInBytes", "minReaderVersion", "minWriterVersion", "tableFeatures", "id", "name", "description",
        "partitionColumns",
    )  # fmt: skip
    return {
        **{name: told.get(name) for name in same},
        "properties": list(told["properties"].items()),
        "createdTime": None if created is None else (created.astimezone(UTC) - EPOCH) // MILLISECOND,
    }
