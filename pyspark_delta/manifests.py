"""Write manifests: lists of data files, one for each partition, for engines that read Parquet but no Delta log."""

from __future__ import annotations

from collections import defaultdict

from pyspark_delta.exceptions import UnsupportedTableFeature
from pyspark_delta.log.snapshot import Snapshot
from pyspark_delta.partition_values import absolute_path, hive_path
from pyspark_delta.storage import storage_failures, storage_of

__all__ = ["AFTER_EVERY_COMMIT", "write_manifests"]

# With this property, every commit writes the table's manifests.
AFTER_EVERY_COMMIT = "delta.compatibility.symlinkFormatManifest.enabled"
_FOLDER = "_symlink_format_manifest"


def write_manifests(snapshot: Snapshot) -> None:
    """Replace the manifests by those of a version; refuses tables whose manifests would mislead their readers."""
    if snapshot.column_mapping != "none":
        raise UnsupportedTableFeature(
            "the files of this table have other names for its columns, which readers of a manifest do not know",
            "Copy the rows into a table without delta.columnMapping.mode, and generate its manifests.",
            features=("columnMapping",),
        )
    files = snapshot.files()
    if files.has_deletion_vectors():
        raise UnsupportedTableFeature(
            "files of this table have deletion vectors, which readers of a manifest would overlook",
            "Rewrite them first (purge), and switch delta.enableDeletionVectors off.",
            features=("deletionVectors",),
        )
    manifests: dict[str, list[str]] = defaultdict(list)
    for add in files.adds():
        place = absolute_path(add.path, snapshot.path)
        ordered = {name: add.partition_values.get(name) for name in snapshot.partition_columns}
        # A path and not a URI, because Hive does not decode it.
        manifests[hive_path(ordered)].append(storage_of(place).for_spark(place))
    if not snapshot.partition_columns:
        manifests.setdefault("", [])
    written = set()
    with storage_failures(f"manifests of {snapshot.path} can't be written"):
        for folder, paths in manifests.items():
            name = "/".join(part for part in (_FOLDER, folder, "manifest") if part)
            snapshot.store.put(name, "".join(f"{path}\n" for path in paths).encode())
            written.add(name)
        _forget_others(snapshot.path, written)


def _forget_others(root: str, written: set[str]) -> None:
    """Delete the manifests of partitions that no longer exist."""
    storage = storage_of(root)
    waiting, folders = [_FOLDER], []
    while waiting:
        folder = waiting.pop()
        folders.append(folder)
        for entry in storage.entries(f"{root}/{folder}"):
            name = f"{folder}/{entry.name}"
            if entry.is_folder:
                waiting.append(name)
            elif entry.name == "manifest" and name not in written:
                storage.remove(f"{root}/{name}")
    for folder in reversed(folders[1:]):
        storage.remove_folder(f"{root}/{folder}")
