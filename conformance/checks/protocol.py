"""Does the protocol name the features that the table needs, no others, and all that it named before?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from conformance.checks.log_validity import chain
from conformance.checks.names import CheckName
from conformance.checks.recorder import Check, CheckRecorder, judged_by
from conformance.observations.observation import Observation
from delta_models.log import CorruptLog, Snapshot
from delta_models.log.actions import Protocol
from delta_models.operations import DropFeature, EnableFeature
from delta_models.requirements import Checked, checked
from delta_models.schema import TIMESTAMP_NTZ, VARIANT, Array, DataType, Map, Struct

JUDGES = judged_by(CheckName.PROTOCOL)
FEATURE_WRITER = 7
LEGACY: tuple[tuple[int, tuple[str, ...]], ...] = (
    (2, ("appendOnly", "invariants")),
    (3, ("checkConstraints",)),
    (4, ("changeDataFeed", "generatedColumns")),
    (5, ("columnMapping",)),
    (6, ("identityColumns",)),
)
ACTIVE_BY_PROPERTY = {
    "delta.appendOnly": "appendOnly",
    "delta.enableChangeDataFeed": "changeDataFeed",
    "delta.enableDeletionVectors": "deletionVectors",
    "delta.enableTypeWidening": "typeWidening",
    "delta.enableRowTracking": "rowTracking",
    "delta.enableInCommitTimestamps": "inCommitTimestamp",
    "delta.enableIcebergCompatV1": "icebergCompatV1",
    "delta.enableIcebergCompatV2": "icebergCompatV2",
    "delta.enableVariantShredding": "variantShredding",
}
# Features that come with another one.
IMPLIED = {
    "rowTracking": ("domainMetadata",),
    "clustering": ("domainMetadata",),
    "icebergCompatV1": ("columnMapping",),
    "icebergCompatV2": ("columnMapping",),
    "variantShredding": ("variantType",),
}
# Features that a writer may add when it drops a feature, to keep the table readable.
ADDED_BY_DROPPING = ("checkpointProtection", "vacuumProtocolCheck")


@dataclass(frozen=True, slots=True)
class _Change:
    """A commit that sets the protocol: the features that it names, and those that the table uses."""

    before: Snapshot | None
    protocol: Protocol
    named: set[str]
    active: set[str]
    where: str


def check(observation: Observation, _recorder: CheckRecorder) -> Iterator[Checked]:
    """Judge each commit of the step that sets the protocol."""
    if not observation.wrote:
        return
    for before, commit, after in chain(observation):
        if commit.protocol is None or after is None:
            continue
        try:
            active = set(used_features(after.metadata.schema, after.metadata.configuration.items()))
        except CorruptLog:
            continue
        change = _Change(before, commit.protocol, supported(commit.protocol), active, commit.name)
        if not isinstance(observation.operation, DropFeature):
            yield from _check_features_stay(change)
        if commit.protocol.min_writer >= FEATURE_WRITER:
            yield from _check_features_needed(observation, change)


def supported(protocol: Protocol) -> set[str]:
    """Return the features that a protocol supports, by their names or by its versions."""
    if protocol.min_writer >= FEATURE_WRITER:
        return set(protocol.writer_features or ()) | set(protocol.reader_features or ())
    return {name for version, names in LEGACY if version <= protocol.min_writer for name in names}


def _check_features_stay(change: _Change) -> Iterator[Checked]:
    if change.before is None:
        return
    old, version = supported(change.before.protocol), change.before.protocol.min_writer
    if version >= FEATURE_WRITER:
        gone = sorted(old - change.named)
        problem = f"no longer supported: {', '.join(gone)}" if gone else None
        yield checked("protocol.features-stay", problem, change.where)
    elif change.protocol.min_writer >= FEATURE_WRITER:
        gone = sorted((old & change.active) - change.named)
        problem = f"in use, supported by version {version}, not named: {', '.join(gone)}" if gone else None
        yield checked("protocol.upgrade-keeps-what-is-used", problem, change.where)


def _check_features_needed(observation: Observation, change: _Change) -> Iterator[Checked]:
    allowed = (
        change.active
        | {"appendOnly", "invariants"}
        | set(ADDED_BY_DROPPING)
        | set(observation.model.features)
    )
    if change.before is not None:
        allowed |= supported(change.before.protocol)
    allowed |= {key.removeprefix("delta.feature.") for key, _ in observation.model.properties}
    # Of several commits the last one may be the first to set a property.
    allowed |= set(_features_of_properties(observation.model.properties))
    if isinstance(observation.operation, EnableFeature):
        allowed.add(observation.operation.feature)
    if observation.model.cluster_by:
        allowed.add("clustering")
    if observation.model.defaults:
        allowed.add("allowColumnDefaults")
    for feature in sorted(allowed):
        allowed |= set(IMPLIED.get(feature, ()))
    extra = sorted(feature for feature in change.named if feature.removesuffix("-preview") not in allowed)
    problem = f"nothing of the table needs {', '.join(extra)}" if extra else None
    yield checked("protocol.features-needed", problem, change.where)


def used_features(schema: Struct, properties: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Yield the features that a table's metadata uses."""
    properties = list(properties)
    yield from _features_of_properties(properties)
    if any(key.startswith("delta.constraints.") for key, _ in properties):
        yield "checkConstraints"
    yield from _features_of_type(schema)


def _features_of_properties(properties: Iterable[tuple[str, str]]) -> Iterator[str]:
    for key, value in properties:
        if value.lower() == "true" and key in ACTIVE_BY_PROPERTY:
            yield ACTIVE_BY_PROPERTY[key]
        elif key == "delta.columnMapping.mode" and value.lower() != "none":
            yield "columnMapping"
        elif key == "delta.checkpointPolicy" and value.lower() == "v2":
            yield "v2Checkpoint"


def _features_of_type(data_type: DataType) -> Iterator[str]:
    match data_type:
        case Struct(fields=fields):
            for field in fields:
                metadata = field.metadata_json
                if not field.nullable or "delta.invariants" in metadata:
                    yield "invariants"
                for key, feature in (
                    ("delta.generationExpression", "generatedColumns"),
                    ("delta.identity.", "identityColumns"),
                    ("CURRENT_DEFAULT", "allowColumnDefaults"),
                    ("delta.typeChanges", "typeWidening"),
                ):
                    if key in metadata:
                        yield feature
                yield from _features_of_type(field.type)
        case Array(element=element):
            yield from _features_of_type(element)
        case Map(key=key, value=value):
            yield from _features_of_type(key)
            yield from _features_of_type(value)
        case _ if data_type == TIMESTAMP_NTZ:
            yield "timestampNtz"
        case _ if data_type == VARIANT:
            yield "variantType"


CHECK = Check(CheckName.PROTOCOL, JUDGES, check)
