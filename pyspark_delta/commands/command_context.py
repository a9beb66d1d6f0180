"""`Change`: what all operations that change a table share. It holds the transaction, the files written, and the commit.

If the commit certainly did not happen, the files written for it are deleted. If the outcome is unknown, they stay for
vacuum.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import orjson
import pyarrow.parquet as pq
from pyroaring import BitMap64
from pyspark.sql import DataFrame, SparkSession

from pyspark_delta import deletion_vectors
from pyspark_delta.arrow_rewrite import rewrite_by_arrow
from pyspark_delta.commands.conditions import read_conf
from pyspark_delta.exceptions import AppendOnlyTable, CommitOutcomeUnknown, DeltaError
from pyspark_delta.log.actions import Action, Add, DeletionVector, Metadata, Remove, load
from pyspark_delta.log.delta_log import DeltaLog
from pyspark_delta.log.snapshot import Snapshot
from pyspark_delta.missing_files import missing_files_named
from pyspark_delta.partition_values import absolute_path
from pyspark_delta.storage import storage_failures, storage_of
from pyspark_delta.transaction import Transaction
from pyspark_delta.write import WriteOptions, discard, write_files

__all__ = [
    "USER_METADATA",
    "Change",
    "RowRemoval",
    "Timer",
    "changing",
    "is_true",
    "live_rows",
    "now_ms",
    "physical_rows",
]

USER_METADATA = "spark.databricks.delta.commitInfo.userMetadata"


def now_ms() -> int:
    """The current time in milliseconds, as the log has it."""
    return time.time_ns() // 1_000_000


def is_true(properties: Mapping[str, str], key: str) -> bool:
    """Whether a property of the table is set to true."""
    return properties.get(key, "false").strip().lower() == "true"


class Timer:
    """Measures milliseconds since its creation or the last reading, for metrics."""

    def __init__(self) -> None:
        self._started = time.perf_counter()

    def ms(self) -> int:
        """Return the elapsed milliseconds and start anew."""
        now = time.perf_counter()
        elapsed, self._started = now - self._started, now
        return round(elapsed * 1000)


@dataclass(frozen=True, slots=True)
class RowRemoval:
    """The actions that take rows out of a table, and the counts that metrics need."""

    adds: tuple[Add, ...] = ()
    removes: tuple[Remove, ...] = ()
    whole_files: int = 0  # files that lost their last row, and so are removed
    rows: int = 0
    vectors_added: int = 0
    vectors_removed: int = 0
    vectors_updated: int = 0

    @classmethod
    def whole(cls, adds: Sequence[Add]) -> RowRemoval:
        """Remove these files with all their rows."""
        now = now_ms()
        removes = tuple(add.remove(now) for add in adds)
        vectors = sum(add.deletion_vector is not None for add in adds)
        return cls(removes=removes, whole_files=len(adds), vectors_removed=vectors)


@dataclass(slots=True)
class Change:
    """One operation on its way to a commit."""

    spark: SparkSession
    log: DeltaLog
    transaction: Transaction
    snapshot: Snapshot
    started: float = field(default_factory=time.perf_counter)
    data_files: list[Add] = field(default_factory=list)
    vector_files: list[str] = field(default_factory=list)
    committing: bool = False
    metadata: Metadata | None = None  # the table's new metadata, if this change sets it

    def refuse_if_append_only(self, operation: str) -> None:
        """Raise AppendOnlyTable if rows of this table may not be removed."""
        if is_true(self.snapshot.properties, "delta.appendOnly"):
            raise AppendOnlyTable(f"the table {self.log.path} is append-only, and {operation} removes rows")

    def deletion_vectors_wanted(self) -> bool:
        """Whether to mark deleted rows by deletion vectors instead of rewriting files."""
        return is_true(self.snapshot.properties, "delta.enableDeletionVectors")

    def redefine(self, metadata: Metadata) -> None:
        """Set new metadata for the commit; later writes of this change follow it."""
        self.transaction.update_metadata(metadata)
        self.metadata = metadata

    def write(self, frame: DataFrame, *, data_change: bool = True) -> list[Add]:
        """Write rows that have the table's columns in order and type; `undo` deletes the files."""
        options = WriteOptions(data_change=data_change)
        schema = self.metadata or self.snapshot
        adds = write_files(self.spark, frame, schema, options=options, path=self.log.path)
        self.data_files += adds
        return adds

    def rewrite_without(self, adds: Sequence[Add], rows: Sequence[BitMap64]) -> list[Add] | None:
        """Write each file anew without these rows and without rows already deleted; None if only Spark can do it."""
        deleted = [
            new
            if add.deletion_vector is None
            else new | deletion_vectors.read(add.deletion_vector, self.log.path, self.log.store)
            for add, new in zip(adds, rows, strict=True)
        ]
        rewritten = rewrite_by_arrow(self.spark, self.snapshot, adds, deleted)
        self.data_files += rewritten or []
        return rewritten

    def mark(self, adds: Sequence[Add], rows: Mapping[int, BitMap64]) -> RowRemoval:
        """Delete rows by deletion vectors; `rows` has ordinals in `adds`. A file without remaining rows is removed."""
        now = now_ms()
        removes: list[Remove] = []
        merged: dict[str, tuple[Add, BitMap64]] = {}
        marked = whole_files = added = removed = updated = 0
        for ordinal, new in rows.items():
            if not new:
                continue
            add = adds[ordinal]
            removes.append(add.remove(now))
            old = add.deletion_vector
            deleted = new if old is None else new | deletion_vectors.read(old, self.log.path, self.log.store)
            marked += len(deleted) - (old.cardinality if old is not None else 0)
            if len(deleted) == self.physical_rows(add):
                whole_files += 1
                removed += old is not None
            else:
                merged[add.path] = add, deleted
                added += 1
                removed += old is not None
                updated += old is not None
        vectors = self._write_vectors({path: deleted for path, (_, deleted) in merged.items()})
        marked_adds = tuple(
            replace(
                add,
                deletion_vector=vectors[path],
                data_change=True,
                stats=_with_loose_bounds(add.stats, self.physical_rows(add)),
            )
            for path, (add, _) in merged.items()
        )
        return RowRemoval(marked_adds, tuple(removes), whole_files, marked, added, removed, updated)

    def physical_rows(self, add: Add) -> int:
        """How many rows a file has, deleted ones included: from its statistics, else from its footer."""
        known = physical_rows(add)
        if known is not None:
            return known
        place = absolute_path(add.path, self.log.path)
        with storage_of(place).open(place) as file:
            return int(pq.read_metadata(file).num_rows)

    def live_rows(self, add: Add) -> int:
        """How many rows of a file are not deleted."""
        return self.physical_rows(add) - (add.deletion_vector.cardinality if add.deletion_vector else 0)

    def commit(
        self,
        actions: Iterable[Action],
        operation: str,
        parameters: Mapping[str, Any],
        metrics: Mapping[str, int | str],
        *,
        data_change: bool = True,
    ) -> int:
        """Publish the actions and return the new version."""
        self.committing = True
        return self.transaction.commit(
            list(actions),
            operation,
            dict(parameters),
            {name: str(value) for name, value in metrics.items()},
            data_change=data_change,
            user_metadata=read_conf(self.spark, USER_METADATA),
        )

    def elapsed_ms(self) -> int:
        """Milliseconds since the operation began."""
        return round((time.perf_counter() - self.started) * 1000)

    def undo(self) -> None:
        """Delete everything that this change wrote."""
        discard(self.log.path, self.data_files)
        self.log.store.delete(self.vector_files)
        self.data_files, self.vector_files = [], []

    def _write_vectors(self, rows: Mapping[str, BitMap64]) -> dict[str, DeletionVector]:
        if not rows:
            return {}
        vectors = deletion_vectors.write_many(self.log.path, dict(rows))
        for place in {vector_file(vector, self.log.path) for vector in vectors.values()} - {None}:
            self.vector_files.append(str(place).removeprefix(f"{self.log.path}/"))
        return vectors


