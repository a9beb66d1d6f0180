"""Expected states: protocol and metadata, as specs have them, beside what the oracle or an engine says of a table."""

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
    """Where what is said of a table differs from what is expected, and what is expected and not said."""

    wrong: tuple[str, ...]
    untold: tuple[str, ...] = ()
    told: tuple[str, ...] = ()


def is_no_table(form: Mapping[str, Any]) -> bool:
    """Version -1 without a schema is how delta-spark describes a folder in which there is no table."""
    expected = form.get("expected")
    metadata = expected.get("metadata") if isinstance(expected, dict) else None
    return form.get("version") == -1 and isinstance(metadata, dict) and not metadata.get("schemaString")


def known(protocol: Protocol, metadata: Metadata) -> Facts:
    """All that a log says of a table."""
    return {
        "minReaderVersion": protocol.min_reader,
        "minWriterVersion": protocol.min_writer,
        "readerFeatures": sorted(protocol.reader_features or ()),
        "writerFeatures": sorted(protocol.writer_features or ()),
        "id": metadata.id,
        "name": metadata.name,
        "description": metadata.description,
        "schemaString": _parsed(metadata.schema_string),
        "partitionColumns": list(metadata.partition_columns),
        "configuration": dict(metadata.configuration),
        "createdTime": metadata.created_time,
        "format": {"provider": metadata.provider, "options": dict(metadata.options or {})},
    }


def wanted(expected: Mapping[str, Any]) -> Facts:
    """All that a spec says of a table; a protocol or metadata that it leaves out is not asked for."""
    facts: dict[str, object] = {}
    protocol, metadata = expected.get("protocol"), expected.get("metadata")
    if protocol is not None:
        facts |= {key: protocol.get(key) for key in ("minReaderVersion", "minWriterVersion")}
        facts |= {key: sorted(protocol.get(key) or ()) for key in _FEATURES}
    if metadata is not None:
        facts |= {key: metadata.get(key) for key in ("id", "name", "description", "createdTime")}
        facts["schemaString"] = _parsed(metadata.get("schemaString"))
        facts["partitionColumns"] = list(metadata.get("partitionColumns") or ())
        facts["configuration"] = dict(metadata.get("configuration") or {})
        if form := metadata.get("format"):
            facts["format"] = {"provider": form.get("provider"), "options": form.get("options") or {}}
    return facts


def compare(found: Facts, asked: Facts) -> Comparison:
    """All that is asked for must be known, and right."""
    return Comparison(
        tuple(_difference(key, found[key], asked[key]) for key in asked if found[key] != asked[key])
    )


def compare_told(told: Facts, asked: Facts) -> Comparison:
    """What an engine says of a table, under the names of `contract.detail_table`, must be right; None is not said.

    Who tells all features in one list may name those too that the versions imply, and who tells `columns` instead of a
    schema need not tell what only writers note in it. Nobody is asked for the format of the data files.
    """
    said = {key: each for key, each in told.items() if each is not None}
    found: dict[str, object] = {key: each for key, each in said.items() if key in asked}
    held = dict(asked)
    held.pop("format", None)
    for key in _FEATURES:
        if key in found:
            found[key] = sorted(_list(found[key]))
    if "properties" in said and "configuration" in held:
        found["configuration"] = dict(_list(said["properties"]))
    if "schemaString" in found:
        found["schemaString"] = _parsed(str(found["schemaString"]))
    elif "columns" in said and held.get("schemaString") is not None:
        found["columns"] = _seen(_parsed(str(said["columns"])))
        held["columns"] = _seen(held.pop("schemaString"))
    if "tableFeatures" in said and held.keys() >= {*_FEATURES}:
        every = {each for key in _FEATURES for each in _list(held.pop(key))}
        found["tableFeatures"] = sorted(set(_list(said["tableFeatures"])) - (_implied(held) - every))
        held["tableFeatures"] = sorted(every)
    return Comparison(
        tuple(_difference(key, found[key], held[key]) for key in found if found[key] != held[key]),
        tuple(key for key in held if key not in found and held[key] not in (None, [], {})),
        tuple(found),
    )


def _implied(asked: Facts) -> set[str]:
    """The features of a protocol that is too old to list any."""
    reader, writer = asked["minReaderVersion"], asked["minWriterVersion"]
    if not isinstance(reader, int) or not isinstance(writer, int):
        return set()
    return {each for each in _LEGACY if writer < _LISTING_WRITER and supports(Protocol(reader, writer), each)}


def _seen(schema: object) -> object:
    """A schema without what is noted beside its fields."""
    match schema:
        case {"name": name, "type": of, "nullable": nullable}:
            return {"name": name, "type": _seen(of), "nullable": nullable}
        case dict():
            return {key: _seen(field) for key, field in schema.items()}
        case list():
            return [_seen(field) for field in schema]
    return schema


def _list(value: object) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else []


def _difference(key: str, found: object, asked: object) -> str:
    return f"{key} {found!r}, expected {asked!r}"


def _parsed(text: str | None) -> object:
    if not text:
        return None
    try:
        return json.loads(text)
    except ValueError:
        return text
