"""RESTORE: make the files, schema and properties of an older version the newest version."""

from __future__ import annotations

from dataclasses import replace

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import LongType, StructField, StructType

from pyspark_delta import parallel, storage
from pyspark_delta.commands.command_context import changing, now_ms, total, vector_file
from pyspark_delta.commands.result_frames import frame_of
from pyspark_delta.exceptions import InvalidArgument, MissingDataFile
from pyspark_delta.features import reader_features, writer_features
from pyspark_delta.log.actions import Action, Add, Protocol
from pyspark_delta.log.columns import keys
from pyspark_delta.log.delta_log import DeltaLog
from pyspark_delta.log.snapshot import Snapshot
from pyspark_delta.partition_values import absolute_path

__all__ = ["restore"]

_ANSWER = StructType(
    [
        StructField(name, LongType())
        for name in (
            "table_size_after_restore",
            "num_of_files_after_restore",
            "num_removed_files",
            "num_restored_files",
            "removed_files_size",
            "restored_files_size",
        )
    ]
)


def restore(
    spark: SparkSession, log: DeltaLog, *, version: int | None = None, timestamp: str | None = None
) -> DataFrame:
    """Restore a version, or the version at a time; return one row of numbers."""
    with changing(spark, log) as change:
        current = change.snapshot
        wanted = log.snapshot(version=version, timestamp=timestamp)
        if version is not None and wanted.version == current.version:
            raise InvalidArgument(
                f"the table is at version {version} already, and there is nothing to restore",
                "Ask for an older version.",
            )
        now_files = dict(zip(keys(current.files().arrow()), range(current.num_files), strict=True))
        then_files = dict(zip(keys(wanted.files().arrow()), range(wanted.num_files), strict=True))
        restored = (
            wanted.files()
            .take([position for key, position in then_files.items() if key not in now_files])
            .adds()
        )
        removed = (
            current.files()
            .take([position for key, position in now_files.items() if key not in then_files])
            .adds()
        )
        if removed:
            change.refuse_if_append_only("RESTORE")
        _refuse_missing(spark, wanted, restored)
        now = now_ms()
        actions: list[Action] = [replace(add, data_change=True) for add in restored]
        actions += [add.remove(now) for add in removed]
        protocol = _protocol_for_both(current.protocol, wanted.protocol)
        if protocol != current.protocol:
            change.transaction.update_protocol(protocol)
        if wanted.metadata != current.metadata:
            change.transaction.update_metadata(replace(wanted.metadata, id=current.metadata.id))
        change.transaction.read_whole_table()
        metrics = {
            "numRestoredFiles": len(restored),
            "numRemovedFiles": len(removed),
            "restoredFilesSize": total(restored),
            "removedFilesSize": total(removed),
            "numOfFilesAfterRestore": wanted.num_files,
            "tableSizeAfterRestore": wanted.size_in_bytes,
        }
        parameters = {"version": version, "timestamp": timestamp}
        change.commit(actions, "RESTORE", parameters, metrics)
        answer = (
            wanted.size_in_bytes, wanted.num_files, len(removed), len(restored), total(removed), total(restored),
        )  # fmt: skip
        return frame_of(spark, _ANSWER, [dict(zip(_ANSWER.names, answer, strict=True))])


def _refuse_missing(spark: SparkSession, wanted: Snapshot, adds: list[Add]) -> None:
    """Raise MissingDataFile if vacuum has deleted files of the older version."""
    places = [absolute_path(add.path, wanted.path) for add in adds]
    vectors = [
        vector_file(add.deletion_vector, wanted.path) for add in adds if add.deletion_vector is not None
    ]
    places += dict.fromkeys(vector for vector in vectors if vector is not None)
    present = parallel.map_items(spark, places, storage.exists)
    missing = [place for place, is_present in zip(places, present, strict=True) if not is_present]
    if missing:
        listed = ", ".join(missing[:5]) + (", ..." if len(missing) > 5 else "")
        raise MissingDataFile(
            f"version {wanted.version} can't be restored: {len(missing)} of its files are not there: {listed}",
            "Restore a version that was not vacuumed, or the files from a backup.",
        )


def _protocol_for_both(current: Protocol, wanted: Protocol) -> Protocol:
    """A protocol that fits both versions. It drops no feature, because older versions must stay readable."""
    if wanted == current:
        return current
    if writer_features(wanted) <= writer_features(current) and reader_features(wanted) <= reader_features(
        current
    ):
        return current
    writer = writer_features(wanted) | writer_features(current)
    reader = reader_features(wanted) | reader_features(current)
    if wanted.writer_features is None and current.writer_features is None:
        return Protocol(
            max(wanted.min_reader, current.min_reader), max(wanted.min_writer, current.min_writer)
        )
    return Protocol(3 if reader else max(wanted.min_reader, current.min_reader), 7, reader or None, writer)
