"""`read` a table as a data frame, `write` a data frame into a table."""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - as everyone calls it
from pyspark.sql.types import StructType

from pyspark_delta import features, predicates
from pyspark_delta import schema as schemas
from pyspark_delta.constraints import Check, checks_of, null_if_empty, with_checks
from pyspark_delta.exceptions import (
    CommitOutcomeUnknown,
    DeltaError,
    InvalidArgument,
    SchemaMismatch,
    TableExists,
)
from pyspark_delta.expressions import predicate_of
from pyspark_delta.log.actions import Action, Add, Metadata, Txn, load
from pyspark_delta.log.delta_log import DeltaLog
from pyspark_delta.log.snapshot import Snapshot
from pyspark_delta.missing_files import missing_files_named
from pyspark_delta.partition_values import internal
from pyspark_delta.predicates import Predicate
from pyspark_delta.properties import checked_properties
from pyspark_delta.scan import FILE, scan
from pyspark_delta.schema_enforcement import as_nullable, conform, merged
from pyspark_delta.transaction import Transaction
from pyspark_delta.write import WriteOptions, discard, write_files

__all__ = ["new_metadata", "read", "write"]

WriteMode = Literal["append", "overwrite", "error", "errorifexists", "ignore"]


def read(spark: SparkSession, path: str, version: int | None = None, timestamp: object = None) -> DataFrame:
    """Return the table at a path as a data frame: the newest version, or that of a number or a time.

    A time is a text or a datetime.
    """
    return scan(spark, DeltaLog.for_path(path, spark).snapshot(version, timestamp))


def write(
    df: DataFrame,
    path: str,
    mode: WriteMode = "error",
    partition_by: str | Sequence[str] | None = None,
    *,
    replace_where: str | None = None,
    merge_schema: bool = False,
    overwrite_schema: bool = False,
    partition_overwrite_mode: Literal["static", "dynamic"] = "static",
    txn_app_id: str | None = None,
    txn_version: int | None = None,
    properties: Mapping[str, str] | None = None,
    user_metadata: str | None = None,
    files: int | None = None,
    max_records_per_file: int | None = None,
    data_change: bool = True,
) -> int | None:
    """Write a frame into the table at a path, or into a new one; return the new version, None if nothing changed.

    `append` adds rows. `overwrite` replaces all rows, those that `replace_where` picks, or, with
    `partition_overwrite_mode="dynamic"`, the partitions that the frame has rows for. Columns are matched by name,
    ignoring case; values are assigned as ANSI SQL does. `merge_schema` adds the frame's columns to the table,
    `overwrite_schema` replaces the table's schema. If the table already has the `txn_version` of a `txn_app_id`, the
    write is skipped. `files` and `max_records_per_file` control how rows are split into files.
    """
    job = _WriteJob(
        df,
        DeltaLog.for_path(path, df.sparkSession),
        _mode(mode),
        tuple([partition_by] if isinstance(partition_by, str) else partition_by or ()),
        replace_where,
        merge_schema,
        overwrite_schema,
        _is_dynamic(partition_overwrite_mode),
        _transaction_id(txn_app_id, txn_version),
        dict(properties or {}),
        user_metadata,
        WriteOptions(files=files, max_records_per_file=max_records_per_file, data_change=data_change),
    )
    return job.run()


def new_metadata(
    schema: StructType,
    partition_by: Sequence[str] = (),
    properties: Mapping[str, str] | None = None,
    *,
    name: str | None = None,
    description: str | None = None,
) -> Metadata:
    """The metadata of a new table; partition columns get the schema's spelling."""
    partition = _spelled_names(schema, partition_by)
    schemas.check_names(schema, partition)
    return Metadata(
        id=str(uuid.uuid4()),
        schema_string=schemas.to_json(schema),
        partition_columns=partition,
        configuration=checked_properties(properties or {}),
        name=name,
        description=description,
        created_time=_now(),
    )


