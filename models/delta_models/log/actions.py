"""The actions of the log as frozen values. `parsing` creates them from JSON objects."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from delta_models.log.deletion_vectors import DeletionVector
from delta_models.log.errors import CorruptLog
from delta_models.log.paths import logical_path
from delta_models.requirements.base import Violation
from delta_models.schema import SchemaError, Struct, parse_schema

Key = tuple[str, str | None]
Form = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong with one action, and the requirement that it breaks.

    A `fatal` problem leaves the table's state unknown.
    """

    requirement: str
    detail: str
    where: str
    fatal: bool = False

    @property
    def violation(self) -> Violation:
        """The problem as a check reports it."""
        return Violation(self.requirement, self.detail, self.where)


@dataclass(frozen=True, slots=True)
class Add:
    """A data file that is part of the table. `path` is percent-encoded, as in the log."""

    path: str
    partition_values: Mapping[str, str | None]
    size: int
    modification_time: int
    data_change: bool
    stats: str | None = None
    tags: Mapping[str, str | None] | None = None
    deletion_vector: DeletionVector | None = None
    base_row_id: int | None = None
    default_row_commit_version: int | None = None
    clustering_provider: str | None = None
    stats_parsed: Mapping[str, Any] | None = None

    @property
    def key(self) -> Key:
        """The logical file: path and the unique id of its deletion vector."""
        vector, path = self.deletion_vector, self.path
        if path.startswith("file:"):
            path = logical_path(path)
        return (path, None if vector is None else vector.unique_id)

    @property
    def statistics(self) -> Mapping[str, Any] | None:
        """The parsed statistics; None without any. Raises ValueError if the text is not a JSON object."""
        if self.stats is None:
            return self.stats_parsed
        return parse_stats(self.stats)


@dataclass(frozen=True, slots=True)
class Remove:
    """The tombstone of a data file that is no longer part of the table."""

    path: str
    data_change: bool
    deletion_timestamp: int | None = None
    extended_file_metadata: bool | None = None
    partition_values: Mapping[str, str | None] | None = None
    size: int | None = None
    stats: str | None = None
    tags: Mapping[str, str | None] | None = None
    deletion_vector: DeletionVector | None = None
    base_row_id: int | None = None
    default_row_commit_version: int | None = None

    @property
    def key(self) -> Key:
        """The logical file: path and the unique id of its deletion vector."""
        vector, path = self.deletion_vector, self.path
        if path.startswith("file:"):
            path = logical_path(path)
        return (path, None if vector is None else vector.unique_id)


@dataclass(frozen=True, slots=True)
class Cdc:
    """A file of change data."""

    path: str
    partition_values: Mapping[str, str | None]
    size: int
    data_change: bool
    tags: Mapping[str, str | None] | None = None


@dataclass(frozen=True, slots=True)
class Metadata:
    """A table's metadata: id, schema, partitioning, properties."""

    id: str
    schema_string: str
    partition_columns: tuple[str, ...]
    configuration: Mapping[str, str]
    name: str | None = None
    description: str | None = None
    provider: str | None = None
    options: Mapping[str, str] = field(default_factory=dict)
    created_time: int | None = None

    @property
    def schema(self) -> Struct:
        """The parsed schema. Raises CorruptLog if the text is not a schema."""
        return cached_schema(self.schema_string)


@dataclass(frozen=True, slots=True)
class Protocol:
    """What a client must support to read and to write the table. An absent feature list is None."""

    min_reader: int
    min_writer: int
    reader_features: tuple[str, ...] | None = None
    writer_features: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class Transaction:
    """The progress of an application that writes to the table."""

    app_id: str
    version: int
    last_updated: int | None = None


@dataclass(frozen=True, slots=True)
class Domain:
    """The configuration of a metadata domain, or its tombstone if `removed`."""

    name: str
    configuration: str
    removed: bool = False


@dataclass(frozen=True, slots=True)
class CommitInfo:
    """The provenance of a commit, as free JSON."""

    values: Mapping[str, Any]

    @property
    def in_commit_timestamp(self) -> int | None:
        """Milliseconds since the epoch; None if the commit does not say."""
        timestamp = self.values.get("inCommitTimestamp")
        return timestamp if type(timestamp) is int else None


@dataclass(frozen=True, slots=True)
class CheckpointMetadata:
    """The action that every V2 checkpoint has exactly once."""

    version: int
    tags: Mapping[str, str | None] | None = None


@dataclass(frozen=True, slots=True)
class Sidecar:
    """A file of a V2 checkpoint that holds file actions."""

    path: str
    size: int
    modification_time: int
    tags: Mapping[str, str | None] | None = None


Action = (
    Add
    | Remove
    | Cdc
    | Metadata
    | Protocol
    | Transaction
    | Domain
    | CommitInfo
    | CheckpointMetadata
    | Sidecar
)


@lru_cache(maxsize=256)
def cached_schema(text: str) -> Struct:
    """Return the schema of a `schemaString`, parsed once. Raises CorruptLog."""
    try:
        return parse_schema(text)
    except SchemaError as error:
        raise CorruptLog(f"the table's schema cannot be read: {error}") from error


@lru_cache(maxsize=4096)
def parse_stats(text: str) -> Mapping[str, Any]:
    """Return the statistics in a `stats` string, with exact decimals and long numbers.

    Raises ValueError if the text is not a JSON object.
    """
    parsed = json.loads(text, parse_float=_exact)
    if not isinstance(parsed, dict):
        raise ValueError(f"statistics are an object, not {type(parsed).__name__}")  # noqa: TRY004 - as json's own
    return parsed


class _Number(float):
    """A float that remembers its spelling, for decimals with more digits than a double holds."""

    __slots__ = ("text",)
    text: str


def _exact(text: str) -> float:
    number = _Number(text)
    number.text = text
    return number


def spelling(number: float) -> str:
    """Return a number of the statistics as the log spells it."""
    return number.text if isinstance(number, _Number) else str(number)
