"""Table features: which ones a table needs, which ones this engine supports, and refusal of the others by name."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache

from pyspark.sql.types import ArrayType, DataType, MapType, StructType, TimestampNTZType

from pyspark_delta import schema as schemas
from pyspark_delta.exceptions import CorruptLog, InvalidArgument, UnsupportedTableFeature
from pyspark_delta.log.actions import DomainMetadata, Metadata, Protocol

__all__ = [
    "READABLE",
    "WRITABLE",
    "check_readable",
    "check_writable",
    "flag",
    "implied",
    "interval_ms",
    "known",
    "needed_features",
    "protocol_for",
    "reader_features",
    "stored_properties",
    "supports",
    "upgraded",
    "whole_number",
    "writer_features",
]


@dataclass(frozen=True, slots=True)
class _Feature:
    """A feature: whether it concerns readers, and the versions that imply it in a protocol without feature lists."""

    reader: bool = False
    writer_version: int = 7
    reader_version: int = 3


_FEATURES: dict[str, _Feature] = {
    "appendOnly": _Feature(writer_version=2),
    "invariants": _Feature(writer_version=2),
    "checkConstraints": _Feature(writer_version=3),
    "changeDataFeed": _Feature(writer_version=4),
    "generatedColumns": _Feature(writer_version=4),
    "columnMapping": _Feature(reader=True, writer_version=5, reader_version=2),
    "identityColumns": _Feature(writer_version=6),
    "allowColumnDefaults": _Feature(),
    "catalogManaged": _Feature(reader=True),
    "clustering": _Feature(),
    "deletionVectors": _Feature(reader=True),
    "domainMetadata": _Feature(),
    "icebergCompatV1": _Feature(),
    "icebergCompatV2": _Feature(),
    "icebergCompatV3": _Feature(),
    "inCommitTimestamp": _Feature(),
    "rowTracking": _Feature(),
    "timestampNtz": _Feature(reader=True),
    "typeWidening": _Feature(reader=True),
    "typeWidening-preview": _Feature(reader=True),
    "v2Checkpoint": _Feature(reader=True),
    "vacuumProtocolCheck": _Feature(reader=True),
    "variantType": _Feature(reader=True),
    "variantType-preview": _Feature(reader=True),
    "variantShredding": _Feature(reader=True),
    "variantShredding-preview": _Feature(reader=True),
}

READABLE = frozenset(
    {"columnMapping", "deletionVectors", "timestampNtz", "v2Checkpoint", "vacuumProtocolCheck"}
)
WRITABLE = frozenset(
    {
        "appendOnly",
        "checkConstraints",
        "deletionVectors",
        "domainMetadata",
        "invariants",
        "timestampNtz",
        "vacuumProtocolCheck",
    }
)
# A writer can ignore these while the table does not use them.
_HARMLESS_UNUSED = frozenset(
    {
        "allowColumnDefaults",
        "changeDataFeed",
        "clustering",
        "columnMapping",
        "generatedColumns",
        "identityColumns",
        "inCommitTimestamp",
    }
)

# A property with this value makes a table use the feature.
_SWITCHES: dict[str, tuple[str, str]] = {
    "delta.appendOnly": ("true", "appendOnly"),
    "delta.enableChangeDataFeed": ("true", "changeDataFeed"),
    "delta.enableDeletionVectors": ("true", "deletionVectors"),
    "delta.enableIcebergCompatV1": ("true", "icebergCompatV1"),
    "delta.enableIcebergCompatV2": ("true", "icebergCompatV2"),
    "delta.enableIcebergCompatV3": ("true", "icebergCompatV3"),
    "delta.enableInCommitTimestamps": ("true", "inCommitTimestamp"),
    "delta.enableRowTracking": ("true", "rowTracking"),
    "delta.enableTypeWidening": ("true", "typeWidening"),
    "delta.enableVariantShredding": ("true", "variantShredding"),
    "delta.checkpointPolicy": ("v2", "v2Checkpoint"),
}
_FEATURE_PROPERTY = "delta.feature."
_CONSTRAINT = "delta.constraints."

# Field metadata that makes a table use the feature.
_FIELD_MARKS = {
    "delta.generationExpression": "generatedColumns",
    "delta.identity.start": "identityColumns",
    "delta.identity.step": "identityColumns",
    "CURRENT_DEFAULT": "allowColumnDefaults",
    "delta.invariants": "invariants",
}

_UNITS_MS = {
    "microsecond": 0.001,
    "millisecond": 1,
    "second": 1000,
    "minute": 60_000,
    "hour": 3_600_000,
    "day": 86_400_000,
    "week": 604_800_000,
}


def known() -> Iterable[str]:
    """The names of all features that this engine knows."""
    return _FEATURES


def reader_features(protocol: Protocol) -> frozenset[str]:
    """All features that a reader must know, from the lists or implied by versions."""
    if protocol.reader_features is not None:
        return protocol.reader_features
    return frozenset(
        name
        for name, feature in _FEATURES.items()
        if feature.reader and feature.reader_version <= min(protocol.min_reader, 2)
    )


def writer_features(protocol: Protocol) -> frozenset[str]:
    """All features that a writer must know, from the lists or implied by versions."""
    if protocol.writer_features is not None:
        return protocol.writer_features
    return frozenset(
        name for name, feature in _FEATURES.items() if feature.writer_version <= min(protocol.min_writer, 6)
    )


def implied(reader: int, writer: int) -> frozenset[str]:
    """The features that a table of these versions may use without listing them."""
    return frozenset(
        name
        for name, feature in _FEATURES.items()
        if feature.writer_version <= writer < 7 and (not feature.reader or feature.reader_version <= reader)
    )


def supports(protocol: Protocol, feature: str) -> bool:
    """Whether the table's protocol allows this feature."""
    return feature in writer_features(protocol)


