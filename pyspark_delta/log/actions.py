"""The actions of the transaction log as values, and their JSON.

`to_json` returns the body of an action, `encode` makes the bytes of a commit, `decode` reads one parsed line.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, TypeAlias

import orjson

__all__ = [
    "Action",
    "Add",
    "CommitInfo",
    "DeletionVector",
    "DomainMetadata",
    "FileKey",
    "Metadata",
    "Protocol",
    "Remove",
    "Txn",
    "canonical",
    "decode",
    "dump",
    "encode",
    "file_key",
    "load",
]

FileKey: TypeAlias = "tuple[str, str | None]"


@dataclass(frozen=True, slots=True)
class DeletionVector:
    """Where the deleted rows of a file are stored: `u` in the table's folder, `p` at an absolute path, `i` inline."""

    storage_type: str
    path_or_inline_dv: str
    offset: int | None
    size_in_bytes: int
    cardinality: int

    @property
    def unique_id(self) -> str:
        """An id that differs between the vectors of one file."""
        return _unique_id(self.storage_type, self.path_or_inline_dv, self.offset)

    def to_json(self) -> dict[str, Any]:  # noqa: D102 - said above
        body: dict[str, Any] = {"storageType": self.storage_type, "pathOrInlineDv": self.path_or_inline_dv}
        if self.offset is not None:
            body["offset"] = self.offset
        return {**body, "sizeInBytes": self.size_in_bytes, "cardinality": self.cardinality}

    @classmethod
    def from_json(cls, body: Mapping[str, Any]) -> DeletionVector:  # noqa: D102 - said above
        return cls(
            body["storageType"],
            body["pathOrInlineDv"],
            body.get("offset"),
            body["sizeInBytes"],
            body["cardinality"],
        )


@dataclass(frozen=True, slots=True)
class Add:
    """Makes a data file part of the table; `path` is the URI-encoded text of the log."""

    kind: ClassVar[str] = "add"

    path: str
    partition_values: Mapping[str, str | None]
    size: int
    modification_time: int
    data_change: bool = True
    deletion_vector: DeletionVector | None = None
    stats: str | None = None
    tags: Mapping[str, str | None] | None = None
    clustering_provider: str | None = None
    base_row_id: int | None = None
    default_row_commit_version: int | None = None

    @property
    def key(self) -> FileKey:
        """What identifies a file in the log: its path and its deletion vector."""
        return canonical(self.path), self.deletion_vector.unique_id if self.deletion_vector else None

    def remove(self, now_ms: int, data_change: bool = True) -> Remove:
        """The action that removes exactly this file with its deletion vector."""
        return Remove(
            path=self.path,
            deletion_timestamp=now_ms,
            data_change=data_change,
            extended_file_metadata=True,
            partition_values=self.partition_values,
            size=self.size,
            stats=self.stats,
            tags=self.tags,
            deletion_vector=self.deletion_vector,
            base_row_id=self.base_row_id,
            default_row_commit_version=self.default_row_commit_version,
        )

    def with_data_change(self, data_change: bool) -> Add:
        """The same action with another value of `data_change`."""
        return replace(self, data_change=data_change)

    def to_json(self) -> dict[str, Any]:  # noqa: D102 - said above
        body: dict[str, Any] = {
            "path": self.path,
            "partitionValues": dict(self.partition_values),
            "size": self.size,
            "modificationTime": self.modification_time,
            "dataChange": self.data_change,
        }
        _put(body, "stats", self.stats)
        _put(body, "tags", dict(self.tags) if self.tags is not None else None)
        _put(body, "deletionVector", self.deletion_vector.to_json() if self.deletion_vector else None)
        _put(body, "baseRowId", self.base_row_id)
        _put(body, "defaultRowCommitVersion", self.default_row_commit_version)
        _put(body, "clusteringProvider", self.clustering_provider)
        return body

    @classmethod
    def from_json(cls, body: Mapping[str, Any]) -> Add:  # noqa: D102 - said above
        vector = body.get("deletionVector")
        return cls(
            path=body["path"],
            partition_values=body.get("partitionValues") or {},
            size=body["size"],
            modification_time=body.get("modificationTime") or 0,
            data_change=body.get("dataChange", True),
            stats=body.get("stats"),
            tags=body.get("tags"),
            deletion_vector=DeletionVector.from_json(vector) if vector else None,
            base_row_id=body.get("baseRowId"),
            default_row_commit_version=body.get("defaultRowCommitVersion"),
            clustering_provider=body.get("clusteringProvider"),
        )


