"""The actions of the log as frozen values, and how they are read from JSON objects.

Unknown fields are ignored, as readers must. What is missing or of a wrong type becomes a `Problem`, and the field its
default, so that one bad field does not hide the rest. A problem is `fatal` if the state can't be told without it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from delta_models.log.deletion_vectors import DeletionVector
from delta_models.log.errors import CorruptLog
from delta_models.log.paths import logical
from delta_models.requirements.base import Breach
from delta_models.schema import SchemaError, Struct, parse_schema

Key = tuple[str, str | None]
Form = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong with one action, by the requirement that it breaks."""

    requirement: str
    detail: str
    where: str
    fatal: bool = False

    @property
    def breach(self) -> Breach:
        """The problem as a check reports it."""
        return Breach(self.requirement, self.detail, self.where)


@dataclass(frozen=True, slots=True)
class Add:
    """A data file that is part of the table. `path` is as the log writes it, percent-encoded."""

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
            path = logical(path)
        return (path, None if vector is None else vector.unique_id)

    @property
    def statistics(self) -> Mapping[str, Any] | None:
        """The parsed statistics; None if there are none. Raises ValueError if the text is no JSON object."""
        if self.stats is None:
            return self.stats_parsed
        return parse_stats(self.stats)


@dataclass(frozen=True, slots=True)
class Remove:
    """A data file that is no longer part of the table: its tombstone."""

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
            path = logical(path)
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
    """What the table is: id, schema, partitioning, properties."""

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
        """The parsed schema. Raises CorruptLog if the text is none."""
        return cached_schema(self.schema_string)


@dataclass(frozen=True, slots=True)
class Protocol:
    """What a client must support to read and to write the table. The lists are None where they are absent."""

    min_reader: int
    min_writer: int
    reader_features: tuple[str, ...] | None = None
    writer_features: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class Transaction:
    """The progress of an application."""

    app_id: str
    version: int
    last_updated: int | None = None


@dataclass(frozen=True, slots=True)
class Domain:
    """The configuration of a metadata domain; with `removed` its tombstone."""

    name: str
    configuration: str
    removed: bool = False


@dataclass(frozen=True, slots=True)
class CommitInfo:
    """Provenance: free JSON."""

    values: Mapping[str, Any]

    @property
    def in_commit_timestamp(self) -> int | None:
        """Milliseconds since the epoch, where the table keeps them."""
        found = self.values.get("inCommitTimestamp")
        return found if type(found) is int else None


@dataclass(frozen=True, slots=True)
class CheckpointMetadata:
    """The one action that every V2 checkpoint has."""

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
    """The schema of a `schemaString`, parsed once."""
    try:
        return parse_schema(text)
    except SchemaError as error:
        raise CorruptLog(f"the table's schema cannot be read: {error}") from error


@lru_cache(maxsize=4096)
def parse_stats(text: str) -> Mapping[str, Any]:
    """The statistics in a `stats` string, decimals and long numbers kept exact; ValueError if it is no JSON object."""
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
    """A number from statistics as the log spells it."""
    return number.text if isinstance(number, _Number) else str(number)


