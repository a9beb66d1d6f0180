"""`DeltaTable`: a Delta table with the Python API of delta-spark's `delta.tables`, name for name.

from pyspark_delta import DeltaTable

table = DeltaTable.forPath(spark, "/data/events")
table.delete("date < '2020-01-01'")
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql.types import StructType

from pyspark_delta.builders import (
    DeltaMergeBuilder,
    DeltaOptimizeBuilder,
    DeltaTableBuilder,
    IdentityGenerator,
)
from pyspark_delta.catalog import place_of
from pyspark_delta.commands import (
    alter,
    clone,
    convert,
    delete,
    detail,
    drop_feature,
    generate,
    history,
    purge,
    restore,
    update,
    vacuum,
)
from pyspark_delta.exceptions import InvalidArgument
from pyspark_delta.log.delta_log import DeltaLog
from pyspark_delta.log.store import table_path
from pyspark_delta.missing_files import missing_files_named
from pyspark_delta.scan import scan
from pyspark_delta.storage import storage_failures

__all__ = [
    "DeltaMergeBuilder",
    "DeltaOptimizeBuilder",
    "DeltaTable",
    "DeltaTableBuilder",
    "IdentityGenerator",
]


class DeltaTable:
    """A table at a path; make one with `forPath` or `forName`. Every operation acts on the newest version."""

    def __init__(self, spark: SparkSession, log: DeltaLog, alias: str | None = None) -> None:
        self._spark = spark
        self._log = log
        self._alias = alias

    # Making tables

    @classmethod
    def forPath(
        cls, sparkSession: SparkSession, path: str, hadoopConf: Mapping[str, str] | None = None
    ) -> DeltaTable:
        """Return the table at a path; NotADeltaTable if there is none."""
        _check_hadoop_conf(hadoopConf or {}, path)
        log = DeltaLog.for_path(path, sparkSession)
        log.require()
        return cls(sparkSession, log)

    @classmethod
    def forName(cls, sparkSession: SparkSession, tableOrViewName: str) -> DeltaTable:
        """Return the table with this name in the session's catalogue, or of ``delta.`/path` ``."""
        return cls.forPath(sparkSession, place_of(sparkSession, tableOrViewName))

    @classmethod
    def isDeltaTable(cls, sparkSession: SparkSession, identifier: str) -> bool:
        """Whether there is a table at this path."""
        return bool(DeltaLog.for_path(identifier, sparkSession).exists())

    @classmethod
    def create(cls, sparkSession: SparkSession | None = None) -> DeltaTableBuilder:
        """Return a builder for a new table; its `execute()` fails if the table exists."""
        return DeltaTableBuilder(cls._session(sparkSession), "create")

    @classmethod
    def createIfNotExists(cls, sparkSession: SparkSession | None = None) -> DeltaTableBuilder:
        """Return a builder for a table that is created only if it does not exist."""
        return DeltaTableBuilder(cls._session(sparkSession), "create if not exists")

    @classmethod
    def replace(cls, sparkSession: SparkSession | None = None) -> DeltaTableBuilder:
        """Return a builder for a table that replaces the existing one."""
        return DeltaTableBuilder(cls._session(sparkSession), "replace")

    @classmethod
    def createOrReplace(cls, sparkSession: SparkSession | None = None) -> DeltaTableBuilder:
        """Return a builder for a table that replaces the existing one, if there is one."""
        return DeltaTableBuilder(cls._session(sparkSession), "create or replace")

    @classmethod
    def convertToDelta(
        cls, sparkSession: SparkSession, identifier: str, partitionSchema: str | StructType | None = None
    ) -> DeltaTable:
        """Turn a folder of Parquet files, ``parquet.`/path` ``, into a table in place."""
        log = convert.convert_to_delta(sparkSession, identifier, partitionSchema)
        return cls(sparkSession, log)

    # Reading

    def toDF(self) -> DataFrame:
        """The rows of the newest version."""
        frame = scan(self._spark, self._log.update())
        return frame if self._alias is None else frame.alias(self._alias)

    def alias(self, aliasName: str) -> DeltaTable:
        """Return the same table under a name that conditions can use."""
        return DeltaTable(self._spark, self._log, aliasName)

    def count(self) -> int:
        """Return the number of rows: from the log if it has all counts, else by a scan."""
        snapshot = self._log.update()
        known = snapshot.files().total_rows()
        if known is not None:
            return int(known)
        with missing_files_named(snapshot):
            return int(scan(self._spark, snapshot).count())

    def history(self, limit: int | None = None) -> DataFrame:
        """Return the commits of the table, newest first."""
        return history.history(self._spark, self._log, limit)

    def detail(self) -> DataFrame:
        """Return one row about the table: its path, schema, size, properties and protocol."""
        return detail.detail(self._spark, self._log)

    # Changing rows

    def delete(self, condition: str | Column | None = None) -> None:
        """Delete the rows that the condition picks, all rows without a condition."""
        _is_condition(condition)
        delete.delete(self._spark, self._log, condition, self._alias)

    def update(
        self,
        condition: str | Column | None = None,
        set: Mapping[str, str | Column] | None = None,  # noqa: A002 - delta-spark's name
    ) -> None:
        """Set new values, SQL text or Columns, in the rows that the condition picks, in all without a condition."""
        _is_condition(condition)
        _is_assignment(set, "set")
        update.update(self._spark, self._log, set or {}, condition, self._alias)

    def merge(self, source: DataFrame, condition: str | Column) -> DeltaMergeBuilder:
        """Return a builder that merges source rows into the table: add when...() clauses, then `execute()`."""
        if source is None:
            raise ValueError("a merge needs a source: a DataFrame")
        if not isinstance(source, DataFrame):
            raise TypeError(f"the source of a merge must be a DataFrame, not {type(source).__name__}")
        if condition is None:
            raise ValueError("a merge needs a condition: SQL text or a Column")
        _is_condition(condition)
        return DeltaMergeBuilder(self._spark, self._log, source, condition, self._alias)

    # Maintenance

    def optimize(self) -> DeltaOptimizeBuilder:
        """Return a builder: choose partitions with where(), then executeCompaction() or executeZOrderBy()."""
        return DeltaOptimizeBuilder(self._spark, self._log)

    def vacuum(self, retentionHours: float | None = None, dryRun: bool = False) -> DataFrame:
        """Delete files that no version younger than the retention needs; a dry run only lists them."""
        return vacuum.vacuum(self._spark, self._log, retentionHours, dry_run=dryRun)

    def checkpoint(self) -> None:
        """Write a checkpoint of the newest version."""
        with storage_failures(f"a checkpoint of {self._log.path} can't be written"):
            self._log.checkpoint()

    def purge(self, partitionFilter: str | None = None) -> DataFrame:
        """Rewrite files with deletion vectors without the deleted rows; return one row with metrics."""
        return purge.purge(self._spark, self._log, partitionFilter)

    def generate(self, mode: str) -> None:
        """Write manifests for engines that read no Delta log; the mode is `symlink_format_manifest`."""
        generate.generate(self._spark, self._log, mode)

    def restoreToVersion(self, version: int) -> DataFrame:
        """Restore the table to a version."""
        _is_integer(version, "version")
        return restore.restore(self._spark, self._log, version=version)

    def restoreToTimestamp(self, timestamp: str) -> DataFrame:
        """Restore the table to its version at a time."""
        _is_text(timestamp, "timestamp")
        return restore.restore(self._spark, self._log, timestamp=timestamp)

    def clone(
        self,
        target: str,
        isShallow: bool = False,
        replace: bool = False,
        properties: Mapping[str, str] | None = None,
    ) -> DeltaTable:
        """Clone the newest version to another path; a shallow clone refers to this table's files."""
        return self._cloned(target, isShallow, replace, properties)

    def cloneAtVersion(
        self,
        version: int,
        target: str,
        isShallow: bool = False,
        replace: bool = False,
        properties: Mapping[str, str] | None = None,
    ) -> DeltaTable:
        """Clone a version to another path."""
        _is_integer(version, "version")
        return self._cloned(target, isShallow, replace, properties, version=version)

    def cloneAtTimestamp(
        self,
        timestamp: str,
        target: str,
        isShallow: bool = False,
        replace: bool = False,
        properties: Mapping[str, str] | None = None,
    ) -> DeltaTable:
        """Clone the table's version at a time to another path."""
        _is_text(timestamp, "timestamp")
        return self._cloned(target, isShallow, replace, properties, timestamp=timestamp)

    # Operations for which delta-spark needs SQL

    def setProperties(self, properties: Mapping[str, str]) -> None:
        """Set properties of the table, and raise its protocol if they need it."""
        alter.set_properties(self._spark, self._log, properties)

    def unsetProperties(self, *names: str) -> None:
        """Remove properties; properties that the table does not have are ignored."""
        alter.unset_properties(self._spark, self._log, names, if_exists=True)

    def addColumns(self, columns: StructType, parent: Sequence[str] = ()) -> None:
        """Add nullable columns at the end of the table, or of the struct at the path `parent`."""
        alter.add_columns(self._spark, self._log, columns.fields, tuple(parent))

    def setNullable(self, path: Sequence[str], nullable: bool) -> None:
        """Allow or forbid null in a column; forbidding fails if a row has null there."""
        alter.set_nullable(self._spark, self._log, tuple(path), nullable=nullable)

    def addConstraint(self, name: str, check: str) -> None:
        """Add a condition that every row, old or new, must meet."""
        alter.add_constraint(self._spark, self._log, name, check)

    def dropConstraint(self, name: str, ifExists: bool = False) -> None:
        """Remove a condition."""
        alter.drop_constraint(self._spark, self._log, name, if_exists=ifExists)

    # Protocol

    def upgradeTableProtocol(self, readerVersion: int, writerVersion: int) -> None:
        """Raise the protocol versions that the table needs of its readers and writers."""
        _is_integer(readerVersion, "readerVersion")
        _is_integer(writerVersion, "writerVersion")
        alter.upgrade_protocol(self._spark, self._log, readerVersion, writerVersion)

    def addFeatureSupport(self, featureName: str) -> None:
        """Add a feature to the table's protocol."""
        _is_text(featureName, "featureName")
        alter.add_feature(self._spark, self._log, featureName)

    def dropFeatureSupport(self, featureName: str, truncateHistory: bool | None = None) -> None:
        """Remove a feature that concerns writers only from the table's protocol; other features are refused by name."""
        _is_text(featureName, "featureName")
        if truncateHistory is not None:
            _is_bool(truncateHistory, "truncateHistory")
        drop_feature.drop_feature(self._spark, self._log, featureName, truncate_history=bool(truncateHistory))

    @staticmethod
    def _session(spark: SparkSession | None) -> SparkSession:
        return SparkSession.active() if spark is None else spark

    def _cloned(
        self, target: str, is_shallow: bool, replace: bool, properties: Mapping[str, str] | None, **when: Any
    ) -> DeltaTable:
        _is_text(target, "target")
        _is_bool(is_shallow, "isShallow")
        _is_bool(replace, "replace")
        if properties is not None and not isinstance(properties, Mapping):
            raise ValueError(f"properties must be a dict, not {type(properties).__name__}")
        for key, value in (properties or {}).items():
            _is_text(key, "the name of a property")
            _is_text(value, f"the property {key}")
        log = clone.clone(
            self._spark,
            self._log,
            target,
            shallow=is_shallow,
            replace=replace,
            properties=properties or {},
            **when,
        )
        return DeltaTable(self._spark, log)


