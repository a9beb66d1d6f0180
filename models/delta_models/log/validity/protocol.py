"""Rules for protocol, metadata and schema, and for what an action needs of them."""

from __future__ import annotations

from collections.abc import Iterator

from delta_models.log.actions import Add, CommitInfo, Metadata, Protocol
from delta_models.log.commits import Commit
from delta_models.log.errors import CorruptLog
from delta_models.log.state import Snapshot
from delta_models.log.validity.pages import PROPERTY, is_legal
from delta_models.requirements.base import Violation
from delta_models.schema import (
    TIMESTAMP_NTZ,
    VARIANT,
    Array,
    DataType,
    DecimalType,
    Field,
    Map,
    Struct,
)

READER_WRITER_FEATURES = frozenset({
    "catalogManaged", "columnMapping", "deletionVectors", "timestampNtz", "typeWidening", "typeWidening-preview",
    "v2Checkpoint", "vacuumProtocolCheck", "variantShredding", "variantShredding-preview", "variantType",
    "variantType-preview",
})  # fmt: skip
WRITER_FEATURES = frozenset({
    "allowColumnDefaults", "appendOnly", "changeDataFeed", "checkConstraints", "clustering", "domainMetadata",
    "generatedColumns", "icebergCompatV1", "icebergCompatV2", "identityColumns", "inCommitTimestamp", "invariants",
    "rowTracking",
})  # fmt: skip
_SINCE = {
    "appendOnly": 2, "invariants": 2, "checkConstraints": 3, "changeDataFeed": 4, "generatedColumns": 4,
    "columnMapping": 5, "identityColumns": 6,
}  # fmt: skip
_SINCE_READER = {"columnMapping": 2}
_FEATURES_WRITER = 7
_FEATURES_READER = 3


def supports(protocol: Protocol, feature: str) -> bool:
    """Whether a protocol lists a feature, or implies it by its version."""
    if protocol.min_writer < _FEATURES_WRITER:
        return protocol.min_writer >= _SINCE.get(feature, _FEATURES_WRITER)
    return feature in (protocol.writer_features or ())


def is_on(metadata: Metadata, name: str) -> bool:
    """Whether a property is set to true."""
    return metadata.configuration.get(name, "false").lower() == "true"


def violations(before: Snapshot | None, commit: Commit) -> Iterator[Violation]:
    """Breaches of the rules on protocol and metadata."""
    for each in commit.protocols:
        for requirement, detail in protocol_breaches(each):
            yield Violation(requirement, detail, commit.name)
    protocol = commit.protocol or (before.protocol if before is not None else None)
    metadata = commit.metadata or (before.metadata if before is not None else None)
    for set_metadata in commit.metadatas:
        for requirement, detail in _metadata_breaches(set_metadata):
            yield Violation(requirement, detail, commit.name)
    if protocol is None or metadata is None:
        return
    if commit.metadatas or commit.protocols:
        for requirement, detail in _needs(protocol, metadata):
            yield Violation(requirement, detail, commit.name)
    for add in commit.adds:
        for requirement, detail in _vector_breaches(before, add, protocol, metadata):
            yield Violation(requirement, detail, commit.name)
    if commit.domains and not supports(protocol, "domainMetadata"):
        yield Violation("log.domain-needs-feature", f"domain {commit.domains[0].name!r}", commit.name)
    for domain in commit.domains:
        known = before.domains.get(domain.name) if before is not None else None
        if domain.removed and known is not None and domain.configuration != known.configuration:
            detail = f"domain {domain.name!r} is removed with another configuration than it had"
            yield Violation("log.removed-domain-keeps-configuration", detail, commit.name)
    yield from _in_commit_timestamps(before, commit, protocol, metadata)


