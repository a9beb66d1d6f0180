"""Rules of single table features: what each demands of protocol, metadata, actions and domains."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import pairwise

from delta_models.log import clock
from delta_models.log.actions import Add, Metadata, Protocol
from delta_models.log.commits import Commit
from delta_models.log.state import Snapshot
from delta_models.log.validity.protocol import supports
from delta_models.requirements.base import Breach

_NEEDS = {
    "rowTracking": ("domainMetadata",),
    "clustering": ("domainMetadata",),
    "icebergCompatV1": ("columnMapping",),
    "icebergCompatV2": ("columnMapping",),
    "catalogManaged": ("inCommitTimestamp",),
    "variantShredding": ("variantType",),
}
ROW_TRACKING = "delta.rowTracking"
SUSPENDED = "delta.rowTrackingSuspended"
CLUSTERING = "delta.clustering"


def breaches(before: Snapshot | None, commit: Commit) -> Iterator[Breach]:
    """Breaches of the rules of features by a commit."""
    protocol = commit.protocol or (before.protocol if before is not None else None)
    metadata = commit.metadata or (before.metadata if before is not None else None)
    if protocol is None or metadata is None:
        return
    for requirement, detail in (
        *_dependencies(commit),
        *_enablement(before, commit, metadata),
        *_row_tracking(before, commit, protocol, metadata),
        *_clustering(before, commit, protocol, metadata),
        *_iceberg(commit, protocol, metadata),
    ):
        yield Breach(requirement, detail, commit.name)


def _dependencies(commit: Commit) -> Iterator[tuple[str, str]]:
    for protocol in commit.protocols:
        for feature, needed in _NEEDS.items():
            if feature not in (protocol.writer_features or ()):
                continue
            missing = [each for each in needed if not supports(protocol, each)]
            if missing:
                yield "log.feature-dependencies", f"{feature} without {', '.join(missing)}"


def _enablement(before: Snapshot | None, commit: Commit, metadata: Metadata) -> Iterator[tuple[str, str]]:
    if before is None or not _is_on(metadata, clock.ENABLED) or _is_on(before.metadata, clock.ENABLED):
        return
    time = commit.info.in_commit_timestamp if commit.info is not None else None
    said = tuple(
        metadata.configuration.get(key) for key in (clock.ENABLEMENT_VERSION, clock.ENABLEMENT_TIMESTAMP)
    )
    if said != (str(commit.version), str(time)):
        detail = f"enabled in version {commit.version} at {time}, the properties say {said}"
        yield "log.in-commit-timestamp-enablement", detail


def _row_tracking(
    before: Snapshot | None, commit: Commit, protocol: Protocol, metadata: Metadata
) -> Iterator[tuple[str, str]]:
    if not supports(protocol, "rowTracking") or _is_on(metadata, SUSPENDED):
        return
    mark = _high_water_mark(before, None)
    after = _high_water_mark(before, commit)
    ranges: list[tuple[int, int, str]] = []
    for add in commit.adds:
        if add.base_row_id is None or add.default_row_commit_version is None:
            detail = f"{add.path} has no baseRowId or no defaultRowCommitVersion"
            yield "log.row-tracking-fields", detail
            continue
        count = _records(add)
        last = add.base_row_id + max(count, 1) - 1
        ranges.append((add.base_row_id, last, add.path))
        if after is None or last > after:
            yield "log.row-id-high-water-mark", f"{add.path} has ids up to {last}, the mark is {after}"
        earlier = _earlier(before, add)
        if earlier is not None:
            if earlier not in {(None, None), (add.base_row_id, add.default_row_commit_version)}:
                yield "log.row-ids-stay", f"{add.path} had {earlier} before"
        elif (
            add.default_row_commit_version == commit.version and mark is not None and add.base_row_id <= mark
        ):
            yield "log.row-ids-fresh", f"{add.path} begins at {add.base_row_id}, up to {mark} are taken"
    ranges.sort()
    for (_, end, one), (begin, _, other) in pairwise(ranges):
        if begin <= end:
            yield "log.row-ids-fresh", f"{one} and {other} share row ids"


def _high_water_mark(before: Snapshot | None, commit: Commit | None) -> int | None:
    domain = before.domains.get(ROW_TRACKING) if before is not None else None
    for each in commit.domains if commit is not None else ():
        if each.name == ROW_TRACKING:
            domain = each
    if domain is None or domain.removed:
        return None
    try:
        mark = json.loads(domain.configuration).get("rowIdHighWaterMark")
    except (ValueError, AttributeError):
        return None
    return mark if type(mark) is int else None


def _earlier(before: Snapshot | None, add: Add) -> tuple[int | None, int | None] | None:
    """The row ids and commit version under which a path is or was in the table, as far as the state knows."""
    if before is None:
        return None
    for files in (before.live, before.tombstones):
        for vector in {add.key[1], None}:
            found = files.get((add.path, vector))
            if found is not None:
                return found.base_row_id, found.default_row_commit_version
    return None


def _clustering(
    before: Snapshot | None, commit: Commit, protocol: Protocol, metadata: Metadata
) -> Iterator[tuple[str, str]]:
    if not supports(protocol, "clustering"):
        return
    domain = before.domains.get(CLUSTERING) if before is not None else None
    for each in commit.domains:
        if each.name == CLUSTERING:
            domain = None if each.removed else each
    if domain is None:
        return
    try:
        columns = json.loads(domain.configuration)["clusteringColumns"]
    except (ValueError, KeyError, TypeError):
        yield "log.clustering-domain", f"its configuration is {domain.configuration[:80]!r}"
        return
    if columns and metadata.partition_columns:
        yield (
            "log.clustered-not-partitioned",
            f"by {columns}, and partitioned by {metadata.partition_columns}",
        )
    for add in commit.adds:
        try:
            stats = add.statistics or {}
        except ValueError:
            continue  # reported as statistics that are no JSON
        nulls = stats.get("nullCount") or {}
        missing = [column for column in columns if not _has(nulls, column)]
        if missing and stats.get("numRecords") != 0:
            yield "stats.clustering-columns", f"{add.path} has no statistics of {missing}"


def _has(nulls: object, column: object) -> bool:
    """Whether there is a count for a clustering column: a name, or a path of names with points or as a list."""
    path = column if isinstance(column, list) else str(column).split(".")
    found = nulls
    for name in path:
        found = found.get(name) if isinstance(found, dict) else None
    return found is not None


def _iceberg(commit: Commit, protocol: Protocol, metadata: Metadata) -> Iterator[tuple[str, str]]:
    for version in ("V1", "V2"):
        if not supports(protocol, f"icebergCompat{version}") or not _is_on(
            metadata, f"delta.enableIcebergCompat{version}"
        ):
            continue
        if metadata.configuration.get("delta.columnMapping.mode", "none") not in {"name", "id"}:
            yield "log.iceberg-compatible", f"icebergCompat{version} without column mapping"
        for add in commit.adds:
            if add.deletion_vector is not None:
                yield "log.iceberg-compatible", f"{add.path} has a deletion vector"
            if _records(add, -1) < 0:
                yield "log.iceberg-compatible", f"{add.path} has no numRecords"


def _records(add: Add, missing: int = 0) -> int:
    try:
        count = (add.statistics or {}).get("numRecords")
    except ValueError:
        return missing
    return count if type(count) is int else missing


def _is_on(metadata: Metadata, name: str) -> bool:
    return metadata.configuration.get(name, "false").lower() == "true"