@dataclass(slots=True)
class _WriteJob:
    """One write on its way to a commit."""

    df: DataFrame
    log: DeltaLog
    mode: str
    partition_by: tuple[str, ...]
    replace_where: str | None
    merge_schema: bool
    overwrite_schema: bool
    dynamic: bool
    app: Txn | None
    properties: dict[str, str]
    user_metadata: str | None
    options: WriteOptions
    parameters: dict[str, Any] = field(default_factory=dict)

    def run(self) -> int | None:
        self._check_arguments()
        txn = self.log.begin()
        self.parameters = {"mode": self.mode.capitalize() if self.mode != "error" else "ErrorIfExists"}
        if not txn.table_exists:
            return self._create(txn)
        if self.mode == "error":
            raise TableExists(
                f"there is a table at {self.log.path} already", "Write with mode append, overwrite or ignore."
            )
        if self.mode == "ignore":
            return None
        snapshot = txn.snapshot
        if self.app is not None:
            known_version = snapshot.txn_version(self.app.app_id)
            txn.read_txn(self.app.app_id)
            if known_version is not None and known_version >= self.app.version:
                return None
        snapshot.check_writable()
        with missing_files_named(snapshot):
            if self.mode == "append":
                return self._append(txn, snapshot)
            if self.replace_where is not None:
                return self._replace_where(txn, snapshot, self.replace_where)
            if self.dynamic and snapshot.partition_columns:
                return self._replace_partitions(txn, snapshot)
            return self._overwrite(txn, snapshot)

    def _check_arguments(self) -> None:
        if self.replace_where is not None and self.mode != "overwrite":
            raise InvalidArgument(
                "replace_where only means something with mode overwrite", 'Write with mode="overwrite".'
            )
        if self.replace_where is not None and self.dynamic:
            raise InvalidArgument(
                "replace_where and dynamic partition overwrite say different things", "Use one of them."
            )
        if self.overwrite_schema and (self.mode != "overwrite" or self.dynamic):
            raise InvalidArgument(
                "overwrite_schema needs that the whole table is overwritten",
                'Write with mode="overwrite", not dynamic.',
            )

    def _create(self, txn: Transaction) -> int:
        schema = as_nullable(self.df.schema)
        assert isinstance(schema, StructType)  # noqa: S101 - a struct stays one
        metadata = new_metadata(schema, self.partition_by, self.properties)
        txn.new_table(metadata, features.protocol_for(metadata))
        frame = conform(self.df, schema)
        adds = write_files(self.df.sparkSession, frame, metadata, options=self.options, path=self.log.path)
        return self._commit(txn, metadata, adds, [])

    def _append(self, txn: Transaction, snapshot: Snapshot) -> int | None:
        metadata = self._evolved(txn, snapshot)
        frame = conform(self.df, schemas.from_json(metadata.schema_string))
        adds = self._write(frame, metadata)
        if not adds and metadata is snapshot.metadata and self.app is None:
            return None
        return self._commit(txn, metadata, adds, [], blind=True)

    def _overwrite(self, txn: Transaction, snapshot: Snapshot) -> int:
        txn.read_whole_table()
        metadata = self._redefined(txn, snapshot) if self.overwrite_schema else self._evolved(txn, snapshot)
        frame = conform(self.df, schemas.from_json(metadata.schema_string))
        removed = snapshot.files().adds()
        return self._commit(txn, metadata, self._write(frame, metadata), removed)

    def _replace_partitions(self, txn: Transaction, snapshot: Snapshot) -> int | None:
        metadata = self._evolved(txn, snapshot)
        frame = conform(self.df, schemas.from_json(metadata.schema_string))
        adds = self._write(frame, metadata)
        zone = snapshot.zone(self.df.sparkSession)
        try:
            replaced = {_key(add, snapshot, zone): add.partition_values for add in adds}
            txn.read_partitions(_partitions(snapshot, replaced.values()))
            removed = [add for add in snapshot.files().adds() if _key(add, snapshot, zone) in replaced]
        except BaseException:
            discard(self.log.path, adds)
            raise
        self.parameters["isDynamicPartitionOverwrite"] = "true"
        if not adds and metadata is snapshot.metadata and self.app is None:
            return None
        return self._commit(txn, metadata, adds, removed)

    def _replace_where(self, txn: Transaction, snapshot: Snapshot, condition: str) -> int:
        spark = self.df.sparkSession
        self.parameters["predicate"] = json.dumps([f"({condition})"])
        metadata = self._evolved(txn, snapshot)
        frame = conform(self.df, schemas.from_json(metadata.schema_string))
        predicate = predicate_of(condition, snapshot.schema, spark)
        check = Check(
            f"({condition})",
            f"the data has a row that replace_where ({condition}) does not pick:",
            _shown(frame, condition),
        )
        zone = snapshot.zone(spark)
        pruner = snapshot.pruner(zone)
        txn.read_partitions(predicate)
        candidates = snapshot.files(predicate, zone)
        if (
            predicate is not None
            and pruner.only_partitions(predicate)
            and not predicates.has_unknown(predicate)
        ):
            options = replace(self.options, checks=(check,))
            return self._commit(txn, metadata, self._write(frame, metadata, options), candidates.adds())
        # Only files with a row to replace are rewritten, with the rows that stay.
        rows = scan(spark, snapshot, candidates, with_position=True)
        ordinals = (
            rows.where(F.expr(condition)).select(FILE).distinct().toArrow()[FILE].to_pylist()
            if len(candidates)
            else []
        )
        touched = candidates.take(sorted(ordinals))
        txn.read_files(touched.adds())
        schema = schemas.from_json(metadata.schema_string)
        checks = [*checks_of(schema, metadata.configuration), check]
        fresh = with_checks(frame, checks, null_if_empty(schema, metadata.partition_columns))
        if len(touched):
            staying = scan(spark, snapshot, touched).where(~F.coalesce(F.expr(condition), F.lit(False)))
            fresh = fresh.unionAll(conform(staying, schema))
        options = replace(self.options, enforce=False)
        return self._commit(txn, metadata, self._write(fresh, metadata, options), touched.adds())

    def _write(self, frame: DataFrame, metadata: Metadata, options: WriteOptions | None = None) -> list[Add]:
        return write_files(
            frame.sparkSession, frame, metadata, options=options or self.options, path=self.log.path
        )

    def _evolved(self, txn: Transaction, snapshot: Snapshot) -> Metadata:
        """The table's metadata, extended by the frame's columns if the caller wants that."""
        metadata = snapshot.metadata
        partition_by = (
            _spelled_names(snapshot.schema, self.partition_by)
            if self.partition_by
            else snapshot.partition_columns
        )
        if partition_by != snapshot.partition_columns:
            raise SchemaMismatch(
                "the partitioning does not fit that of the table:",
                "Leave partition_by out, or overwrite the table with overwrite_schema=True.",
                differences=[
                    f"the table is partitioned by {list(snapshot.partition_columns)}, the write by {list(partition_by)}"
                ],
            )
        if self.properties:
            raise InvalidArgument(
                f"properties are given, and there is a table at {self.log.path} already",
                "Set properties when the table is made, with overwrite_schema=True, or with ALTER TABLE's means.",
            )
        if not self.merge_schema:
            return metadata
        schema = merged(snapshot.schema, self.df.schema)
        if schema == snapshot.schema:
            return metadata
        schemas.check_names(schema, metadata.partition_columns)
        return self._declared(txn, snapshot, replace(metadata, schema_string=schemas.to_json(schema)))

    def _redefined(self, txn: Transaction, snapshot: Snapshot) -> Metadata:
        """The metadata of the same table with the frame's schema."""
        schema = as_nullable(self.df.schema)
        assert isinstance(schema, StructType)  # noqa: S101 - a struct stays one
        partition = _spelled_names(
            schema,
            self.partition_by
            or [name for name in snapshot.partition_columns if schemas.find(schema, name) is not None],
        )
        schemas.check_names(schema, partition)
        metadata = replace(
            snapshot.metadata,
            schema_string=schemas.to_json(schema),
            partition_columns=partition,
            configuration={**snapshot.metadata.configuration, **checked_properties(self.properties)},
        )
        return snapshot.metadata if metadata == snapshot.metadata else self._declared(txn, snapshot, metadata)

    @staticmethod
    def _declared(txn: Transaction, snapshot: Snapshot, metadata: Metadata) -> Metadata:
        protocol = features.protocol_for(metadata, snapshot.protocol)
        if protocol != snapshot.protocol:
            txn.update_protocol(protocol)
        txn.update_metadata(metadata)
        return metadata

    def _commit(
        self,
        txn: Transaction,
        metadata: Metadata,
        adds: list[Add],
        removed: Sequence[Add],
        *,
        blind: bool = False,
    ) -> int:
        now = _now()
        actions: list[Action] = [] if self.app is None else [self.app]
        actions += [add.remove(now, self.options.data_change) for add in removed]
        actions += adds
        metrics = {
            "numFiles": str(len(adds)),
            "numOutputRows": str(sum(_rows(add) for add in adds)),
            "numOutputBytes": str(sum(add.size for add in adds)),
        }
        if removed:
            metrics |= {
                "numRemovedFiles": str(len(removed)),
                "numRemovedBytes": str(sum(add.size for add in removed)),
            }
        self.parameters["partitionBy"] = json.dumps(list(metadata.partition_columns))
        try:
            return txn.commit(
                actions,
                "WRITE",
                self.parameters,
                metrics,
                blind_append=blind,
                data_change=self.options.data_change,
                user_metadata=self.user_metadata,
            )
        except CommitOutcomeUnknown:
            raise  # the commit may exist and name the files
        except DeltaError:
            discard(self.log.path, adds)
            raise