def protocol_breaches(protocol: Protocol) -> Iterator[tuple[str, str]]:
    """What is wrong with a protocol action in itself: (requirement, detail)."""
    reader, writer = protocol.min_reader, protocol.min_writer
    if (protocol.reader_features is not None) != (reader == _FEATURES_READER):
        yield (
            "log.reader-features-iff-version-3",
            f"minReaderVersion {reader}, readerFeatures {protocol.reader_features}",
        )
    if (protocol.writer_features is not None) != (writer == _FEATURES_WRITER):
        yield (
            "log.writer-features-iff-version-7",
            f"minWriterVersion {writer}, writerFeatures {protocol.writer_features}",
        )
    if reader >= _FEATURES_READER and writer < _FEATURES_WRITER:
        yield "log.reader-3-needs-writer-7", f"minReaderVersion {reader}, minWriterVersion {writer}"
    for_readers = set(protocol.reader_features or ())
    for_writers = set(protocol.writer_features or ())
    if for_readers - for_writers and writer == _FEATURES_WRITER:
        yield (
            "log.reader-features-are-writer-features",
            f"{sorted(for_readers - for_writers)} for readers alone",
        )
    if reader == _FEATURES_READER:
        forgotten = sorted((for_writers & READER_WRITER_FEATURES) - for_readers)
        if forgotten:
            yield "log.reader-writer-feature-in-both-lists", f"{forgotten} for writers alone"
    elif writer == _FEATURES_WRITER:
        above = for_writers & READER_WRITER_FEATURES
        above -= {"columnMapping"} if reader >= _SINCE_READER["columnMapping"] else set()
        if above:
            yield "log.feature-needs-reader-version", f"{sorted(above)} with minReaderVersion {reader}"
    foreign = sorted(for_readers & WRITER_FEATURES)
    if foreign:
        yield "log.writer-feature-in-writer-list-only", f"{foreign} in readerFeatures"


def _metadata_breaches(metadata: Metadata) -> Iterator[tuple[str, str]]:
    try:
        schema = metadata.schema
    except CorruptLog as error:
        yield "log.schema-readable", str(error)
        return
    for where, names in _levels(schema):
        folded = [name.casefold() for name in names]
        twice = sorted({name for name in folded if folded.count(name) > 1})
        if twice:
            yield "log.column-names-unique", f"{where or 'the schema'}: {', '.join(twice)}"
    known = set(schema.names)
    missing = [column for column in metadata.partition_columns if column not in known]
    if missing:
        yield "log.partition-columns-in-schema", f"{missing} of {metadata.partition_columns} are no columns"
    for column in metadata.partition_columns:
        if column in known and isinstance(schema[column].type, Struct | Array | Map):
            yield "log.partition-columns-atomic", f"{column} is of type {schema[column].type}"
    if not is_legal(metadata):
        yield "log.page-format-legal", f"{PROPERTY} is {metadata.configuration[PROPERTY]!r}"
    if metadata.provider not in {None, "parquet"}:
        yield "log.format-is-parquet", f"the provider is {metadata.provider!r}"
    for data_type in _types(schema):
        if isinstance(data_type, DecimalType) and not (
            1 <= data_type.precision <= 38 and 0 <= data_type.scale <= data_type.precision
        ):
            yield "log.schema-readable", f"there is no {data_type}"


def _needs(protocol: Protocol, metadata: Metadata) -> Iterator[tuple[str, str]]:
    try:
        types = set(_types(metadata.schema))
    except CorruptLog:
        return
    if TIMESTAMP_NTZ in types and not supports(protocol, "timestampNtz"):
        yield "log.type-needs-feature", "timestamp_ntz without timestampNtz"
    if VARIANT in types and not (
        supports(protocol, "variantType") or supports(protocol, "variantType-preview")
    ):
        yield "log.type-needs-feature", "variant without variantType"
    constraints = [each for each in metadata.configuration if each.startswith("delta.constraints.")]
    if constraints and not supports(protocol, "checkConstraints"):
        yield "log.constraint-needs-feature", f"{constraints[0]} without checkConstraints"
    if is_on(metadata, "delta.enableVariantShredding") and not any(
        supports(protocol, name) for name in ("variantShredding", "variantShredding-preview")
    ):
        yield "log.variant-shredding-needs-feature", "the property without the feature"
    yield from _variants(metadata)
    if not any(supports(protocol, name) for name in ("typeWidening", "typeWidening-preview")):
        for _, each in fields_of(metadata.schema):
            if "delta.typeChanges" in each.metadata:
                yield "schema.type-changes-need-feature", f"column {each.name!r} has delta.typeChanges"
    mode = metadata.configuration.get("delta.columnMapping.mode", "none")
    if mode not in {"none", "name", "id"}:
        yield "schema.column-mapping-complete", f"unknown mode {mode!r}"
    elif mode != "none":
        yield from _column_mapping(metadata)


def _variants(metadata: Metadata) -> Iterator[tuple[str, str]]:
    partitions = {name.casefold() for name in metadata.partition_columns}
    for where, each in fields_of(metadata.schema):
        if each.type != VARIANT:
            continue
        if not where and each.name.casefold() in partitions:
            yield "schema.variant-partitions-nothing", f"column {each.name!r} is a variant"
        if "delta.generationExpression" in each.metadata:
            yield "schema.variant-not-generated", f"column {each.name!r} is a variant"
        default = each.metadata.get("CURRENT_DEFAULT")
        if isinstance(default, str) and default.strip().lower() != "null":
            yield "schema.variant-defaults-to-null", f"the default of column {each.name!r} is {default!r}"


