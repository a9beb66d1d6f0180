"""Rules for row tracking that need the rows: ids are unique, and rows keep them, and their commit versions."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator

from delta_models.log.commits import Commit
from delta_models.log.errors import LogError
from delta_models.log.reader import LogReader, live_adds
from delta_models.log.row_ids import Tracked, is_tracked, tracked_rows
from delta_models.log.state import Snapshot
from delta_models.requirements.base import Violation
from delta_models.values import Key, Value, row_keyer


def violations(
    reader: LogReader, before: Snapshot | None, after: Snapshot, commit: Commit
) -> Iterator[Violation]:
    """Breaches by a commit that moves files, between the states before and after it."""
    if not is_tracked(after) or not (commit.adds or commit.removes):
        return
    try:
        now = _rows(reader, after)
        comparable = before is not None and is_tracked(before) and before.schema == after.schema
        then = _rows(reader, before) if before is not None and comparable else None
    except LogError:
        return  # reported as files that cannot be read
    for requirement, detail in _found(then, now, after, commit):
        yield Violation(requirement, detail, commit.name)


def is_update(commit: Commit, *names: str) -> bool:
    """Whether a commit calls itself an update, or one of these."""
    named = commit.info.values.get("operation") if commit.info else None
    return isinstance(named, str) and named.upper() in (names or ("UPDATE",))


def _rows(reader: LogReader, state: Snapshot) -> list[Tracked]:
    return [tracked_row for add in live_adds(state) for tracked_row in tracked_rows(reader, state, add)]


def _found(
    then: list[Tracked] | None, now: list[Tracked], state: Snapshot, commit: Commit
) -> Iterator[tuple[str, str]]:
    twice = [number for number, count in Counter(each.id for each in now).items() if count > 1]
    if twice:
        yield "rows.ids-unique", f"{len(twice)} row ids stand for several rows, such as {twice[0]}"
        return
    given = {each.fresh: each for each in now if each.fresh is not None}
    alike = [each for each in now if given.get(each.id, each) is not each]
    if alike:
        yield (
            "rows.ids-unlike-fresh",
            f"{alike[0].id} is the id of a row, and what its place gives another one",
        )
    if then is None:
        return
    if is_update(commit, "DELETE"):
        fresh = {each.id for each in now} - {each.id for each in then}
        if fresh:
            yield (
                "rows.copied-ids-stay",
                f"{len(fresh)} rows have new ids after a delete, such as {min(fresh, key=str)}",
            )
    if is_update(commit):
        gone = sorted({each.id for each in then} - {each.id for each in now}, key=str)
        if gone:
            yield "rows.updated-ids-stay", f"{len(gone)} of {len(then)} row ids are gone, such as {gone[0]}"
    if is_update(commit, "UPDATE", "MERGE"):
        yield from _changed(then, now, state, commit.version)
    if commit.adds and not commit.data_change:
        yield from _moved(then, now, state)


def _changed(
    then: list[Tracked], now: list[Tracked], state: Snapshot, version: int
) -> Iterator[tuple[str, str]]:
    """A row that is no more as it was has been written by this commit."""
    key = row_keyer(state.schema)
    known = {each.id: key(each.row) for each in then}
    for each in now:
        if each.id in known and each.version != version and key(each.row) != known[each.id]:
            detail = f"the row {each.id} is changed in version {version}, and says {each.version}"
            yield "rows.changed-rows-have-new-version", detail
            return


def _moved(then: list[Tracked], now: list[Tracked], state: Snapshot) -> Iterator[tuple[str, str]]:
    """A commit without a change of data: each row has the id and the version that it had."""
    key = row_keyer(state.schema)
    known: dict[Key, set[Value]] = defaultdict(set)
    for each in then:
        known[key(each.row)].add(each.id)
    lost = [each for each in now if each.id not in known[key(each.row)]]
    if lost:
        yield "rows.ids-stay", f"{len(lost)} rows have ids that they did not have, such as {lost[0].id}"
        return
    versions = {each.id: each.version for each in then}
    other = [each for each in now if versions[each.id] != each.version]
    if other:
        shown = (
            f"the row {other[0].id} was of version {versions[other[0].id]}, now it is of {other[0].version}"
        )
        yield "rows.commit-versions-stay", shown