@dataclass(frozen=True, slots=True)
class Remove:
    """Removes a data file from the table; the tombstone is kept until its retention is over."""

    kind: ClassVar[str] = "remove"

    path: str
    deletion_timestamp: int | None
    data_change: bool = True
    extended_file_metadata: bool | None = True
    size: int | None = None
    partition_values: Mapping[str, str | None] | None = None
    deletion_vector: DeletionVector | None = None
    stats: str | None = None
    tags: Mapping[str, str | None] | None = None
    base_row_id: int | None = None
    default_row_commit_version: int | None = None

    @property
    def key(self) -> FileKey:
        """What identifies a file in the log: its path and its deletion vector."""
        return canonical(self.path), self.deletion_vector.unique_id if self.deletion_vector else None

    def to_json(self) -> dict[str, Any]:  # noqa: D102 - said above
        body: dict[str, Any] = {"path": self.path}
        _put(body, "deletionTimestamp", self.deletion_timestamp)
        body["dataChange"] = self.data_change
        _put(body, "extendedFileMetadata", self.extended_file_metadata)
        _put(
            body,
            "partitionValues",
            dict(self.partition_values) if self.partition_values is not None else None,
        )
        _put(body, "size", self.size)
        _put(body, "stats", self.stats)
        _put(body, "tags", dict(self.tags) if self.tags is not None else None)
        _put(body, "deletionVector", self.deletion_vector.to_json() if self.deletion_vector else None)
        _put(body, "baseRowId", self.base_row_id)
        _put(body, "defaultRowCommitVersion", self.default_row_commit_version)
        return body

    @classmethod
    def from_json(cls, body: Mapping[str, Any]) -> Remove:  # noqa: D102 - said above
        vector = body.get("deletionVector")
        return cls(
            path=body["path"],
            deletion_timestamp=body.get("deletionTimestamp"),
            data_change=body.get("dataChange", True),
            extended_file_metadata=body.get("extendedFileMetadata"),
            partition_values=body.get("partitionValues"),
            size=body.get("size"),
            stats=body.get("stats"),
            tags=body.get("tags"),
            deletion_vector=DeletionVector.from_json(vector) if vector else None,
            base_row_id=body.get("baseRowId"),
            default_row_commit_version=body.get("defaultRowCommitVersion"),
        )


@dataclass(frozen=True, slots=True)
class Metadata:
    """The table's schema, partitioning and properties."""

    kind: ClassVar[str] = "metaData"

    id: str
    schema_string: str
    partition_columns: tuple[str, ...] = ()
    configuration: Mapping[str, str] = field(default_factory=dict)
    name: str | None = None
    description: str | None = None
    created_time: int | None = None
    format: Mapping[str, Any] = field(default_factory=lambda: {"provider": "parquet", "options": {}})

    def to_json(self) -> dict[str, Any]:  # noqa: D102 - said above
        body: dict[str, Any] = {"id": self.id}
        _put(body, "name", self.name)
        _put(body, "description", self.description)
        body["format"] = dict(self.format)
        body["schemaString"] = self.schema_string
        body["partitionColumns"] = list(self.partition_columns)
        body["configuration"] = dict(self.configuration)
        _put(body, "createdTime", self.created_time)
        return body

    @classmethod
    def from_json(cls, body: Mapping[str, Any]) -> Metadata:  # noqa: D102 - said above
        schema = body.get("schemaString")
        return cls(
            id=body["id"],
            # Very old tables have no schema until the first data is written.
            schema_string='{"type":"struct","fields":[]}' if schema is None else schema,
            partition_columns=tuple(body.get("partitionColumns") or ()),
            configuration=body.get("configuration") or {},
            name=body.get("name"),
            description=body.get("description"),
            created_time=body.get("createdTime"),
            format=body.get("format") or {"provider": "parquet", "options": {}},
        )