def check_readable(protocol: Protocol, where: str) -> None:
    """Raise UnsupportedTableFeature if this engine would read the table wrongly."""
    if protocol.min_reader > 3 or protocol.min_reader < 1:
        raise UnsupportedTableFeature(
            f"the table {where} needs reader version {protocol.min_reader}; this engine knows 1 to 3",
            features=[f"readerVersion{protocol.min_reader}"],
        )
    half = (protocol.reader_features or frozenset()) - writer_features(protocol)
    if half and protocol.writer_features is not None:
        raise CorruptLog(
            f"the protocol of the table {where} names {_name_list(half)} for readers, but not for writers"
        )
    unknown = reader_features(protocol) - READABLE
    if unknown:
        raise UnsupportedTableFeature(
            f"the table {where} can't be read without {_name_list(unknown)}", features=unknown
        )


def check_writable(
    protocol: Protocol, metadata: Metadata, domains: Mapping[str, DomainMetadata], where: str
) -> None:
    """Raise UnsupportedTableFeature if this engine would write the table wrongly."""
    check_readable(protocol, where)
    if protocol.min_writer > 7 or protocol.min_writer < 1:
        raise UnsupportedTableFeature(
            f"the table {where} needs writer version {protocol.min_writer}; this engine knows 1 to 7",
            features=[f"writerVersion{protocol.min_writer}"],
        )
    used = needed_features(metadata)
    if domains.get("delta.clustering") is not None:
        used |= {"clustering"}
    unable = {
        name for name in writer_features(protocol) - WRITABLE if name in used or name not in _HARMLESS_UNUSED
    } | (used - WRITABLE)
    if unable:
        raise UnsupportedTableFeature(
            f"the table {where} can't be written by this engine: it uses {_name_list(unable)}",
            features=unable,
        )


def needed_features(metadata: Metadata) -> set[str]:
    """The features that the schema and properties of a table use."""
    needed = {
        feature
        for name, (value, feature) in _SWITCHES.items()
        if metadata.configuration.get(name, "").strip().lower() == value
    }
    if any(name.startswith(_CONSTRAINT) for name in metadata.configuration):
        needed.add("checkConstraints")
    if schemas.column_mapping_mode(metadata.configuration) != "none":
        needed.add("columnMapping")
    return needed | _features_of_schema(metadata.schema_string)


def protocol_for(metadata: Metadata, current: Protocol | None = None) -> Protocol:
    """The lowest protocol under which this engine may write such a table, never lower than the current one.

    Properties can ask for more: `delta.minReaderVersion`, `delta.minWriterVersion`, `delta.feature.NAME`. Features that
    this engine can't write are refused by name.
    """
    requested = {
        name.removeprefix(_FEATURE_PROPERTY)
        for name, value in metadata.configuration.items()
        if name.startswith(_FEATURE_PROPERTY) and value.strip().lower() in {"supported", "enabled"}
    }
    needed = needed_features(metadata) | requested
    unknown = needed - WRITABLE
    if unknown:
        raise UnsupportedTableFeature(
            f"a table with {_name_list(unknown)} can't be written by this engine", features=unknown
        )
    least = Protocol(
        int(metadata.configuration.get("delta.minReaderVersion", 1)),
        int(metadata.configuration.get("delta.minWriterVersion", 2)),
    )
    return upgraded(current or least, needed)