class Reader:
    """Reads the fields of one action and collects what is wrong with them."""

    __slots__ = ("action", "form", "problems", "where")

    def __init__(self, action: str, form: Form, where: str, problems: list[Problem]) -> None:
        self.action = action
        self.form = form
        self.where = where
        self.problems = problems

    def report(self, requirement: str, detail: str, *, fatal: bool = False) -> None:
        """Add a problem."""
        self.problems.append(Problem(requirement, f"{self.action}: {detail}", self.where, fatal))

    def text(self, name: str, *, fatal: bool = False) -> str:
        """A required string."""
        value = self.form.get(name)
        if type(value) is str:
            return value
        self._missing(name, value, "a string", fatal)
        return ""

    def number(self, name: str, *, fatal: bool = False) -> int:
        """A required long."""
        value = self.form.get(name)
        if type(value) is int:
            return value
        self._missing(name, value, "a whole number", fatal)
        return 0

    def flag(self, name: str) -> bool:
        """A required boolean."""
        value = self.form.get(name)
        if type(value) is bool:
            return value
        self._missing(name, value, "a boolean", fatal=False)
        return False

    def optional_text(self, name: str) -> str | None:
        """A string or nothing."""
        value = self.form.get(name)
        if value is None or type(value) is str:
            return value
        self._wrong(name, value, "a string")
        return None

    def optional_number(self, name: str) -> int | None:
        """A long or nothing."""
        value = self.form.get(name)
        if value is None or type(value) is int:
            return value
        self._wrong(name, value, "a whole number")
        return None

    def optional_flag(self, name: str) -> bool | None:
        """A boolean or nothing."""
        value = self.form.get(name)
        if value is None or type(value) is bool:
            return value
        self._wrong(name, value, "a boolean")
        return None

    def strings(self, name: str) -> Mapping[str, str | None] | None:
        """A map of strings, or nothing."""
        value = self.form.get(name)
        if value is None:
            return None
        if type(value) is dict:
            for each in value.values():
                if each is not None and type(each) is not str:
                    break
            else:
                return value
        self._wrong(name, value, "a map of strings")
        return None

    def required_strings(self, name: str) -> Mapping[str, str | None]:
        """A map of strings that must be there."""
        value = self.form.get(name)
        if value is None:
            self._missing(name, value, "a map of strings", fatal=False)
            return {}
        return self.strings(name) or {}

    def names(self, name: str) -> tuple[str, ...] | None:
        """A list of strings, or nothing."""
        value = self.form.get(name)
        if value is None:
            return None
        if type(value) is list and all(type(each) is str for each in value):
            return tuple(value)
        self._wrong(name, value, "a list of strings")
        return None

    def vector(self) -> DeletionVector | None:
        """The deletion vector, if there is one."""
        value = self.form.get("deletionVector")
        if value is None:
            return None
        if type(value) is not dict:
            self._wrong("deletionVector", value, "an object")
            return None
        inner = Reader(f"{self.action}.deletionVector", value, self.where, self.problems)
        found = DeletionVector(
            inner.text("storageType", fatal=True),
            inner.text("pathOrInlineDv", fatal=True),
            inner.number("sizeInBytes"),
            inner.number("cardinality"),
            inner.optional_number("offset"),
        )
        if found.storage_type not in {"u", "i", "p"}:
            inner.report("dv.descriptor-well-formed", f"unknown storage type {found.storage_type!r}")
        elif found.storage_type == "i" and found.offset is not None:
            inner.report("dv.descriptor-well-formed", "an inline vector has no offset")
        elif found.cardinality < 0 or found.size_in_bytes < 0 or (found.offset or 0) < 0:
            inner.report("dv.descriptor-well-formed", "a negative size, offset or cardinality")
        return found

    def _missing(self, name: str, value: Any, wanted: str, fatal: bool) -> None:
        if value is None:
            self.report("log.required-field", f"{name} is missing", fatal=fatal)
        else:
            self.report("log.field-type", f"{name} is {_kind(value)}, not {wanted}", fatal=fatal)

    def _wrong(self, name: str, value: Any, wanted: str) -> None:
        self.report("log.field-type", f"{name} is {_kind(value)}, not {wanted}")


def _kind(value: Any) -> str:
    return f"{type(value).__name__} {json.dumps(value, default=str)[:60]}"


def _add(reader: Reader) -> Add:
    found = Add(
        reader.text("path", fatal=True),
        reader.required_strings("partitionValues"),
        reader.number("size"),
        reader.number("modificationTime"),
        reader.flag("dataChange"),
        reader.optional_text("stats"),
        reader.strings("tags"),
        reader.vector(),
        reader.optional_number("baseRowId"),
        reader.optional_number("defaultRowCommitVersion"),
        reader.optional_text("clusteringProvider"),
        reader.form.get("stats_parsed"),
    )
    if found.size < 0:
        reader.report("log.field-type", f"size is {found.size}")
    return found


