"""Compare the protocol and the metadata that a spec expects with those that the oracle or an engine reports."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from delta_models.log import Metadata, Protocol
from delta_models.log.validity.protocol import supports

Facts = Mapping[str, object]
_FEATURES = ("readerFeatures", "writerFeatures")
_LEGACY = (
    "appendOnly", "invariants", "checkConstraints", "changeDataFeed", "generatedColumns", "columnMapping",
    "identityColumns",
)  # fmt: skip
_LISTING_WRITER = 7  # from this version on a protocol lists its features


@dataclass(frozen=True, slots=True)
class Comparison:
    """How reported facts differ from the expected ones, and the names of the expected facts that are missing."""

    differences: tuple[str, ...]
    unreported: tuple[str, ...] = ()
    reported: tuple[str, ...] = ()


def is_no_table(form: Mapping[str, Any]) -> bool:
    """Version -1 without a schema is how delta-spark describes a folder in which there is no table."""
    expected = form.get("expected")
    metadata = expected.get("metadata") if isinstance(expected, dict) else None
    return form.get("version") == -1 and isinstance(metadata, dict) and not metadata.get("schemaString")


def facts_of_log(protocol: Protocol, metadata: Metadata) -> Facts:
    """The facts that a log holds about a table."""
    return {
        "minReaderVersion": protocol.min_reader,
        "minWriterVersion": protocol.min_writer,
        "readerFeatures": sorted(protocol.reader_features or ()),
        "writerFeatures": sorted(protocol.writer_features or ()),
        "id": metadata.id,
        "name": metadata.name,
        "description": metadata.description,
        "schemaString": _parse(metadata.schema_string),
        "partitionColumns": list(metadata.partition_columns),
        "configuration": dict(metadata.configuration),
        "createdTime": metadata.created_time,
        "format": {"provider": metadata.provider, "options": dict(metadata.options or {})},
    }


def facts_of_spec(expected: Mapping[str, Any]) -> Facts:
    """The facts that a spec expects of a table, without a protocol or metadata that it leaves out."""
    facts: dict[str, object] = {}
    protocol, metadata = expected.get("protocol"), expected.get("metadata")
    if protocol is not None:
        facts |= {key: protocol.get(key) for key in ("minReaderVersion", "minWriterVersion")}
        facts |= {key: sorted(protocol.get(key) or ()) for key in _FEATURES}
    if metadata is not None:
        facts |= {key: metadata.get(key) for key in ("id", "name", "description", "createdTime")}
        facts["schemaString"] = _parse(metadata.get("schemaString"))
        facts["partitionColumns"] = list(metadata.get("partitionColumns") or ())
        facts["configuration"] = dict(metadata.get("configuration") or {})
        if form := metadata.get("format"):
            facts["format"] = {"provider": form.get("provider"), "options": form.get("options") or {}}
    return facts


def compare(facts: Facts, expected: Facts) -> Comparison:
    """Compare the facts of a log with the expected ones, all of which it must have."""
    return Comparison(
        tuple(_difference(key, facts[key], expected[key]) for key in expected if facts[key] != expected[key])
    )


def compare_reported(reported: Facts, expected: Facts) -> Comparison:
    """Compare the facts that an engine reports, under the names of `contract.detail_table`, with the expected ones.

    A fact that is None is not reported. An engine that reports all features in one list may name those that the
    versions imply. An engine that reports `columns` in place of a schema need not report the fields' metadata. The
    format of the data files is not compared.
    """
    given = {key: value for key, value in reported.items() if value is not None}
    facts: dict[str, object] = {key: value for key, value in given.items() if key in expected}
    wanted = dict(expected)
    wanted.pop("format", None)
    for key in _FEATURES:
        if key in facts:
            facts[key] = sorted(_list(facts[key]))
    if "properties" in given and "configuration" in wanted:
        facts["configuration"] = dict(_list(given["properties"]))
    if "schemaString" in facts:
        facts["schemaString"] = _parse(str(facts["schemaString"]))
    elif "columns" in given and wanted.get("schemaString") is not None:
        facts["columns"] = _without_metadata(_parse(str(given["columns"])))
        wanted["columns"] = _without_metadata(wanted.pop("schemaString"))
    if "tableFeatures" in given and wanted.keys() >= {*_FEATURES}:
        every = {value for key in _FEATURES for value in _list(wanted.pop(key))}
        facts["tableFeatures"] = sorted(set(_list(given["tableFeatures"])) - (_implied(wanted) - every))
        wanted["tableFeatures"] = sorted(every)
    return Comparison(
        tuple(_difference(key, facts[key], wanted[key]) for key in facts if facts[key] != wanted[key]),
        tuple(key for key in wanted if key not in facts and wanted[key] not in (None, [], {})),
        tuple(facts),
    )


def _implied(expected: Facts) -> set[str]:
    """The features of a protocol that is too old to list any."""
    reader, writer = expected["minReaderVersion"], expected["minWriterVersion"]
    if not isinstance(reader, int) or not isinstance(writer, int):
        return set()
    return {
        feature
        for feature in _LEGACY
        if writer < _LISTING_WRITER and supports(Protocol(reader, writer), feature)
    }


def _without_metadata(schema: object) -> object:
    """A schema without the metadata of its fields."""
    match schema:
        case {"name": name, "type": of, "nullable": nullable}:
            return {"name": name, "type": _without_metadata(of), "nullable": nullable}
        case dict():
            return {key: _without_metadata(field) for key, field in schema.items()}
        case list():
            return [_without_metadata(field) for field in schema]
    return schema


def _list(value: object) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else []


def _difference(key: str, value: object, expected: object) -> str:
    return f"{key} {value!r}, expected {expected!r}"


def _parse(text: str | None) -> object:
    if not text:
        return None
    try:
        return json.loads(text)
    except ValueError:
        return text
