"""Rules of row tracking that the log alone shows: ids and commit versions of files, the mark, and its switches."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import pairwise

from delta_models.log.actions import Add, Metadata, Protocol
from delta_models.log.commits import Commit
from delta_models.log.parquet.data_files import physical_name
from delta_models.log.row_ids import ENABLED, ROW_ID_COLUMN, ROW_VERSION_COLUMN
from delta_models.log.state import Snapshot
from delta_models.log.validity.protocol import is_on, supports

ROW_TRACKING = "delta.rowTracking"
SUSPENDED = "delta.rowTrackingSuspended"
PRESERVED = "delta.rowTracking.preserved"


def violations(
    before: Snapshot | None, commit: Commit, protocol: Protocol, metadata: Metadata
) -> Iterator[tuple[str, str]]:
    """What a commit does wrong: (requirement, detail)."""
    enabled = is_on(metadata, ENABLED)
    if enabled and commit.metadata is not None:
        yield from _enablement(before, commit, protocol, metadata)
    if not supports(protocol, "rowTracking"):
        return
    yield from _removes(before, commit)
    if is_on(metadata, SUSPENDED):
        for add in commit.adds:
            if add.base_row_id is not None and _earlier(before, add) is None:
                yield "tracking.suspended", f"{add.path} begins at {add.base_row_id}"
        return
    if enabled and commit.adds and commit.data_change and not commit.removes:
        tags = commit.info.values.get("tags") if commit.info else None
        told = tags.get(PRESERVED) if isinstance(tags, dict) else None
        if str(told).lower() != "true":
            yield "tracking.preserved-told", f"the tag {PRESERVED} is {told!r}, and no row was moved"
    yield from _fresh(before, commit)


def _enablement(
    before: Snapshot | None, commit: Commit, protocol: Protocol, metadata: Metadata
) -> Iterator[tuple[str, str]]:
    if not supports(protocol, "rowTracking"):
        yield "tracking.needs-feature", f"{ENABLED} without rowTracking"
        return
    if is_on(metadata, SUSPENDED):
        yield "tracking.enabled-or-suspended", f"{ENABLED} and {SUSPENDED}"
    names = [metadata.configuration.get(key) for key in (ROW_ID_COLUMN, ROW_VERSION_COLUMN)]
    columns = {*metadata.schema.names, *map(physical_name, metadata.schema)}
    if None in names or names[0] == names[1] or columns & set(names):
        yield "tracking.columns-named", f"the columns for ids and versions are {names}"
    if before is None or is_on(before.metadata, ENABLED):
        return
    removed = {remove.key for remove in commit.removes}
    files = {key: add for key, add in before.live.items() if key not in removed}
    files |= {file.key: file for file in commit.adds}
    bare = [
        file.path
        for file in files.values()
        if file.base_row_id is None or file.default_row_commit_version is None
    ]
    if bare:
        yield "tracking.enabled-whole", f"enabled over {len(bare)} files without row ids, such as {bare[0]}"


def _removes(before: Snapshot | None, commit: Commit) -> Iterator[tuple[str, str]]:
    for remove in commit.removes if before is not None else ():
        live = before.live.get(remove.key) if before is not None else None
        said = (remove.base_row_id, remove.default_row_commit_version)
        if live is None or live.base_row_id is None:
            continue
        if said != (live.base_row_id, live.default_row_commit_version):
            detail = f"{remove.path} had {(live.base_row_id, live.default_row_commit_version)}, the remove says {said}"
            yield "tracking.removes-keep-ids", detail


def _fresh(before: Snapshot | None, commit: Commit) -> Iterator[tuple[str, str]]:
    mark = _high_water_mark(before, None)
    after = _high_water_mark(before, commit)
    ranges: list[tuple[int, int, str]] = []
    for add in commit.adds:
        if add.base_row_id is None or add.default_row_commit_version is None:
            detail = f"{add.path} has no baseRowId or no defaultRowCommitVersion"
            yield "log.row-tracking-fields", detail
            continue
        count = records(add)
        last = add.base_row_id + max(count, 1) - 1
        ranges.append((add.base_row_id, last, add.path))
        if after is None or last > after:
            yield "log.row-id-high-water-mark", f"{add.path} has ids up to {last}, the mark is {after}"
        earlier = _earlier(before, add)
        if earlier is not None:
            if earlier not in {(None, None), (add.base_row_id, add.default_row_commit_version)}:
                yield "log.row-ids-stay", f"{add.path} had {earlier} before"
        elif add.default_row_commit_version == commit.version:
            if mark is not None and add.base_row_id <= mark:
                yield "log.row-ids-fresh", f"{add.path} begins at {add.base_row_id}, up to {mark} are taken"
        elif before is not None and (mark is None or add.base_row_id > mark):
            detail = f"{add.path} is new in {commit.version} and says {add.default_row_commit_version}"
            yield "tracking.fresh-commit-version", detail
    ranges.sort()
    for (_, end, one), (begin, _, other) in pairwise(ranges):
        if begin <= end:
            yield "log.row-ids-fresh", f"{one} and {other} share row ids"


def _high_water_mark(before: Snapshot | None, commit: Commit | None) -> int | None:
    domain = before.domains.get(ROW_TRACKING) if before is not None else None
    for entry in commit.domains if commit is not None else ():
        if entry.name == ROW_TRACKING:
            domain = entry
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


def records(add: Add, missing: int = 0) -> int:
    """The number of rows that the statistics of a file give."""
    try:
        count = (add.statistics or {}).get("numRecords")
    except ValueError:
        return missing
    return count if type(count) is int else missing
