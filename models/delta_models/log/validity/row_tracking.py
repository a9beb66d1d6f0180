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
from delta_models.requirements.base import Verdict, of_many

ROW_TRACKING = "delta.rowTracking"
SUSPENDED = "delta.rowTrackingSuspended"
PRESERVED = "delta.rowTracking.preserved"


def judge(
    before: Snapshot | None, commit: Commit, protocol: Protocol, metadata: Metadata
) -> Iterator[Verdict]:
    """The rules of row tracking, of a commit."""
    enabled = is_on(metadata, ENABLED)
    if enabled and commit.metadata is not None:
        yield from _enablement(before, commit, protocol, metadata)
    if not supports(protocol, "rowTracking"):
        return
    yield from _removes(before, commit)
    if is_on(metadata, SUSPENDED):
        for add in commit.adds:
            if _earlier(before, add) is None:
                wrong = None if add.base_row_id is None else f"{add.path} begins at {add.base_row_id}"
                yield "tracking.suspended", wrong
        return
    if enabled and commit.adds and commit.data_change and not commit.removes:
        tags = commit.info.values.get("tags") if commit.info else None
        tag = tags.get(PRESERVED) if isinstance(tags, dict) else None
        is_preserved = str(tag).lower() == "true"
        wrong = None if is_preserved else f"the tag {PRESERVED} is {tag!r}, and no row was moved"
        yield "tracking.preserved-told", wrong
    yield from _fresh(before, commit)


def _enablement(
    before: Snapshot | None, commit: Commit, protocol: Protocol, metadata: Metadata
) -> Iterator[Verdict]:
    if not supports(protocol, "rowTracking"):
        yield "tracking.needs-feature", f"{ENABLED} without rowTracking"
        return
    yield "tracking.needs-feature", None
    suspended = is_on(metadata, SUSPENDED)
    yield "tracking.enabled-or-suspended", f"{ENABLED} and {SUSPENDED}" if suspended else None
    names = [metadata.configuration.get(key) for key in (ROW_ID_COLUMN, ROW_VERSION_COLUMN)]
    columns = {*metadata.schema.names, *map(physical_name, metadata.schema)}
    wrong = None
    if None in names or names[0] == names[1] or columns & set(names):
        wrong = f"the columns for ids and versions are {names}"
    yield "tracking.columns-named", wrong
    if before is None or is_on(before.metadata, ENABLED):
        return
    removed = {remove.key for remove in commit.removes}
    files = {key: add for key, add in before.live.items() if key not in removed}
    files |= {add.key: add for add in commit.adds}
    bare = [
        add.path
        for add in files.values()
        if add.base_row_id is None or add.default_row_commit_version is None
    ]
    wrong = f"enabled over {len(bare)} files without row ids, such as {bare[0]}" if bare else None
    yield from of_many("tracking.enabled-whole", len(files) - len(bare), wrong)


def _removes(before: Snapshot | None, commit: Commit) -> Iterator[Verdict]:
    for remove in commit.removes if before is not None else ():
        live = before.live.get(remove.key) if before is not None else None
        said = (remove.base_row_id, remove.default_row_commit_version)
        if live is None or live.base_row_id is None:
            continue
        known = (live.base_row_id, live.default_row_commit_version)
        wrong = None if said == known else f"{remove.path} had {known}, the remove says {said}"
        yield "tracking.removes-keep-ids", wrong


def _fresh(before: Snapshot | None, commit: Commit) -> Iterator[Verdict]:
    mark = _high_water_mark(before, None)
    after = _high_water_mark(before, commit)
    ranges: list[tuple[int, int, str]] = []
    for add in commit.adds:
        if add.base_row_id is None or add.default_row_commit_version is None:
            yield "log.row-tracking-fields", f"{add.path} has no baseRowId or no defaultRowCommitVersion"
            continue
        yield "log.row-tracking-fields", None
        count = records(add)
        last = add.base_row_id + max(count, 1) - 1
        ranges.append((add.base_row_id, last, add.path))
        covered = after is not None and last <= after
        wrong = None if covered else f"{add.path} has ids up to {last}, the mark is {after}"
        yield "log.row-id-high-water-mark", wrong
        earlier = _earlier(before, add)
        if earlier is not None:
            if earlier != (None, None):
                stays = earlier == (add.base_row_id, add.default_row_commit_version)
                yield "log.row-ids-stay", None if stays else f"{add.path} had {earlier} before"
        elif add.default_row_commit_version == commit.version:
            yield "tracking.fresh-commit-version", None
            wrong = None
            if mark is not None and add.base_row_id <= mark:
                wrong = f"{add.path} begins at {add.base_row_id}, up to {mark} are taken"
            yield "log.row-ids-fresh", wrong
        elif before is not None and (mark is None or add.base_row_id > mark):
            detail = f"{add.path} is new in {commit.version} and says {add.default_row_commit_version}"
            yield "tracking.fresh-commit-version", detail
    ranges.sort()
    for (_, end, one), (begin, _, other) in pairwise(ranges):
        if begin <= end:
            yield "log.row-ids-fresh", f"{one} and {other} share row ids"


def _high_water_mark(before: Snapshot | None, commit: Commit | None) -> int | None:
    domain = before.domains.get(ROW_TRACKING) if before is not None else None
    for action in commit.domains if commit is not None else ():
        if action.name == ROW_TRACKING:
            domain = action
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
