"""GENERATE: manifests, lists of data files, for engines that read Parquet and no Delta log."""

from __future__ import annotations

from collections import defaultdict

from pyspark.sql import SparkSession

from pyspark_delta.exceptions import InvalidArgument, UnsupportedTableFeature
from pyspark_delta.log.delta_log import DeltaLog
from pyspark_delta.partition_values import absolute_path, hive_path
from pyspark_delta.storage import storage_of

__all__ = ["generate"]

MODE = "symlink_format_manifest"
FOLDER = "_symlink_format_manifest"


def generate(_: SparkSession, log: DeltaLog, mode: str) -> None:
    """Write the manifests of the newest version, one for each partition, in place of earlier ones."""
    if mode.lower() != MODE:
        raise InvalidArgument(f"there is no mode {mode!r}", f"The mode is `{MODE}`.")
    snapshot = log.update()
    files = snapshot.files()
    if files.has_deletion_vectors():
        raise UnsupportedTableFeature(
            "files of this table have deletion vectors, which readers of a manifest would overlook",
            "Rewrite them first (purge), and switch delta.enableDeletionVectors off.",
            features=("deletionVectors",),
        )
    manifests: dict[str, list[str]] = defaultdict(list)
    for add in files.adds():
        place = absolute_path(add.path, log.path)
        ordered = {name: add.partition_values.get(name) for name in snapshot.partition_columns}
        # A path and no URI: what Hive reads here is never decoded.
        manifests[hive_path(ordered)].append(storage_of(place).for_spark(place))
    if not snapshot.partition_columns:
        manifests.setdefault("", [])
    written = set()
    for folder, paths in manifests.items():
        name = "/".join(part for part in (FOLDER, folder, "manifest") if part)
        log.store.put(name, "".join(f"{path}\n" for path in paths).encode())
        written.add(name)
    _forget_others(log, written)


def _forget_others(log: DeltaLog, written: set[str]) -> None:
    """Manifests of partitions that are no more."""
    storage = storage_of(log.path)
    waiting, folders = [FOLDER], []
    while waiting:
        folder = waiting.pop()
        folders.append(folder)
        for entry in storage.entries(f"{log.path}/{folder}"):
            name = f"{folder}/{entry.name}"
            if entry.is_folder:
                waiting.append(name)
            elif entry.name == "manifest" and name not in written:
                storage.remove(f"{log.path}/{name}")
    for folder in reversed(folders[1:]):
        storage.remove_folder(f"{log.path}/{folder}")