def _mode(mode: str) -> str:
    folded = mode.lower()
    if folded not in {"append", "overwrite", "error", "errorifexists", "default", "ignore"}:
        raise InvalidArgument(f"there is no mode {mode!r}", "Use append, overwrite, error or ignore.")
    return "error" if folded in {"errorifexists", "default"} else folded


def _is_dynamic(mode: str) -> bool:
    if mode.lower() not in {"static", "dynamic"}:
        raise InvalidArgument(f"there is no partition_overwrite_mode {mode!r}", "Use static or dynamic.")
    return mode.lower() == "dynamic"


def _transaction_id(app_id: str | None, version: int | None) -> Txn | None:
    if (app_id is None) != (version is None):
        raise InvalidArgument("txn_app_id and txn_version are given together or not at all")
    return None if app_id is None or version is None else Txn(app_id, int(version), _now())


def _spelled_names(schema: StructType, names: Sequence[str]) -> tuple[str, ...]:
    """Column names in the schema's spelling; unknown names stay, so that a later check reports them."""
    fields = [schemas.find(schema, name) for name in names]
    return tuple(name if field is None else field.name for name, field in zip(names, fields, strict=True))


def _partitions(snapshot: Snapshot, values: Iterable[Mapping[str, str | None]]) -> Predicate:
    """The predicate that is true for rows of these partitions."""
    alternatives: list[Predicate] = []
    for partition in values:
        parts = [
            predicates.Comparison("<=>", (name,), internal(text, snapshot.schema[name].dataType))
            for name, text in partition.items()
        ]
        alternatives.append(predicates.all_of(parts))
    return predicates.Or(tuple(alternatives)) if alternatives else predicates.Constant(False)


def _key(add: Add, snapshot: Snapshot, zone: str) -> tuple[object, ...]:
    """A file's partition as values. Writers spell one value in several ways, so the texts can't be compared."""
    values = (
        internal(add.partition_values.get(name), snapshot.schema[name].dataType, zone)
        for name in snapshot.partition_columns
    )
    # NaN equals itself, and the two zeros are two partitions
    return tuple(repr(value) if isinstance(value, float) else value for value in values)


def _shown(frame: DataFrame, condition: str) -> tuple[str, ...]:
    return tuple(name for name in frame.columns if name.lower() in condition.lower())


def _rows(add: Add) -> int:
    return int(load(add.stats)["numRecords"]) if add.stats else 0


def _now() -> int:
    return time.time_ns() // 1_000_000
