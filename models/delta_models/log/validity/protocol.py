"""Rules for protocol, metadata and schema, and for what an action needs of them."""

from __future__ import annotations

from collections.abc import Iterator

from delta_models.log.actions import Add, CommitInfo, Metadata, Protocol
from delta_models.log.commits import Commit
from delta_models.log.errors import CorruptLog
from delta_models.log.state import Snapshot
from delta_models.log.validity.pages import PROPERTY, is_legal
from delta_models.requirements.base import Verdict, as_one, of_many, once_each
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


def judge(before: Snapshot | None, commit: Commit) -> Iterator[Verdict]:
    """The rules on protocol and metadata."""
    for action in commit.protocols:
        yield from _protocol(action)
    protocol = commit.protocol or (before.protocol if before is not None else None)
    metadata = commit.metadata or (before.metadata if before is not None else None)
    for set_metadata in commit.metadatas:
        yield from _metadata(set_metadata)
    if protocol is None or metadata is None:
        return
    if commit.metadatas or commit.protocols:
        yield from _needs(protocol, metadata)
    for add in commit.adds:
        yield from _vector(before, add, protocol, metadata)
    if supports(protocol, "domainMetadata"):
        yield from of_many("log.domain-needs-feature", len(commit.domains))
    elif commit.domains:
        yield "log.domain-needs-feature", f"domain {commit.domains[0].name!r}"
    for domain in commit.domains:
        known = before.domains.get(domain.name) if before is not None else None
        if domain.removed and known is not None:
            wrong = None
            if domain.configuration != known.configuration:
                wrong = f"domain {domain.name!r} is removed with another configuration than it had"
            yield "log.removed-domain-keeps-configuration", wrong
    yield from _in_commit_timestamps(before, commit, protocol, metadata)


def _protocol(protocol: Protocol) -> Iterator[Verdict]:
    """A protocol action in itself."""
    reader, writer = protocol.min_reader, protocol.min_writer
    wrong = None
    if (protocol.reader_features is not None) != (reader == _FEATURES_READER):
        wrong = f"minReaderVersion {reader}, readerFeatures {protocol.reader_features}"
    yield "log.reader-features-iff-version-3", wrong
    wrong = None
    if (protocol.writer_features is not None) != (writer == _FEATURES_WRITER):
        wrong = f"minWriterVersion {writer}, writerFeatures {protocol.writer_features}"
    yield "log.writer-features-iff-version-7", wrong
    if reader >= _FEATURES_READER:
        wrong = None
        if writer < _FEATURES_WRITER:
            wrong = f"minReaderVersion {reader}, minWriterVersion {writer}"
        yield "log.reader-3-needs-writer-7", wrong
    for_readers = set(protocol.reader_features or ())
    for_writers = set(protocol.writer_features or ())
    if for_readers and writer == _FEATURES_WRITER:
        alone = sorted(for_readers - for_writers)
        yield "log.reader-features-are-writer-features", f"{alone} for readers alone" if alone else None
    if reader == _FEATURES_READER:
        forgotten = sorted((for_writers & READER_WRITER_FEATURES) - for_readers)
        wrong = f"{forgotten} for writers alone" if forgotten else None
        yield "log.reader-writer-feature-in-both-lists", wrong
    elif writer == _FEATURES_WRITER:
        above = for_writers & READER_WRITER_FEATURES
        above -= {"columnMapping"} if reader >= _SINCE_READER["columnMapping"] else set()
        wrong = f"{sorted(above)} with minReaderVersion {reader}" if above else None
        yield "log.feature-needs-reader-version", wrong
    if for_readers:
        foreign = sorted(for_readers & WRITER_FEATURES)
        yield "log.writer-feature-in-writer-list-only", f"{foreign} in readerFeatures" if foreign else None


def _metadata(metadata: Metadata) -> Iterator[Verdict]:
    try:
        schema = metadata.schema
    except CorruptLog as error:
        yield "log.schema-readable", str(error)
        return
    yield from as_one("log.column-names-unique", _repeated_names(schema))
    columns = metadata.partition_columns
    if columns:
        known = set(schema.names)
        missing = [column for column in columns if column not in known]
        wrong = f"{missing} of {columns} are no columns" if missing else None
        yield "log.partition-columns-in-schema", wrong
        nested = (
            f"{column} is of type {schema[column].type}"
            for column in columns
            if column in known and isinstance(schema[column].type, Struct | Array | Map)
        )
        yield from as_one("log.partition-columns-atomic", nested)
    wrong = None if is_legal(metadata) else f"{PROPERTY} is {metadata.configuration[PROPERTY]!r}"
    yield "log.page-format-legal", wrong
    is_parquet = metadata.provider in {None, "parquet"}
    yield "log.format-is-parquet", None if is_parquet else f"the provider is {metadata.provider!r}"
    odd = (f"there is no {data_type}" for data_type in _types(schema) if not _exists(data_type))
    yield from as_one("log.schema-readable", odd)


def _repeated_names(schema: Struct) -> Iterator[str]:
    for where, names in _levels(schema):
        folded = [name.casefold() for name in names]
        twice = sorted({name for name in folded if folded.count(name) > 1})
        if twice:
            yield f"{where or 'the schema'}: {', '.join(twice)}"


def _exists(data_type: DataType) -> bool:
    """Whether there is such a type: a decimal has at most 38 digits, as many as its scale or more."""
    if not isinstance(data_type, DecimalType):
        return True
    return 1 <= data_type.precision <= 38 and 0 <= data_type.scale <= data_type.precision