def _column_mapping(metadata: Metadata) -> Iterator[tuple[str, str]]:
    ids: list[int] = []
    names: list[tuple[str, str]] = []
    for parent, each in fields_of(metadata.schema):
        details = each.metadata
        number = details.get("delta.columnMapping.id")
        name = details.get("delta.columnMapping.physicalName")
        if type(number) is not int or type(name) is not str:
            yield "schema.column-mapping-complete", f"field {each.name!r} has no id or no physical name"
            continue
        ids.append(number)
        names.append((parent, name))
    if len(ids) != len(set(ids)):
        yield "schema.column-ids-unique", f"ids {sorted(ids)}"
    if len(names) != len(set(names)):
        yield "schema.physical-names-unique", "two fields of one struct have one physical name"
    highest = metadata.configuration.get("delta.columnMapping.maxColumnId")
    if ids and (highest is None or not highest.isdecimal() or int(highest) < max(ids)):
        yield "schema.max-column-id", f"maxColumnId is {highest}, the highest id {max(ids)}"


def _vector_breaches(
    before: Snapshot | None, add: Add, protocol: Protocol, metadata: Metadata
) -> Iterator[tuple[str, str]]:
    if add.deletion_vector is None:
        return
    if not supports(protocol, "deletionVectors"):
        yield "dv.needs-feature", f"{add.path} has a deletion vector"
    known = before is not None and add.key in before.live
    allowed = is_on(metadata, "delta.enableDeletionVectors")
    if not known and not allowed:
        yield "dv.needs-property", f"{add.path}: delta.enableDeletionVectors is not true"
    try:
        statistics = add.statistics
    except ValueError:
        return  # reported as statistics that are no JSON
    if statistics is None or type(statistics.get("numRecords")) is not int:
        yield "dv.num-records-present", f"{add.path} has a deletion vector, and no numRecords"


def _in_commit_timestamps(
    before: Snapshot | None, commit: Commit, protocol: Protocol, metadata: Metadata
) -> Iterator[Violation]:
    if not is_on(metadata, "delta.enableInCommitTimestamps"):
        return
    if not supports(protocol, "inCommitTimestamp"):
        yield Violation(
            "log.in-commit-timestamp-needs-feature", "the property without the feature", commit.name
        )
        return
    if not commit.infos or not commit.info_first:
        yield Violation("log.in-commit-timestamp-first", "commitInfo is not the first action", commit.name)
    info: CommitInfo | None = commit.info
    time = info.in_commit_timestamp if info is not None else None
    if time is None:
        yield Violation("log.in-commit-timestamp-present", "commitInfo has no inCommitTimestamp", commit.name)
    elif before is not None and (earlier := before.in_commit_timestamp) is not None and time <= earlier:
        yield Violation("log.in-commit-timestamp-increases", f"{time} after {earlier}", commit.name)


def _levels(data_type: DataType, where: str = "") -> Iterator[tuple[str, tuple[str, ...]]]:
    match data_type:
        case Struct():
            yield where, data_type.names
            for field in data_type.fields:
                yield from _levels(field.type, f"{where}.{field.name}".lstrip("."))
        case Array(element=element):
            yield from _levels(element, f"{where}.element")
        case Map(key=key, value=value):
            yield from _levels(key, f"{where}.key")
            yield from _levels(value, f"{where}.value")


def _types(data_type: DataType) -> Iterator[DataType]:
    yield data_type
    match data_type:
        case Struct():
            for field in data_type.fields:
                yield from _types(field.type)
        case Array(element=element):
            yield from _types(element)
        case Map(key=key, value=value):
            yield from _types(key)
            yield from _types(value)


def fields_of(data_type: DataType, where: str = "") -> Iterator[tuple[str, Field]]:
    """Every field of a type, nested ones too, with the path of the struct that it is in."""
    match data_type:
        case Struct():
            for field in data_type.fields:
                yield where, field
                yield from fields_of(field.type, f"{where}.{field.name}")
        case Array(element=element):
            yield from fields_of(element, f"{where}.element")
        case Map(key=key, value=value):
            yield from fields_of(key, f"{where}.key")
            yield from fields_of(value, f"{where}.value")
