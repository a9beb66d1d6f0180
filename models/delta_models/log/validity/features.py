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
from delta_models.requirements.base import Verdict, as_one, of_many
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


def judge(before: Snapshot | None, commit: Commit) -> Iterator[Verdict]:
    """The rules of features, of a commit."""
    protocol = commit.protocol or (before.protocol if before is not None else None)
    metadata = commit.metadata or (before.metadata if before is not None else None)
    if protocol is None or metadata is None:
        return
    yield from _dependencies(commit)
    yield from _managed(commit, protocol, metadata)
    yield from _enablement(before, commit, metadata)
    yield from row_tracking.judge(before, commit, protocol, metadata)
    yield from _clustering(before, commit, protocol, metadata)
    yield from iceberg_compat.judge(before, commit, protocol, metadata)


def _dependencies(commit: Commit) -> Iterator[Verdict]:
    for protocol in commit.protocols:
        missing = {
            feature: ", ".join(name for name in needed if not supports(protocol, name))
            for feature, needed in _NEEDS.items()
            if feature in (protocol.writer_features or ())
        }
        wrong = (f"{feature} without {names}" for feature, names in missing.items() if names)
        yield from as_one("log.feature-dependencies", wrong)


def _managed(commit: Commit, protocol: Protocol, metadata: Metadata) -> Iterator[Verdict]:
    """What a catalog that manages the table asks of each commit."""
    if not supports(protocol, MANAGED):
        return
    enabled = is_on(metadata, commit_timestamps.ENABLED)
    yield "catalog.in-commit-timestamps", None if enabled else f"{commit_timestamps.ENABLED} is not true"
    has_id = commit.info is not None and isinstance(commit.info.values.get("txnId"), str)
    yield "catalog.transaction-id", None if has_id else "commitInfo has no txnId"


def _enablement(before: Snapshot | None, commit: Commit, metadata: Metadata) -> Iterator[Verdict]:
    if before is None or not is_on(metadata, commit_timestamps.ENABLED):
        return
    since = (commit_timestamps.ENABLEMENT_VERSION, commit_timestamps.ENABLEMENT_TIMESTAMP)
    if is_on(before.metadata, commit_timestamps.ENABLED):
        then, now = ([said.configuration.get(key) for key in since] for said in (before.metadata, metadata))
        if commit.metadata is not None and then[0] is not None:
            wrong = None if then == now else f"the properties said {then}, now {now}"
            yield "log.in-commit-timestamp-enablement-stays", wrong
        return
    time = commit.info.in_commit_timestamp if commit.info is not None else None
    said = tuple(metadata.configuration.get(key) for key in since)
    wrong = None
    if said != (str(commit.version), str(time)):
        wrong = f"enabled in version {commit.version} at {time}, the properties say {said}"
    yield "log.in-commit-timestamp-enablement", wrong


def _clustering(
    before: Snapshot | None, commit: Commit, protocol: Protocol, metadata: Metadata
) -> Iterator[Verdict]:
    if not supports(protocol, "clustering"):
        return
    domain = before.domains.get(CLUSTERING) if before is not None else None
    for action in commit.domains:
        if action.name == CLUSTERING:
            domain = None if action.removed else action
    if domain is None:
        return
    try:
        columns = json.loads(domain.configuration)["clusteringColumns"]
    except (ValueError, KeyError, TypeError):
        yield "log.clustering-domain", f"its configuration is {domain.configuration[:80]!r}"
        return
    unknown = [column for column in columns if not _is_column(metadata, column)]
    yield "log.clustering-domain", f"{unknown} are no columns" if unknown else None
    variants = any(_is_column(metadata, column, VARIANT) for column in columns)
    yield "schema.variant-clusters-nothing", f"by {columns}" if variants else None
    if columns:
        partitions = metadata.partition_columns
        wrong = f"by {columns}, and partitioned by {partitions}" if partitions else None
        yield "log.clustered-not-partitioned", wrong
    for add in commit.adds:
        missing = _without_statistics(add, columns)
        wrong = f"{add.path} has no statistics of {missing}" if missing else None
        yield "stats.clustering-columns", wrong
    if before is not None and any(
        domain.name == CLUSTERING and not domain.removed for domain in commit.domains
    ):
        gone = {remove.key for remove in commit.removes}
        staying = [add for key, add in before.live.items() if key not in gone]
        bare = [add.path for add in staying if _without_statistics(add, columns)]
        wrong = f"{len(bare)} files have no statistics of {columns}, such as {bare[0]}" if bare else None
        yield from of_many("stats.new-clustering-columns", len(staying) - len(bare), wrong)


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
    if wanted is None and any(physical_name(field) == column for field in metadata.schema):
        return True
    found: DataType = metadata.schema
    for name in _path(column):
        fields = found.fields if isinstance(found, Struct) else ()
        field = next((field for field in fields if physical_name(field) == name), None)
        if field is None:
            return False
        found = field.type
    return wanted is None or found == wanted


def _path(column: object) -> list[str]:
    return [str(name) for name in column] if isinstance(column, list) else str(column).split(".")
