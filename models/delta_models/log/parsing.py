"""Parse actions from JSON objects.

Unknown fields are ignored, as the protocol demands of readers. A missing field or one of a wrong type becomes a
`Problem` and gets a default, so that one bad field does not hide the others. A problem is `fatal` if the state is
unknown without the field.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from delta_models.log.actions import (
    Action,
    Add,
    Cdc,
    CheckpointMetadata,
    CommitInfo,
    Domain,
    Form,
    Metadata,
    Problem,
    Protocol,
    Remove,
    Sidecar,
    Transaction,
)
from delta_models.log.deletion_vectors import DeletionVector


def parse_action(name: str, form: Any, where: str, problems: list[Problem]) -> Action | None:
    """Return the action called `name` from its object; None if the action is unknown or is not an object."""
    parser = PARSERS.get(name)
    if parser is None:
        return None
    if type(form) is not dict:
        problems.append(
            Problem("log.field-type", f"{name} is {_kind(form)}, not an object", where, fatal=True)
        )
        return None
    return parser(_Fields(name, form, where, problems))


class _Fields:
    """Reads the fields of one action and collects the problems with them."""

    __slots__ = ("action", "form", "problems", "where")

    def __init__(self, action: str, form: Form, where: str, problems: list[Problem]) -> None:
        self.action = action
        self.form = form
        self.where = where
        self.problems = problems

    def report(self, requirement: str, detail: str, *, fatal: bool = False) -> None:
        """Add a problem of this action."""
        self.problems.append(Problem(requirement, f"{self.action}: {detail}", self.where, fatal))

    def text(self, name: str, *, fatal: bool = False) -> str:
        """Return a required string."""
        value = self.form.get(name)
        if type(value) is str:
            return value
        self._missing(name, value, "a string", fatal)
        return ""

    def number(self, name: str, *, fatal: bool = False) -> int:
        """Return a required long."""
        value = self.form.get(name)
        if type(value) is int:
            return value
        self._missing(name, value, "a whole number", fatal)
        return 0

    def flag(self, name: str) -> bool:
        """Return a required boolean."""
        value = self.form.get(name)
        if type(value) is bool:
            return value
        self._missing(name, value, "a boolean", fatal=False)
        return False

    def optional_text(self, name: str) -> str | None:
        """Return an optional string."""
        value = self.form.get(name)
        if value is None or type(value) is str:
            return value
        self._wrong(name, value, "a string")
        return None

    def optional_number(self, name: str) -> int | None:
        """Return an optional long."""
        value = self.form.get(name)
        if value is None or type(value) is int:
            return value
        self._wrong(name, value, "a whole number")
        return None

    def optional_flag(self, name: str) -> bool | None:
        """Return an optional boolean."""
        value = self.form.get(name)
        if value is None or type(value) is bool:
            return value
        self._wrong(name, value, "a boolean")
        return None

    def strings(self, name: str) -> Mapping[str, str | None] | None:
        """Return an optional map of strings."""
        value = self.form.get(name)
        if value is None:
            return None
        if type(value) is dict:
            for text in value.values():
                if text is not None and type(text) is not str:
                    break
            else:
                return value
        self._wrong(name, value, "a map of strings")
        return None

    def required_strings(self, name: str) -> Mapping[str, str | None]:
        """Return a required map of strings."""
        value = self.form.get(name)
        if value is None:
            self._missing(name, value, "a map of strings", fatal=False)
            return {}
        return self.strings(name) or {}

    def names(self, name: str) -> tuple[str, ...] | None:
        """Return an optional list of strings."""
        value = self.form.get(name)
        if value is None:
            return None
        if type(value) is list and all(type(text) is str for text in value):
            return tuple(value)
        self._wrong(name, value, "a list of strings")
        return None

    def vector(self) -> DeletionVector | None:
        """Return the deletion vector, if the action has one."""
        value = self.form.get("deletionVector")
        if value is None:
            return None
        if type(value) is not dict:
            self._wrong("deletionVector", value, "an object")
            return None
        inner = _Fields(f"{self.action}.deletionVector", value, self.where, self.problems)
        vector = DeletionVector(
            inner.text("storageType", fatal=True),
            inner.text("pathOrInlineDv", fatal=True),
            inner.number("sizeInBytes"),
            inner.number("cardinality"),
            inner.optional_number("offset"),
        )
        if vector.storage_type not in {"u", "i", "p"}:
            inner.report("dv.descriptor-well-formed", f"unknown storage type {vector.storage_type!r}")
        elif vector.storage_type == "i" and vector.offset is not None:
            inner.report("dv.descriptor-well-formed", "an inline vector has no offset")
        elif vector.cardinality < 0 or vector.size_in_bytes < 0 or (vector.offset or 0) < 0:
            inner.report("dv.descriptor-well-formed", "a negative size, offset or cardinality")
        return vector

    def _missing(self, name: str, value: Any, wanted: str, fatal: bool) -> None:
        if value is None:
            self.report("log.required-field", f"{name} is missing", fatal=fatal)
        else:
            self.report("log.field-type", f"{name} is {_kind(value)}, not {wanted}", fatal=fatal)

    def _wrong(self, name: str, value: Any, wanted: str) -> None:
        self.report("log.field-type", f"{name} is {_kind(value)}, not {wanted}")


def _kind(value: Any) -> str:
    return f"{type(value).__name__} {json.dumps(value, default=str)[:60]}"


def _add(fields: _Fields) -> Add:
    add = Add(
        fields.text("path", fatal=True),
        fields.required_strings("partitionValues"),
        fields.number("size"),
        fields.number("modificationTime"),
        fields.flag("dataChange"),
        fields.optional_text("stats"),
        fields.strings("tags"),
        fields.vector(),
        fields.optional_number("baseRowId"),
        fields.optional_number("defaultRowCommitVersion"),
        fields.optional_text("clusteringProvider"),
        fields.form.get("stats_parsed"),
    )
    if add.size < 0:
        fields.report("log.field-type", f"size is {add.size}")
    return add


def _remove(fields: _Fields) -> Remove:
    remove = Remove(
        fields.text("path", fatal=True),
        fields.flag("dataChange"),
        fields.optional_number("deletionTimestamp"),
        fields.optional_flag("extendedFileMetadata"),
        fields.strings("partitionValues"),
        fields.optional_number("size"),
        fields.optional_text("stats"),
        fields.strings("tags"),
        fields.vector(),
        fields.optional_number("baseRowId"),
        fields.optional_number("defaultRowCommitVersion"),
    )
    if remove.extended_file_metadata and (remove.partition_values is None or remove.size is None):
        fields.report("log.remove-extended-metadata", "extendedFileMetadata without partitionValues and size")
    return remove


def _cdc(fields: _Fields) -> Cdc:
    cdc = Cdc(
        fields.text("path"),
        fields.required_strings("partitionValues"),
        fields.number("size"),
        fields.flag("dataChange"),
        fields.strings("tags"),
    )
    if cdc.data_change:
        fields.report("log.cdc-no-data-change", f"dataChange is true for {cdc.path}")
    return cdc


def _metadata(fields: _Fields) -> Metadata:
    described = fields.form.get("format")
    provider: str | None = None
    options: Mapping[str, str | None] = {}
    if type(described) is dict:
        inner = _Fields("metaData.format", described, fields.where, fields.problems)
        provider = inner.text("provider")
        options = inner.strings("options") or {}
    else:
        fields.report("log.required-field", "format is missing or no object")
    columns = fields.names("partitionColumns")
    if columns is None and fields.form.get("partitionColumns") is None:
        fields.report("log.required-field", "partitionColumns is missing")
    return Metadata(
        fields.text("id"),
        fields.text("schemaString"),
        columns or (),
        {key: value for key, value in fields.required_strings("configuration").items() if value is not None},
        fields.optional_text("name"),
        fields.optional_text("description"),
        provider,
        {key: value for key, value in options.items() if value is not None},
        fields.optional_number("createdTime"),
    )


def _protocol(fields: _Fields) -> Protocol:
    return Protocol(
        fields.number("minReaderVersion", fatal=True),
        fields.number("minWriterVersion", fatal=True),
        fields.names("readerFeatures"),
        fields.names("writerFeatures"),
    )


def _transaction(fields: _Fields) -> Transaction:
    return Transaction(fields.text("appId"), fields.number("version"), fields.optional_number("lastUpdated"))


def _domain(fields: _Fields) -> Domain:
    return Domain(fields.text("domain"), fields.text("configuration"), fields.flag("removed"))


def _info(fields: _Fields) -> CommitInfo:
    return CommitInfo(fields.form)


def _checkpoint_metadata(fields: _Fields) -> CheckpointMetadata:
    return CheckpointMetadata(fields.number("version"), fields.strings("tags"))


def _sidecar(fields: _Fields) -> Sidecar:
    return Sidecar(
        fields.text("path", fatal=True),
        fields.number("sizeInBytes"),
        fields.number("modificationTime"),
        fields.strings("tags"),
    )


PARSERS: dict[str, Callable[[_Fields], Action]] = {
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