def _check_hadoop_conf(settings: Mapping[str, str], path: str) -> None:
    """Raise for Hadoop settings that would have no effect. A local disk needs none, so there they are ignored."""
    strange = [name for name in settings if not name.startswith(("fs.", "dfs."))]
    if strange:
        raise InvalidArgument(
            f"hadoopConf has {', '.join(strange)}, which is nothing of a file system",
            "Its names begin with `fs.` or `dfs.`; other settings belong to the session.",
        )
    if settings and not table_path(path).startswith("/"):
        raise InvalidArgument(
            "hadoopConf has no meaning here: the log of a table is not read through Hadoop",
            "Set what Spark needs to reach the data files in the session, what the log needs in its storage.",
        )


def _is_condition(condition: object) -> None:
    if condition is not None and not isinstance(condition, str | Column):
        raise TypeError(f"a condition must be SQL text or a Column, not {type(condition).__name__}")


def _is_assignment(assigned: object, name: str) -> None:
    if assigned is None:
        raise ValueError(f"{name} is missing: a dict of columns and their new values")
    if not isinstance(assigned, Mapping):
        raise TypeError(f"{name} must be a dict of columns and values, not {type(assigned).__name__}")
    for key, value in assigned.items():
        if not isinstance(key, str):
            raise TypeError(f"the columns in {name} must be named by texts, not by {type(key).__name__}")
        if not isinstance(value, str | Column):
            raise TypeError(f"the values in {name} must be SQL text or Columns, not {type(value).__name__}")


# delta-spark's Python raises ValueError for these, even though the type is wrong.


def _is_integer(value: object, name: str) -> None:
    if not isinstance(value, int) or isinstance(value, bool):
        raise ValueError(f"{name} must be an int, not {type(value).__name__}")  # noqa: TRY004


def _is_text(value: object, name: str) -> None:
    if not isinstance(value, str):
        raise ValueError(f"{name} must be a text, not {type(value).__name__}")  # noqa: TRY004


def _is_bool(value: object, name: str) -> None:
    if not isinstance(value, bool):
        raise ValueError(f"{name} must be a bool, not {type(value).__name__}")  # noqa: TRY004
