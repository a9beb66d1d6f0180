"""The base of adapters for engines on Spark whose API is that of delta-spark, or like it.

A subclass defines the engine's identity, how its session starts, how it reads, writes and creates tables, and what its
exceptions mean.
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
HISTORY_COLUMNS = ("version", "operation", "timestamp", "operationMetrics")

Perform = Callable[[Any, Any], Outcome | None]


class SparkAdapter(ABC):
    """An engine in one JVM, started once. It addresses one table at a time, by its path."""

    PERFORM: ClassVar[Mapping[type[Operation], Perform]]
    HOME: ClassVar[str]  # the subclass' file: its capability document lies beside it

    def __init__(self) -> None:
        self._spark: Any = None
        self._location = ""
        self._home = ""  # a zone belongs to a history, so to a table
        self._tag = ""

    # For subclasses

    @property
    @abstractmethod
    def identity(self) -> Identity:
        """The engine's name and version."""

    @abstractmethod
    def _session(self, work: Path) -> Any:
        """Start the JVM and its session."""

    @abstractmethod
    def _api(self) -> Any:
        """Return the engine's class `DeltaTable`."""

    @abstractmethod
    def _refusal(self, error: Exception) -> Outcome:
        """Return what an exception means. Raises EngineGone if the JVM has ended."""

    @abstractmethod
    def _frame(self, at: When) -> Any:
        """Return the table as a data frame, or Unsupported."""

    @abstractmethod
    def _changes(self, read: ReadChanges) -> Any:
        """Return the change feed as a data frame, or Unsupported."""

    @abstractmethod
    def _write(self, write: Append | Overwrite, mode: str) -> Outcome | None:
        """Append or overwrite rows."""

    # The contract

    @functools.cached_property
    def capabilities(self) -> Mapping[str, Any]:
        """The capability document beside the subclass' file."""
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
        """Address the table at this path. The engine caches tables by path, so a new path is cold."""
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
            self._set_commit_tag(tag)
            answer = perform(self, operation)
        except Inexpressible as error:
            return Unsupported(str(error))
        except Exception as error:  # noqa: BLE001 - any exception of the engine becomes an outcome
            return self._failure(error, before)
        if answer is not None:
            return answer
        return NoChange() if self._version() == before else Committed()

    def read(self, read: Query) -> Answer | Outcome:
        """Answer a read or another query."""
        try:
            match read:
                case Read():
                    frame = self._frame(read.at)
                    return frame if isinstance(frame, Unsupported) else Answer(_arrow(_selected(frame, read)))
                case ReadChanges():
                    frame = self._changes(read)
                    return frame if isinstance(frame, Unsupported) else Answer(_arrow(frame))
                case History():
                    entries = self._table().history().select(*HISTORY_COLUMNS).collect()
                    return Answer(history_table(map(tuple, entries)))
                case Detail(at=at):
                    return self._describe(at)
                case ReadStream():
                    return self._follow(read)
        except Inexpressible as error:
            return Unsupported(str(error))
        except Exception as error:  # noqa: BLE001 - as in `execute`
            return self._failure(error, self._version())

    def _describe(self, at: When) -> Answer | Outcome:
        """Return the engine's details of the table and, unless it refuses a read, the schema that a reader sees."""
        details = self._details(at)
        try:
            frame = self._frame(at)
            if isinstance(frame, Unsupported):
                return frame
            columns = frame._jdf.schema().json()  # noqa: SLF001 - pyspark can't hold all types that a JVM can
        except Exception as error:  # noqa: BLE001 - as in `execute`
            failure = self._failure(error, self._version())
            return Answer(detail_table(details)) if details else failure
        return Answer(detail_table({**details, "columns": str(columns)}))

    def _details(self, at: When) -> Mapping[str, Any]:
        """Return the engine's details of the table, without its columns."""
        return _contract_details(self._table().detail().collect()[0].asDict()) if at == Latest() else {}

    def _follow(self, stream: ReadStream) -> Answer | Outcome:
        """Return everything that a stream reader of the table has received."""
        return Unsupported(f"the engine has no reader that follows {stream.follows}")

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
        self._optimize_builder(optimize).executeCompaction()
        return None

    def _z_order(self, order: ZOrder) -> Outcome | None:
        self._optimize_builder(order).executeZOrderBy(*map(SQL.quote, order.columns))
        return None

    def _optimize_builder(self, optimize: Optimize | ZOrder) -> Any:
        builder = self._table().optimize()
        return builder if optimize.where is None else builder.where(sql(optimize.where))

    def _enable(self, enable: EnableFeature) -> Outcome | None:
        self._table().addFeatureSupport(enable.feature)
        return None

    def _set_zone(self, change: SetZone) -> Outcome | None:
        self._spark.conf.set(ZONE, change.zone)
        return None

    def _reopen(self, _: Reopen) -> Outcome | None:
        return Unsupported("the harness reopens a table by `open` with another path")

    SHARED: ClassVar[Mapping[type[Operation], Perform]] = {
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

    # Helpers

    def _table(self) -> Any:
        return self._api().forPath(self._spark, self._location)

    def _rows(self, rows: Rows, files: int | None = None) -> Any:
        """Return a frame of the rows. Every column may be null in it, because the table decides which may not."""
        schema = Struct(tuple(replace(field, nullable=True) for field in rows.schema))
        frame = self._spark.createDataFrame(to_arrow(Rows(schema, rows.rows)), self._struct_type(schema))
        if files is None:
            return frame
        return frame.coalesce(1) if files == 1 else frame.repartition(files)

    def _struct_type(self, schema: Struct) -> Any:
        from pyspark.sql.types import StructType  # noqa: PLC0415 - takes a second

        return StructType.fromJson(json.loads(schema_string(schema)))

    def _set_commit_tag(self, tag: str) -> None:
        self._tag = tag
        if tag:
            self._spark.conf.set(TAG, tag)
        else:
            self._spark.conf.unset(TAG)

    def _version(self) -> int | None:
        """Return the newest version in the table's folder. That is far cheaper than a call of the engine."""
        try:
            names = os.listdir(Path(self._location, "_delta_log"))  # noqa: PTH208 - names are all that is needed
        except (FileNotFoundError, NotADirectoryError):
            return None
        return max((int(commit[1]) for commit in map(COMMIT.fullmatch, names) if commit), default=None)

    def _failure(self, error: Exception, before: int | None) -> Outcome:
        """Return the outcome that an exception means; Unknown if there is a new version all the same."""
        try:
            refusal = self._refusal(error)
        except EngineGone as gone:
            self._die(gone)
        conflict = isinstance(refusal, Rejected) and refusal.kind.startswith("conflict.")
        if self._version() != before and not conflict:  # in a conflict the version is another writer's
            return Unknown(f"it failed, and there is a new version: {refusal}")
        return refusal

    def _die(self, gone: EngineGone) -> NoReturn:
        """End the host: without its engine it is of no use, and so the harness sees when and at what it died."""
        print(f"the JVM of {self.identity.name} is gone: {gone}", file=sys.stderr, flush=True)  # noqa: T201 - the host's own log
        os._exit(DIED_WITH_ITS_ENGINE)


def _selected(frame: Any, read: Read) -> Any:
    if read.where is not None:
        frame = frame.where(sql(read.where))
    return frame if read.columns is None else frame.select([SQL.quote(column) for column in read.columns])


def _arrow(frame: Any) -> Any:
    """Return the rows of a frame. If a variant is null, the cast in pyspark's `toArrow` fails, so it is left out."""
    if "variant" not in frame.schema.json():
        return frame.toArrow()
    import pyarrow as pa  # noqa: PLC0415 - pyspark imports it late too

    return pa.Table.from_batches(frame._collect_as_arrow(empty_list_if_zero_records=False))  # noqa: SLF001


def _contract_details(detail: Mapping[str, Any]) -> dict[str, Any]:
    """Return the row of the engine's `detail`, under the names of the contract."""
    created = detail.get("createdAt")
    same = (
        "numFiles", "sizeInBytes", "minReaderVersion", "minWriterVersion", "tableFeatures", "id", "name", "description",
        "partitionColumns",
    )  # fmt: skip
    return {
        **{name: detail.get(name) for name in same},
        "properties": list(detail["properties"].items()),
        "createdTime": None if created is None else (created.astimezone(UTC) - EPOCH) // MILLISECOND,
    }
