"""Rules of single table features: what each demands of protocol, metadata, actions and domains.

Row tracking and the compatibility with Iceberg have modules of their own.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from delta_models.log import commit_timestamps
from delta_models.log.actions import Add, Metadata, Protocol
from delta_models.log.commits import Commit
from delta_models.log.parquet.data_files import physical_name
from delta_models.log.state import Snapshot
from delta_models.log.validity import iceberg_compat, row_tracking
from delta_models.log.validity.protocol import is_on, supports
from delta_models.requirements.base import Violation
from delta_models.schema import VARIANT, DataType, Struct

_NEEDS = {
    "rowTracking": ("domainMetadata",),
    "clustering": ("domainMetadata",),
    "icebergCompatV1": ("columnMapping",),
    "icebergCompatV2": ("columnMapping",),
    "catalogManaged": ("inCommitTimestamp",),
    "variantShredding": ("variantType",),
}
CLUSTERING = "delta.clustering"
MANAGED = "catalogManaged"


def violations(before: Snapshot | None, commit: Commit) -> Iterator[Violation]:
    """Breaches of the rules of features by a commit."""
    protocol = commit.protocol or (before.protocol if before is not None else None)
    metadata = commit.metadata or (before.metadata if before is not None else None)
    if protocol is None or metadata is None:
        return
    for requirement, detail in (
        *_dependencies(commit),
        *_managed(commit, protocol, metadata),
        *_enablement(before, commit, metadata),
        *row_tracking.violations(before, commit, protocol, metadata),
        *_clustering(before, commit, protocol, metadata),
        *iceberg_compat.violations(before, commit, protocol, metadata),
    ):
        yield Violation(requirement, detail, commit.name)


def _dependencies(commit: Commit) -> Iterator[tuple[str, str]]:
    for protocol in commit.protocols:
        for feature, needed in _NEEDS.items():
            if feature not in (protocol.writer_features or ()):
                continue
            missing = [each for each in needed if not supports(protocol, each)]
            if missing:
                yield "log.feature-dependencies", f"{feature} without {', '.join(missing)}"


def _managed(commit: Commit, protocol: Protocol, metadata: Metadata) -> Iterator[tuple[str, str]]:
    """What a catalog that manages the table asks of each commit."""
    if not supports(protocol, MANAGED):
        return
    if not is_on(metadata, commit_timestamps.ENABLED):
        yield "catalog.in-commit-timestamps", f"{commit_timestamps.ENABLED} is not true"
    if commit.info is None or not isinstance(commit.info.values.get("txnId"), str):
        yield "catalog.transaction-id", "commitInfo has no txnId"


def _enablement(before: Snapshot | None, commit: Commit, metadata: Metadata) -> Iterator[tuple[str, str]]:
    if before is None or not is_on(metadata, commit_timestamps.ENABLED):
        return
    since = (commit_timestamps.ENABLEMENT_VERSION, commit_timestamps.ENABLEMENT_TIMESTAMP)
    if is_on(before.metadata, commit_timestamps.ENABLED):
        then, now = ([each.configuration.get(key) for key in since] for each in (before.metadata, metadata))
        if then[0] is not None and then != now:
            yield "log.in-commit-timestamp-enablement-stays", f"the properties said {then}, now {now}"
        return
    time = commit.info.in_commit_timestamp if commit.info is not None else None
    said = tuple(metadata.configuration.get(key) for key in since)
    if said != (str(commit.version), str(time)):
        detail = f"enabled in version {commit.version} at {time}, the properties say {said}"
        yield "log.in-commit-timestamp-enablement", detail


def _clustering(
    before: Snapshot | None, commit: Commit, protocol: Protocol, metadata: Metadata
) -> Iterator[tuple[str, str]]:
    if not supports(protocol, "clustering"):
        return
    domain = before.domains.get(CLUSTERING) if before is not None else None
    for entry in commit.domains:
        if entry.name == CLUSTERING:
            domain = None if entry.removed else entry
    if domain is None:
        return
    try:
        columns = json.loads(domain.configuration)["clusteringColumns"]
    except (ValueError, KeyError, TypeError):
        yield "log.clustering-domain", f"its configuration is {domain.configuration[:80]!r}"
        return
    unknown = [column for column in columns if not _is_column(metadata, column)]
    if unknown:
        yield "log.clustering-domain", f"{unknown} are no columns"
    if any(_is_column(metadata, column, VARIANT) for column in columns):
        yield "schema.variant-clusters-nothing", f"by {columns}"
    if columns and metadata.partition_columns:
        yield (
            "log.clustered-not-partitioned",
            f"by {columns}, and partitioned by {metadata.partition_columns}",
        )
    for add in commit.adds:
        missing = _without_statistics(add, columns)
        if missing:
            yield "stats.clustering-columns", f"{add.path} has no statistics of {missing}"
    if before is not None and any(entry.name == CLUSTERING and not entry.removed for entry in commit.domains):
        gone = {remove.key for remove in commit.removes}
        bare = [
            add.path
            for key, add in before.live.items()
            if key not in gone and _without_statistics(add, columns)
        ]
        if bare:
            detail = f"{len(bare)} files have no statistics of {columns}, such as {bare[0]}"
            yield "stats.new-clustering-columns", detail


def _without_statistics(add: Add, columns: list[object]) -> list[object]:
    try:
        stats = add.statistics or {}
    except ValueError:
        return []  # reported as statistics that are no JSON
    nulls = stats.get("nullCount") or {}
    return [column for column in columns if not _has(nulls, column)] if stats.get("numRecords") != 0 else []


def _has(nulls: object, column: object) -> bool:
    """Whether there is a count for a clustering column: a name, or a path of names with points or as a list."""
    found = nulls
    for name in _path(column):
        found = found.get(name) if isinstance(found, dict) else None
    return found is not None


def _is_column(metadata: Metadata, column: object, wanted: DataType | None = None) -> bool:
    """Whether a clustering column is one of the schema, by its physical name; and of a type, if one is wanted."""
    if wanted is None and any(physical_name(each) == column for each in metadata.schema):
        return True
    found: DataType = metadata.schema
    for name in _path(column):
        fields = found.fields if isinstance(found, Struct) else ()
        field = next((each for each in fields if physical_name(each) == name), None)
        if field is None:
            return False
        found = field.type
    return wanted is None or found == wanted


def _path(column: object) -> list[str]:
    return [str(each) for each in column] if isinstance(column, list) else str(column).split(".")
