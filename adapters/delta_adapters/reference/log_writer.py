"""Write the files of `_delta_log`: a commit never replaces another; checkpoints and their hint appear by a rename."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from delta_adapters.reference import actions
from delta_models.log import Snapshot, commit_timestamps
from delta_models.log.file_names import LAST_CHECKPOINT, checkpoint_name, checksum_name, commit_name
from delta_models.log.reader import live_adds

_TEXTS = pa.map_(pa.string(), pa.string())
_VECTOR = pa.struct([
    ("storageType", pa.string()), ("pathOrInlineDv", pa.string()), ("offset", pa.int32()),
    ("sizeInBytes", pa.int32()), ("cardinality", pa.int64()),
])  # fmt: skip
CHECKPOINT_SCHEMA = pa.schema([
    ("txn", pa.struct([("appId", pa.string()), ("version", pa.int64()), ("lastUpdated", pa.int64())])),
    ("add", pa.struct([
        ("path", pa.string()), ("partitionValues", _TEXTS), ("size", pa.int64()), ("modificationTime", pa.int64()),
        ("dataChange", pa.bool_()), ("tags", _TEXTS), ("deletionVector", _VECTOR), ("baseRowId", pa.int64()),
        ("defaultRowCommitVersion", pa.int64()), ("clusteringProvider", pa.string()), ("stats", pa.string()),
    ])),
    ("remove", pa.struct([
        ("path", pa.string()), ("deletionTimestamp", pa.int64()), ("dataChange", pa.bool_()),
        ("extendedFileMetadata", pa.bool_()), ("partitionValues", _TEXTS), ("size", pa.int64()),
        ("deletionVector", _VECTOR), ("baseRowId", pa.int64()), ("defaultRowCommitVersion", pa.int64()),
    ])),
    ("metaData", pa.struct([
        ("id", pa.string()), ("name", pa.string()), ("description", pa.string()),
        ("format", pa.struct([("provider", pa.string()), ("options", _TEXTS)])), ("schemaString", pa.string()),
        ("partitionColumns", pa.list_(pa.string())), ("configuration", _TEXTS), ("createdTime", pa.int64()),
    ])),
    ("protocol", pa.struct([
        ("minReaderVersion", pa.int32()), ("minWriterVersion", pa.int32()),
        ("readerFeatures", pa.list_(pa.string())), ("writerFeatures", pa.list_(pa.string())),
    ])),
    ("domainMetadata", pa.struct([
        ("domain", pa.string()), ("configuration", pa.string()), ("removed", pa.bool_()),
    ])),
])  # fmt: skip


class VersionTaken(Exception):
    """There is a commit of this version already."""


def publish_commit(log: Path, version: int, forms: Sequence[actions.Form]) -> None:
    """Write a commit. Raises VersionTaken if there is a commit of this version.

    A link to a complete file never replaces another file. If the storage repeats the call, it meets its own link and
    reports that the name is taken; then the commit succeeded.
    """
    log.mkdir(parents=True, exist_ok=True)
    text = "".join(json.dumps(form, ensure_ascii=True, separators=(",", ":")) + "\n" for form in forms)
    made = stage_file(log, text.encode())
    try:
        os.link(made, log / commit_name(version))
    except FileExistsError as error:
        if not made.samefile(
            log / commit_name(version)
        ):  # else the link is this one: only the reply was lost
            raise VersionTaken(str(version)) from error
    finally:
        made.unlink()


def publish_checkpoint(log: Path, forms: Iterable[actions.Form], version: int) -> None:
    """Write a classic checkpoint and then the hint that leads to it."""
    listed = list(forms)
    table = pa.Table.from_pylist(to_arrow_rows(listed), schema=CHECKPOINT_SCHEMA)
    made = stage_file(log, b"")
    pq.write_table(table, made)
    size = made.stat().st_size
    made.rename(log / checkpoint_name(version))
    publish_hint(log, version, len(listed), size, sum("add" in form for form in listed))


def publish_hint(log: Path, version: int, count: int, size: int, adds: int) -> None:
    """Write the hint that names the newest checkpoint."""
    hint = {"version": version, "size": count, "sizeInBytes": size, "numOfAddFiles": adds}
    stage_file(log, json.dumps(hint).encode()).rename(log / LAST_CHECKPOINT)


def publish_compaction(log: Path, first: int, last: int) -> None:
    """Write the reconciled actions of the commits `first` to `last` as one file beside them."""
    kept: dict[object, actions.Form] = {}
    for version in range(first, last + 1):
        for line in (log / commit_name(version)).read_text("utf-8").splitlines():
            form = json.loads(line)
            key = _reconciled_by(form)
            if key is not None:
                kept.pop(key, None)
                kept[key] = form
    text = "".join(
        json.dumps(form, ensure_ascii=True, separators=(",", ":")) + "\n" for form in kept.values()
    )
    stage_file(log, text.encode()).rename(log / f"{first:020}.{last:020}.compacted.json")


def _reconciled_by(form: actions.Form) -> object:
    """Return the key of an action: of two with one key the later counts. None for an action that is no state."""
    kind, fields = next(iter(form.items()))
    match kind:
        case "add" | "remove":
            vector = fields.get("deletionVector")
            return ("file", fields["path"], json.dumps(vector, sort_keys=True))
        case "protocol" | "metaData":
            return (kind,)
        case "txn":
            return (kind, fields["appId"])
        case "domainMetadata":
            return (kind, fields["domain"])
    return None


def checkpoint_actions(snapshot: Snapshot, retention_ms: int) -> list[actions.Form]:
    """Return all actions of a checkpoint of a state."""
    protocol, oldest = snapshot.protocol, actions.now() - retention_ms
    lists = {"readerFeatures": protocol.reader_features, "writerFeatures": protocol.writer_features}
    forms: list[actions.Form] = [
        {
            "protocol": {"minReaderVersion": protocol.min_reader, "minWriterVersion": protocol.min_writer}
            | {key: list(value) for key, value in lists.items() if value is not None}
        },
        actions.metadata(snapshot.schema, snapshot.partition_by, snapshot.properties, snapshot),
    ]
    forms += [actions.add_again(add, data_change=False) for add in live_adds(snapshot)]
    forms += [
        actions.tombstone(tombstone)
        for tombstone in snapshot.tombstones.values()
        if (tombstone.deletion_timestamp or 0) > oldest
    ]
    forms += [
        {
            "txn": {
                "appId": transaction.app_id,
                "version": transaction.version,
                "lastUpdated": transaction.last_updated,
            }
        }
        for transaction in snapshot.transactions.values()
    ]
    forms += [
        {"domainMetadata": {"domain": domain.name, "configuration": domain.configuration, "removed": False}}
        for domain in snapshot.domains.values()
    ]
    return forms


def checksum_of(snapshot: Snapshot) -> actions.Form:
    """Return the version checksum of a state: its definition, and the number and size of its files."""
    kinds: dict[str, list[actions.Form]] = {}
    for checkpoint_action in checkpoint_actions(snapshot, retention_ms=0):
        for kind, fields in checkpoint_action.items():
            kinds.setdefault(kind, []).append(fields)
    vectors = [add.deletion_vector for add in snapshot.live.values() if add.deletion_vector is not None]
    form: actions.Form = {
        "tableSizeBytes": sum(add.size for add in snapshot.live.values()),
        "numFiles": len(snapshot.live),
        "numMetadata": 1,
        "numProtocol": 1,
        "metadata": kinds["metaData"][0],
        "protocol": kinds["protocol"][0],
        "setTransactions": kinds.get("txn", []),
        "domainMetadata": kinds.get("domainMetadata", []),
        "numDeletionVectorsOpt": len(vectors),
        "numDeletedRecordsOpt": sum(vector.cardinality for vector in vectors),
    }
    if snapshot.properties.get(commit_timestamps.ENABLED, "").lower() == "true":
        form["inCommitTimestampOpt"] = snapshot.in_commit_timestamp
    return form


def publish_checksum(log: Path, snapshot: Snapshot) -> None:
    """Write the checksum of a version beside its commit, unless there is one."""
    made = stage_file(log, json.dumps(checksum_of(snapshot), separators=(",", ":")).encode())
    try:
        os.link(made, log / checksum_name(snapshot.version))
    except FileExistsError:
        return
    finally:
        made.unlink()


def to_arrow_rows(forms: Iterable[actions.Form]) -> list[dict[str, Any]]:
    """Return forms with their maps as pairs, as Arrow takes them."""
    return [{kind: _pairs(fields) for kind, fields in form.items()} for form in forms]


def _pairs(fields: dict[str, Any]) -> dict[str, Any]:
    with_pairs: dict[str, Any] = {}
    for key, value in fields.items():
        if key in {"partitionValues", "tags", "configuration", "options"} and isinstance(value, dict):
            with_pairs[key] = list(value.items())
        elif key == "format":
            with_pairs[key] = _pairs(value)
        else:
            with_pairs[key] = value
    return with_pairs


def stage_file(log: Path, data: bytes) -> Path:
    """Write a temporary file, which no reader takes for a file of the log, and return its path."""
    handle, name = tempfile.mkstemp(prefix=".", suffix=".tmp", dir=log)
    with os.fdopen(handle, "wb") as file:
        file.write(data)
    return Path(name)