@dataclass(frozen=True, slots=True)
class Protocol:
    """What the table needs of readers and writers; feature lists are None below versions 3 and 7."""

    kind: ClassVar[str] = "protocol"

    min_reader: int
    min_writer: int
    reader_features: frozenset[str] | None = None
    writer_features: frozenset[str] | None = None

    def to_json(self) -> dict[str, Any]:  # noqa: D102 - said above
        body: dict[str, Any] = {"minReaderVersion": self.min_reader, "minWriterVersion": self.min_writer}
        _put(body, "readerFeatures", _sorted(self.reader_features))
        _put(body, "writerFeatures", _sorted(self.writer_features))
        return body

    @classmethod
    def from_json(cls, body: Mapping[str, Any]) -> Protocol:  # noqa: D102 - said above
        reader, writer = body.get("readerFeatures"), body.get("writerFeatures")
        return cls(
            min_reader=body["minReaderVersion"],
            min_writer=body["minWriterVersion"],
            reader_features=frozenset(reader) if reader is not None else None,
            writer_features=frozenset(writer) if writer is not None else None,
        )


@dataclass(frozen=True, slots=True)
class Txn:
    """The latest version of an application, for writes that must happen once."""

    kind: ClassVar[str] = "txn"

    app_id: str
    version: int
    last_updated: int | None = None

    def to_json(self) -> dict[str, Any]:  # noqa: D102 - said above
        body: dict[str, Any] = {"appId": self.app_id, "version": self.version}
        _put(body, "lastUpdated", self.last_updated)
        return body

    @classmethod
    def from_json(cls, body: Mapping[str, Any]) -> Txn:  # noqa: D102 - said above
        return cls(body["appId"], body["version"], body.get("lastUpdated"))


@dataclass(frozen=True, slots=True)
class DomainMetadata:
    """The configuration of a metadata domain."""

    kind: ClassVar[str] = "domainMetadata"

    domain: str
    configuration: str
    removed: bool = False

    def to_json(self) -> dict[str, Any]:  # noqa: D102 - said above
        return {"domain": self.domain, "configuration": self.configuration, "removed": self.removed}

    @classmethod
    def from_json(cls, body: Mapping[str, Any]) -> DomainMetadata:  # noqa: D102 - said above
        return cls(body["domain"], body.get("configuration") or "", bool(body.get("removed")))


@dataclass(frozen=True, slots=True)
class CommitInfo:
    """Who made the commit and how; not part of the table's state."""

    kind: ClassVar[str] = "commitInfo"

    raw: Mapping[str, Any]

    def to_json(self) -> dict[str, Any]:  # noqa: D102 - said above
        return dict(self.raw)

    @classmethod
    def from_json(cls, body: Mapping[str, Any]) -> CommitInfo:  # noqa: D102 - said above
        return cls(body)


Action: TypeAlias = Add | Remove | Metadata | Protocol | Txn | DomainMetadata | CommitInfo

_BY_KIND: dict[str, type[Action]] = {
    kind.kind: kind for kind in (Add, Remove, Metadata, Protocol, Txn, DomainMetadata, CommitInfo)
}


def encode(actions: Iterable[Action]) -> bytes:
    """The bytes of a commit: one action for each line."""
    return b"".join(dump({action.kind: action.to_json()}) + b"\n" for action in actions)


def decode(line: Mapping[str, Any]) -> Action | None:
    """The action of a parsed line; None for kinds that this engine ignores."""
    for kind, body in line.items():
        if kind in _BY_KIND and body is not None:
            return _BY_KIND[kind].from_json(body)
    return None


def dump(value: Any) -> bytes:
    """Serialize to JSON, also integers beyond 64 bits, such as decimals in statistics."""
    try:
        return orjson.dumps(value)
    except TypeError:
        return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()


def load(text: str | bytes) -> Any:
    """Parse JSON, also where orjson fails, such as NaN in statistics of some writers."""
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        return json.loads(text)


def file_key(body: Mapping[str, Any]) -> FileKey:
    """The key of an add or remove that is still JSON."""
    vector = body.get("deletionVector")
    path = canonical(body["path"])
    if vector is None:
        return path, None
    return path, _unique_id(vector["storageType"], vector["pathOrInlineDv"], vector.get("offset"))


def canonical(path: str) -> str:
    """One spelling of an absolute local path; some writers give it as a URI, others do not."""
    return "/" + path.removeprefix("file:").lstrip("/") if path.startswith("file:") else path


def _unique_id(storage_type: str, path_or_inline_dv: str, offset: int | None) -> str:
    return (
        f"{storage_type}{path_or_inline_dv}"
        if offset is None
        else f"{storage_type}{path_or_inline_dv}@{offset}"
    )


def _sorted(names: frozenset[str] | None) -> list[str] | None:
    return sorted(names) if names is not None else None


def _put(body: dict[str, Any], name: str, value: Any) -> None:
    if value is not None:
        body[name] = value