def upgraded(protocol: Protocol, features: Iterable[str]) -> Protocol:
    """The protocol with these features added: by versions as long as they suffice, otherwise by lists."""
    missing = set(features) - writer_features(protocol)
    for name in missing:
        if name not in _FEATURES:
            raise UnsupportedTableFeature(
                f"there is no feature {name} that this engine knows", features=[name]
            )
    if not missing and not (protocol.min_writer == 7 and protocol.writer_features is None):
        return protocol
    by_version = protocol.writer_features is None and all(
        _FEATURES[name].writer_version < 7 for name in missing
    )
    if by_version and protocol.min_writer < 7:
        return Protocol(
            max(
                [
                    protocol.min_reader,
                    *(_FEATURES[name].reader_version for name in missing if _FEATURES[name].reader),
                ]
            ),
            max([protocol.min_writer, *(_FEATURES[name].writer_version for name in missing)]),
        )
    writer = writer_features(protocol) | missing
    readers = {name for name in missing if _FEATURES[name].reader} | reader_features(protocol)
    if not readers and protocol.min_reader < 3:
        return Protocol(protocol.min_reader, 7, None, frozenset(writer))
    return Protocol(3, 7, frozenset(readers), frozenset(writer))


def flag(configuration: Mapping[str, str], name: str, default: bool = False) -> bool:
    """The value of a boolean property."""
    text = configuration.get(name)
    if text is None:
        return default
    folded = text.strip().lower()
    if folded not in {"true", "false"}:
        raise InvalidArgument(f"the property {name} is {text!r}, which is neither true nor false")
    return folded == "true"


def whole_number(configuration: Mapping[str, str], name: str, default: int) -> int:
    """The value of an integer property."""
    text = configuration.get(name)
    try:
        return default if text is None else int(text)
    except ValueError:
        raise InvalidArgument(f"the property {name} is {text!r}, which is no whole number") from None


def interval_ms(configuration: Mapping[str, str], name: str, default: str) -> int:
    """The value of an interval property such as `interval 30 days` or `7 days 12 hours`, in milliseconds."""
    text = configuration.get(name, default)
    words = text.strip().lower().removeprefix("interval").split()
    total = 0.0
    for amount, unit in zip(words[::2], words[1::2], strict=False):
        if not re.fullmatch(r"[+-]?\d+(\.\d+)?", amount) or unit.removesuffix("s") not in _UNITS_MS:
            break
        total += float(amount) * _UNITS_MS[unit.removesuffix("s")]
    else:
        if words and len(words) % 2 == 0:
            return int(total)
    raise InvalidArgument(
        f"the property {name} is {text!r}, which is no interval",
        "Write it as `interval 30 days`, in weeks or smaller.",
    )


@lru_cache(maxsize=256)
def _features_of_schema(schema_string: str) -> frozenset[str]:
    """The features that a schema uses. Cached, because every commit needs them and a wide schema takes milliseconds."""
    table = schemas.from_json(schema_string)
    marks = {mark for _, field in schemas.walk(table) for mark in field.metadata or {}}
    kinds = set(_type_names(table))
    features = {_FIELD_MARKS[mark] for mark in marks & _FIELD_MARKS.keys()}
    if TimestampNTZType.typeName() in kinds:
        features.add("timestampNtz")
    if "variant" in kinds:
        features.add("variantType")
    return frozenset(features)


def _type_names(data_type: DataType) -> Iterable[str]:
    yield data_type.typeName()
    if isinstance(data_type, StructType):
        for field in data_type.fields:
            yield from _type_names(field.dataType)
    elif isinstance(data_type, ArrayType):
        yield from _type_names(data_type.elementType)
    elif isinstance(data_type, MapType):
        yield from _type_names(data_type.keyType)
        yield from _type_names(data_type.valueType)


def _name_list(names: Iterable[str]) -> str:
    ordered = sorted(names)
    return f"the table feature{'s' if len(ordered) > 1 else ''} {', '.join(ordered)}"


def stored_properties(configuration: Mapping[str, str]) -> dict[str, str]:
    """The properties without those that only ask for a protocol; the protocol itself records these."""
    asks = {"delta.minReaderVersion", "delta.minWriterVersion"}
    return {
        name: value
        for name, value in configuration.items()
        if name not in asks and not name.startswith(_FEATURE_PROPERTY)
    }