def _remove(reader: Reader) -> Remove:
    found = Remove(
        reader.text("path", fatal=True),
        reader.flag("dataChange"),
        reader.optional_number("deletionTimestamp"),
        reader.optional_flag("extendedFileMetadata"),
        reader.strings("partitionValues"),
        reader.optional_number("size"),
        reader.optional_text("stats"),
        reader.strings("tags"),
        reader.vector(),
        reader.optional_number("baseRowId"),
        reader.optional_number("defaultRowCommitVersion"),
    )
    if found.extended_file_metadata and (found.partition_values is None or found.size is None):
        reader.report("log.remove-extended-metadata", "extendedFileMetadata without partitionValues and size")
    return found


def _cdc(reader: Reader) -> Cdc:
    found = Cdc(
        reader.text("path"),
        reader.required_strings("partitionValues"),
        reader.number("size"),
        reader.flag("dataChange"),
        reader.strings("tags"),
    )
    if found.data_change:
        reader.report("log.cdc-no-data-change", f"dataChange is true for {found.path}")
    return found


def _metadata(reader: Reader) -> Metadata:
    described = reader.form.get("format")
    provider: str | None = None
    options: Mapping[str, str | None] = {}
    if type(described) is dict:
        inner = Reader("metaData.format", described, reader.where, reader.problems)
        provider = inner.text("provider")
        options = inner.strings("options") or {}
    else:
        reader.report("log.required-field", "format is missing or no object")
    columns = reader.names("partitionColumns")
    if columns is None and reader.form.get("partitionColumns") is None:
        reader.report("log.required-field", "partitionColumns is missing")
    return Metadata(
        reader.text("id"),
        reader.text("schemaString"),
        columns or (),
        {key: value for key, value in reader.required_strings("configuration").items() if value is not None},
        reader.optional_text("name"),
        reader.optional_text("description"),
        provider,
        {key: value for key, value in options.items() if value is not None},
        reader.optional_number("createdTime"),
    )


def _protocol(reader: Reader) -> Protocol:
    return Protocol(
        reader.number("minReaderVersion", fatal=True),
        reader.number("minWriterVersion", fatal=True),
        reader.names("readerFeatures"),
        reader.names("writerFeatures"),
    )


def _transaction(reader: Reader) -> Transaction:
    return Transaction(reader.text("appId"), reader.number("version"), reader.optional_number("lastUpdated"))


def _domain(reader: Reader) -> Domain:
    return Domain(reader.text("domain"), reader.text("configuration"), reader.flag("removed"))


def _info(reader: Reader) -> CommitInfo:
    return CommitInfo(reader.form)


def _checkpoint_metadata(reader: Reader) -> CheckpointMetadata:
    return CheckpointMetadata(reader.number("version"), reader.strings("tags"))


def _sidecar(reader: Reader) -> Sidecar:
    return Sidecar(
        reader.text("path", fatal=True),
        reader.number("sizeInBytes"),
        reader.number("modificationTime"),
        reader.strings("tags"),
    )


PARSERS: dict[str, Callable[[Reader], Action]] = {
    "add": _add,
    "remove": _remove,
    "cdc": _cdc,
    "metaData": _metadata,
    "protocol": _protocol,
    "txn": _transaction,
    "domainMetadata": _domain,
    "commitInfo": _info,
    "checkpointMetadata": _checkpoint_metadata,
    "sidecar": _sidecar,
}


def parse_action(name: str, form: Any, where: str, problems: list[Problem]) -> Action | None:
    """The action called `name` from its object; None for an action that is not known, or no object."""
    parser = PARSERS.get(name)
    if parser is None:
        return None
    if type(form) is not dict:
        problems.append(
            Problem("log.field-type", f"{name} is {_kind(form)}, not an object", where, fatal=True)
        )
        return None
    return parser(Reader(name, form, where, problems))