def _needs(protocol: Protocol, metadata: Metadata) -> Iterator[Verdict]:
    try:
        types = set(_types(metadata.schema))
    except CorruptLog:
        return
    if TIMESTAMP_NTZ in types:
        allowed = supports(protocol, "timestampNtz")
        yield "log.type-needs-feature", None if allowed else "timestamp_ntz without timestampNtz"
    if VARIANT in types:
        allowed = supports(protocol, "variantType") or supports(protocol, "variantType-preview")
        yield "log.type-needs-feature", None if allowed else "variant without variantType"
    constraints = [key for key in metadata.configuration if key.startswith("delta.constraints.")]
    if constraints:
        allowed = supports(protocol, "checkConstraints")
        wrong = None if allowed else f"{constraints[0]} without checkConstraints"
        yield "log.constraint-needs-feature", wrong
    if is_on(metadata, "delta.enableVariantShredding"):
        allowed = any(supports(protocol, name) for name in ("variantShredding", "variantShredding-preview"))
        yield "log.variant-shredding-needs-feature", None if allowed else "the property without the feature"
    if VARIANT in types:
        yield from once_each(_variants(metadata))
    widening = any(supports(protocol, name) for name in ("typeWidening", "typeWidening-preview"))
    yield from once_each(
        (
            "schema.type-changes-need-feature",
            None if widening else f"column {field.name!r} has delta.typeChanges",
        )
        for _, field in fields_of(metadata.schema)
        if "delta.typeChanges" in field.metadata
    )
    mode = metadata.configuration.get("delta.columnMapping.mode", "none")
    if mode not in {"none", "name", "id"}:
        yield "schema.column-mapping-complete", f"unknown mode {mode!r}"
    elif mode != "none":
        yield from once_each(_column_mapping(metadata))


def _variants(metadata: Metadata) -> Iterator[Verdict]:
    partitions = {name.casefold() for name in metadata.partition_columns}
    for where, field in fields_of(metadata.schema):
        if field.type != VARIANT:
            continue
        if not where:
            partitioning = field.name.casefold() in partitions
            wrong = f"column {field.name!r} is a variant" if partitioning else None
            yield "schema.variant-partitions-nothing", wrong
        generated = "delta.generationExpression" in field.metadata
        yield "schema.variant-not-generated", f"column {field.name!r} is a variant" if generated else None
        default = field.metadata.get("CURRENT_DEFAULT")
        wrong = None
        if isinstance(default, str) and default.strip().lower() != "null":
            wrong = f"the default of column {field.name!r} is {default!r}"
        yield "schema.variant-defaults-to-null", wrong


def _column_mapping(metadata: Metadata) -> Iterator[Verdict]:
    ids: list[int] = []
    names: list[tuple[str, str]] = []
    for parent, field in fields_of(metadata.schema):
        details = field.metadata
        number = details.get("delta.columnMapping.id")
        name = details.get("delta.columnMapping.physicalName")
        if type(number) is not int or type(name) is not str:
            yield "schema.column-mapping-complete", f"field {field.name!r} has no id or no physical name"
            continue
        yield "schema.column-mapping-complete", None
        ids.append(number)
        names.append((parent, name))
    yield "schema.column-ids-unique", None if len(ids) == len(set(ids)) else f"ids {sorted(ids)}"
    wrong = None
    if len(names) != len(set(names)):
        wrong = "two fields of one struct have one physical name"
    yield "schema.physical-names-unique", wrong
    highest = metadata.configuration.get("delta.columnMapping.maxColumnId")
    if ids:
        enough = highest is not None and highest.isdecimal() and int(highest) >= max(ids)
        wrong = None if enough else f"maxColumnId is {highest}, the highest id {max(ids)}"
        yield "schema.max-column-id", wrong


def _vector(before: Snapshot | None, add: Add, protocol: Protocol, metadata: Metadata) -> Iterator[Verdict]:
    if add.deletion_vector is None:
        return
    allowed = supports(protocol, "deletionVectors")
    yield "dv.needs-feature", None if allowed else f"{add.path} has a deletion vector"
    if before is None or add.key not in before.live:
        allowed = is_on(metadata, "delta.enableDeletionVectors")
        wrong = None if allowed else f"{add.path}: delta.enableDeletionVectors is not true"
        yield "dv.needs-property", wrong
    try:
        statistics = add.statistics
    except ValueError:
        return  # reported as statistics that are no JSON
    wrong = None
    if statistics is None or type(statistics.get("numRecords")) is not int:
        wrong = f"{add.path} has a deletion vector, and no numRecords"
    yield "dv.num-records-present", wrong


def _in_commit_timestamps(
    before: Snapshot | None, commit: Commit, protocol: Protocol, metadata: Metadata
) -> Iterator[Verdict]:
    if not is_on(metadata, "delta.enableInCommitTimestamps"):
        return
    if not supports(protocol, "inCommitTimestamp"):
        yield "log.in-commit-timestamp-needs-feature", "the property without the feature"
        return
    yield "log.in-commit-timestamp-needs-feature", None
    first = bool(commit.infos) and commit.info_first
    yield "log.in-commit-timestamp-first", None if first else "commitInfo is not the first action"
    info: CommitInfo | None = commit.info
    time = info.in_commit_timestamp if info is not None else None
    yield "log.in-commit-timestamp-present", "commitInfo has no inCommitTimestamp" if time is None else None
    earlier = before.in_commit_timestamp if before is not None else None
    if time is not None and earlier is not None:
        yield "log.in-commit-timestamp-increases", None if time > earlier else f"{time} after {earlier}"


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
