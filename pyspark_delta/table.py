"""A Delta table as a PySpark user handles it: the API of delta-spark's `delta.tables`, name for name.

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
    """A table at a path. What is done with it sees the newest version; make one with `forPath` or `forName`."""

    def __init__(self, spark: SparkSession, log: DeltaLog, alias: str | None = None) -> None:
        self._spark = spark
        self._log = log
        self._alias = alias

    # Where tables come from

    @classmethod
    def forPath(
        cls, sparkSession: SparkSession, path: str, hadoopConf: Mapping[str, str] | None = None
    ) -> DeltaTable:
        """The table at a path; NotADeltaTable if there is none."""
        _check_hadoop_conf(hadoopConf or {}, path)
        log = DeltaLog.for_path(path, sparkSession)
        log.require()
        return cls(sparkSession, log)

    @classmethod
    def forName(cls, sparkSession: SparkSession, tableOrViewName: str) -> DeltaTable:
        """The table that the session's catalogue, or ``delta.`/path` ``, names."""
        return cls.forPath(sparkSession, place_of(sparkSession, tableOrViewName))

    @classmethod
    def isDeltaTable(cls, sparkSession: SparkSession, identifier: str) -> bool:
        """Whether there is a table at this path."""
        return bool(DeltaLog.for_path(identifier, sparkSession).exists())

    @classmethod
    def create(cls, sparkSession: SparkSession | None = None) -> DeltaTableBuilder:
        """Describe a new table; there must be none yet."""
        return DeltaTableBuilder(cls._session(sparkSession), "create")

    @classmethod
    def createIfNotExists(cls, sparkSession: SparkSession | None = None) -> DeltaTableBuilder:
        """Describe a table to be created unless there is one."""
        return DeltaTableBuilder(cls._session(sparkSession), "create if not exists")

    @classmethod
    def replace(cls, sparkSession: SparkSession | None = None) -> DeltaTableBuilder:
        """Describe a table in place of the one there is."""
        return DeltaTableBuilder(cls._session(sparkSession), "replace")

    @classmethod
    def createOrReplace(cls, sparkSession: SparkSession | None = None) -> DeltaTableBuilder:
        """Describe a table, in place of the one there is if there is one."""
        return DeltaTableBuilder(cls._session(sparkSession), "create or replace")

    @classmethod
    def convertToDelta(
        cls, sparkSession: SparkSession, identifier: str, partitionSchema: str | StructType | None = None
    ) -> DeltaTable:
        """Make a folder of Parquet files, ``parquet.`/path` ``, a table in place."""
        log = convert.convert_to_delta(sparkSession, identifier, partitionSchema)
        return cls(sparkSession, log)

    # Looking at it

    def toDF(self) -> DataFrame:
        """The rows of the newest version."""
        frame = scan(self._spark, self._log.update())
        return frame if self._alias is None else frame.alias(self._alias)

    def alias(self, aliasName: str) -> DeltaTable:
        """The same table under a name that conditions can use."""
        return DeltaTable(self._spark, self._log, aliasName)

    def count(self) -> int:
        """How many rows there are: from the log where it knows, else counted."""
        snapshot = self._log.update()
        known = snapshot.files().total_rows()
        if known is not None:
            return int(known)
        with missing_files_named(snapshot):
            return int(scan(self._spark, snapshot).count())

    def history(self, limit: int | None = None) -> DataFrame:
        """What was done to the table, the newest first."""
        return history.history(self._spark, self._log, limit)

    def detail(self) -> DataFrame:
        """One row about the table: its place, schema, size, properties, protocol."""
        return detail.detail(self._spark, self._log)

    # Changing its rows

    def delete(self, condition: str | Column | None = None) -> None:
        """Delete the rows that the condition picks, all without one."""
        _is_condition(condition)
        delete.delete(self._spark, self._log, condition, self._alias)

    def update(
        self,
        condition: str | Column | None = None,
        set: Mapping[str, str | Column] | None = None,  # noqa: A002 - delta-spark's name
    ) -> None:
        """Give new values, SQL text or Columns, to the rows that the condition picks, to all without one."""
        _is_condition(condition)
        _is_assignment(set, "set")
        update.update(self._spark, self._log, set or {}, condition, self._alias)

    def merge(self, source: DataFrame, condition: str | Column) -> DeltaMergeBuilder:
        """Join rows of a source to the table; say with when...() what becomes of them, and execute()."""
        if source is None:
            raise ValueError("a merge needs a source: a DataFrame")
        if not isinstance(source, DataFrame):
            raise TypeError(f"the source of a merge must be a DataFrame, not {type(source).__name__}")
        if condition is None:
            raise ValueError("a merge needs a condition: SQL text or a Column")
        _is_condition(condition)
        return DeltaMergeBuilder(self._spark, self._log, source, condition, self._alias)

    # Upkeep

    def optimize(self) -> DeltaOptimizeBuilder:
        """Say with where() which partitions, and executeCompaction() or executeZOrderBy()."""
        return DeltaOptimizeBuilder(self._spark, self._log)

    def vacuum(self, retentionHours: float | None = None, dryRun: bool = False) -> DataFrame:
        """Delete files that no version younger than the retention needs; a dry run only tells which."""
        return vacuum.vacuum(self._spark, self._log, retentionHours, dry_run=dryRun)

    def checkpoint(self) -> None:
        """Write a checkpoint of the newest version."""
        with storage_failures(f"a checkpoint of {self._log.path} can't be written"):
            self._log.checkpoint()

    def purge(self, partitionFilter: str | None = None) -> DataFrame:
        """Rewrite files with deleted rows without them; one row with metrics."""
        return purge.purge(self._spark, self._log, partitionFilter)

    def generate(self, mode: str) -> None:
        """Write manifests for engines that know no Delta log: `symlink_format_manifest`."""
        generate.generate(self._spark, self._log, mode)

    def restoreToVersion(self, version: int) -> DataFrame:
        """Make the table as it was in a version."""
        _is_integer(version, "version")
        return restore.restore(self._spark, self._log, version=version)

    def restoreToTimestamp(self, timestamp: str) -> DataFrame:
        """Make the table as it was at a time."""
        _is_text(timestamp, "timestamp")
        return restore.restore(self._spark, self._log, timestamp=timestamp)

    def clone(
        self,
        target: str,
        isShallow: bool = False,
        replace: bool = False,
        properties: Mapping[str, str] | None = None,
    ) -> DeltaTable:
        """A copy of the newest version at another path; a shallow one refers to this table's files."""
        return self._cloned(target, isShallow, replace, properties)

    def cloneAtVersion(
        self,
        version: int,
        target: str,
        isShallow: bool = False,
        replace: bool = False,
        properties: Mapping[str, str] | None = None,
    ) -> DeltaTable:
        """A copy of a version."""
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
        """A copy of the table as it was at a time."""
        _is_text(timestamp, "timestamp")
        return self._cloned(target, isShallow, replace, properties, timestamp=timestamp)

    # What SQL would be needed for with delta-spark

    def setProperties(self, properties: Mapping[str, str]) -> None:
        """Give properties of the table values; what of the protocol they need comes with them."""
        alter.set_properties(self._spark, self._log, properties)

    def unsetProperties(self, *names: str) -> None:
        """Take properties away; those that the table has not are no error."""
        alter.unset_properties(self._spark, self._log, names, if_exists=True)

    def addColumns(self, columns: StructType, parent: Sequence[str] = ()) -> None:
        """Add nullable columns at the end of the table, or of the struct that `parent` names step by step."""
        alter.add_columns(self._spark, self._log, columns.fields, tuple(parent))

    def setNullable(self, path: Sequence[str], nullable: bool) -> None:
        """Let a column be null, or forbid it, which no row may break."""
        alter.set_nullable(self._spark, self._log, tuple(path), nullable=nullable)

    def addConstraint(self, name: str, check: str) -> None:
        """Let every row, old and new, meet a condition."""
        alter.add_constraint(self._spark, self._log, name, check)

    def dropConstraint(self, name: str, ifExists: bool = False) -> None:
        """Take a condition away."""
        alter.drop_constraint(self._spark, self._log, name, if_exists=ifExists)

    # Protocol

    def upgradeTableProtocol(self, readerVersion: int, writerVersion: int) -> None:
        """Raise the versions of the protocol that the table asks of its readers and writers."""
        _is_integer(readerVersion, "readerVersion")
        _is_integer(writerVersion, "writerVersion")
        alter.upgrade_protocol(self._spark, self._log, readerVersion, writerVersion)

    def addFeatureSupport(self, featureName: str) -> None:
        """Let the table use a feature."""
        _is_text(featureName, "featureName")
        alter.add_feature(self._spark, self._log, featureName)

    def dropFeatureSupport(self, featureName: str, truncateHistory: bool | None = None) -> None:
        """Take a feature out of the table's protocol that asks nothing of readers; others are refused by name."""
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
    """Settings of file systems ask for nothing on a local disk; elsewhere they would be needed, and not be heard."""
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


# What delta-spark's Python refuses as a ValueError, whatever is wrong is the kind.


def _is_integer(value: object, name: str) -> None:
    if not isinstance(value, int) or isinstance(value, bool):
        raise ValueError(f"{name} must be an int, not {type(value).__name__}")  # noqa: TRY004


def _is_text(value: object, name: str) -> None:
    if not isinstance(value, str):
        raise ValueError(f"{name} must be a text, not {type(value).__name__}")  # noqa: TRY004


def _is_bool(value: object, name: str) -> None:
    if not isinstance(value, bool):
        raise ValueError(f"{name} must be a bool, not {type(value).__name__}")  # noqa: TRY004
