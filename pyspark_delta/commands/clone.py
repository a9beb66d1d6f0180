"""CLONE: copy a version to another path. A shallow clone refers to the source's files; a deep clone has its own."""

from __future__ import annotations

import dataclasses
import uuid
from collections.abc import Mapping, Sequence

from pyspark.sql import SparkSession

from pyspark_delta import deletion_vectors, parallel, storage
from pyspark_delta.commands.command_context import USER_METADATA, now_ms, total, vector_file
from pyspark_delta.commands.conditions import read_conf
from pyspark_delta.exceptions import MissingDataFile, TableExists
from pyspark_delta.log.actions import Add, DeletionVector, Metadata, Remove
from pyspark_delta.log.delta_log import DeltaLog
from pyspark_delta.log.snapshot import Snapshot
from pyspark_delta.partition_values import absolute_path, decode_path, encode_path, is_absolute
from pyspark_delta.properties import checked_properties
from pyspark_delta.storage import storage_failures, storage_of
from pyspark_delta.write import discard

__all__ = ["clone"]


def clone(
    spark: SparkSession,
    log: DeltaLog,
    target: str,
    *,
    shallow: bool,
    replace: bool = False,
    properties: Mapping[str, str] | None = None,
    version: int | None = None,
    timestamp: str | None = None,
) -> DeltaLog:
    """Clone a version, by default the newest, to a path and return the log of the clone."""
    source = log.snapshot(version=version, timestamp=timestamp)
    source.check_readable()
    copy = DeltaLog.for_path(target, spark)
    transaction = copy.begin()
    if transaction.table_exists and not replace:
        raise TableExists(
            f"there is a table at {target} already", "Clone to another path, or with replace=True."
        )
    files = source.files().adds()
    removed: list[Remove] = []
    if transaction.table_exists:
        transaction.read_whole_table()
        now = now_ms()
        removed = [add.remove(now) for add in transaction.snapshot.files().adds()]
    metadata = _metadata(source, transaction.snapshot if transaction.table_exists else None, properties or {})
    added = (
        [_with_absolute_path(add, source.path) for add in files]
        if shallow
        else _copy_files(spark, source, files, copy.path)
    )
    stay = {add.key for add in added} & {remove.key for remove in removed}
    added = [add for add in added if add.key not in stay]
    removed = [remove for remove in removed if remove.key not in stay]
    try:
        transaction.new_table(metadata, source.protocol)
        transaction.commit(
            [*removed, *added],
            "CLONE",
            {
                "source": f"delta.`{log.path}`",
                "sourceVersion": str(source.version),
                "isShallow": str(shallow).lower(),
            },
            {
                "sourceTableSize": source.size_in_bytes,
                "sourceNumOfFiles": source.num_files,
                "numRemovedFiles": len(removed),
                "numCopiedFiles": 0 if shallow else len(added),
                "removedFilesSize": total(removed),
                "copiedFilesSize": 0 if shallow else total(added),
            },
            user_metadata=read_conf(spark, USER_METADATA),
        )
    except Exception:
        if not shallow and transaction.committed_version is None:
            discard(copy.path, added)
        raise
    return copy


def _metadata(source: Snapshot, existing: Snapshot | None, properties: Mapping[str, str]) -> Metadata:
    metadata = source.metadata
    return dataclasses.replace(
        metadata,
        id=str(uuid.uuid4()) if existing is None else existing.metadata.id,
        created_time=now_ms(),
        configuration={**metadata.configuration, **checked_properties(properties)},
    )


def _with_absolute_path(add: Add, root: str) -> Add:
    """The same file under a path that a table elsewhere can resolve."""
    vector = add.deletion_vector
    if vector is not None and vector.storage_type == "u":
        place = vector_file(vector, root)
        vector = dataclasses.replace(vector, storage_type="p", path_or_inline_dv=_uri(str(place)))
    path = add.path if is_absolute(add.path) else _uri(absolute_path(add.path, root))
    return dataclasses.replace(add, path=path, deletion_vector=vector, data_change=True)


def _uri(place: str) -> str:
    if place.startswith("/"):
        return f"file://{encode_path(place)}"
    scheme, _, path = place.partition(":")
    return f"{scheme}:{encode_path(path)}"


def _copy_files(spark: SparkSession, source: Snapshot, files: Sequence[Add], root: str) -> list[Add]:
    """Copy the files to the same places below another root, and their deletion vectors into one new file."""
    rows = {
        add.path: deletion_vectors.read(add.deletion_vector, source.path, source.store)
        for add in files
        if add.deletion_vector is not None
    }
    names = [_free_name(add, root) for add in files]
    added = [
        dataclasses.replace(add, path=encode_path(name), data_change=True)
        for add, name in zip(files, names, strict=True)
    ]
    pairs = [
        (absolute_path(add.path, source.path), f"{root}/{name}")
        for add, name in zip(files, names, strict=True)
    ]
    try:
        with storage_failures(f"{source.path} can't be copied to {root}"):
            _refuse_missing(source, pairs, parallel.map_items(spark, pairs, _copy_file))
            vectors = deletion_vectors.write_many(root, rows)
    except BaseException:
        discard(root, added)
        raise
    return [
        dataclasses.replace(new, deletion_vector=_vector(vectors, old))
        for new, old in zip(added, files, strict=True)
    ]


def _refuse_missing(source: Snapshot, pairs: Sequence[tuple[str, str]], present: Sequence[bool]) -> None:
    for (place, _), is_present in zip(pairs, present, strict=True):
        if not is_present:
            raise MissingDataFile(f"{place}, a file of version {source.version}, is not there")


def _free_name(add: Add, root: str) -> str:
    """A free name for the copy, below the root."""
    name = f"{uuid.uuid4()}.parquet" if is_absolute(add.path) else decode_path(add.path)
    if storage_of(root).exists(f"{root}/{name}"):  # the clone replaces a table with the same files
        folder, _, last = name.rpartition("/")
        name = f"{folder}/{uuid.uuid4()}-{last}".lstrip("/")
    return name


def _copy_file(pair: tuple[str, str]) -> bool:
    """Copy a file; false if the source does not exist."""
    try:
        storage.copy(*pair)
    except FileNotFoundError:
        return False
    return True


def _vector(vectors: Mapping[str, DeletionVector], add: Add) -> DeletionVector | None:
    return None if add.deletion_vector is None else vectors[add.path]