@contextmanager
def changing(spark: SparkSession, log: DeltaLog) -> Iterator[Change]:
    """Begin a change of the table's newest version; if the block fails, undo what it wrote."""
    with storage_failures(f"the table {log.path} can't be changed"):
        transaction = log.begin()
        transaction.snapshot.check_writable()
        change = Change(spark, log, transaction, transaction.snapshot)
        try:
            with missing_files_named(change.snapshot):
                yield change
        except BaseException as problem:
            certainly_not = isinstance(problem, DeltaError) and not isinstance(problem, CommitOutcomeUnknown)
            if certainly_not or not change.committing:
                change.undo()
            raise


def vector_file(vector: DeletionVector, root: str) -> str | None:
    """The path of a deletion vector's file; None if the vector is inline in the log."""
    return None if vector.storage_type == "i" else deletion_vectors.file_of(vector, root)


def physical_rows(add: Add) -> int | None:
    """How many rows a file has, deleted ones included; None if its statistics don't say."""
    records = (load(add.stats) or {}).get("numRecords") if add.stats else None
    return None if records is None else int(records)


def live_rows(add: Add) -> int | None:
    """How many rows of a file are not deleted; None if its statistics don't say."""
    known = physical_rows(add)
    if known is None or add.deletion_vector is None:
        return known
    return known - add.deletion_vector.cardinality


def _with_loose_bounds(stats: str | None, records: int) -> str:
    """The statistics of a file that got a deletion vector: the same bounds, marked as no longer tight."""
    body = json.loads(stats, parse_int=_number, parse_float=_number) if stats else {}
    return orjson.dumps({**body, "numRecords": records, "tightBounds": False}).decode()


def _number(text: str) -> int | orjson.Fragment:
    return int(text) if len(text) < 18 and text.lstrip("-").isdigit() else orjson.Fragment(text.encode())


def total(adds: Iterable[Add | Remove], of: Callable[[Any], int | None] = lambda action: action.size) -> int:
    """The sum over files; an unknown value counts as 0."""
    return sum(of(add) or 0 for add in adds)
