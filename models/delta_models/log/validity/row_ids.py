"""Rules for row tracking that need the rows: ids are unique, and rows keep them, and their commit versions."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator

from delta_models.log.commits import Commit
from delta_models.log.errors import LogError
from delta_models.log.reader import LogReader, live_adds
from delta_models.log.row_ids import Tracked, is_tracked, tracked_rows
from delta_models.log.state import Snapshot
from delta_models.requirements.base import Verdict
from delta_models.values import Key, Value, row_keyer


def judge(reader: LogReader, before: Snapshot | None, after: Snapshot, commit: Commit) -> Iterator[Verdict]:
    """A commit that moves files, between the states before and after it."""
    if not is_tracked(after) or not (commit.adds or commit.removes):
        return
    try:
        now = _rows(reader, after)
        comparable = before is not None and is_tracked(before) and before.schema == after.schema
        then = _rows(reader, before) if before is not None and comparable else None
    except LogError:
        return  # reported as files that cannot be read
    yield from _rules(then, now, after, commit)


def _is_update(commit: Commit, *names: str) -> bool:
    """Whether a commit calls itself an update, or one of these."""
    named = commit.info.values.get("operation") if commit.info else None
    return isinstance(named, str) and named.upper() in (names or ("UPDATE",))


def _rows(reader: LogReader, state: Snapshot) -> list[Tracked]:
    return [row for add in live_adds(state) for row in tracked_rows(reader, state, add)]


def _rules(
    then: list[Tracked] | None, now: list[Tracked], state: Snapshot, commit: Commit
) -> Iterator[Verdict]:
    twice = [number for number, count in Counter(row.id for row in now).items() if count > 1]
    if twice:
        yield "rows.ids-unique", f"{len(twice)} row ids stand for several rows, such as {twice[0]}"
        return
    yield "rows.ids-unique", None
    given = {row.fresh: row for row in now if row.fresh is not None}
    alike = [row for row in now if given.get(row.id, row) is not row]
    wrong = None
    if alike:
        wrong = f"{alike[0].id} is the id of a row, and what its place gives another one"
    yield "rows.ids-unlike-fresh", wrong
    if then is None:
        return
    if _is_update(commit, "DELETE"):
        fresh = {row.id for row in now} - {row.id for row in then}
        wrong = None
        if fresh:
            wrong = f"{len(fresh)} rows have new ids after a delete, such as {min(fresh, key=str)}"
        yield "rows.copied-ids-stay", wrong
    if _is_update(commit):
        gone = sorted({row.id for row in then} - {row.id for row in now}, key=str)
        wrong = f"{len(gone)} of {len(then)} row ids are gone, such as {gone[0]}" if gone else None
        yield "rows.updated-ids-stay", wrong
    if _is_update(commit, "UPDATE", "MERGE"):
        yield "rows.changed-rows-have-new-version", _changed(then, now, state, commit.version)
    if commit.adds and not commit.data_change:
        yield from _moved(then, now, state)


def _changed(then: list[Tracked], now: list[Tracked], state: Snapshot, version: int) -> str | None:
    """A row that is no more as it was, and does not say that this commit has written it."""
    key = row_keyer(state.schema)
    known = {row.id: key(row.row) for row in then}
    for row in now:
        if row.id in known and row.version != version and key(row.row) != known[row.id]:
            return f"the row {row.id} is changed in version {version}, and says {row.version}"
    return None


def _moved(then: list[Tracked], now: list[Tracked], state: Snapshot) -> Iterator[Verdict]:
    """A commit without a change of data: each row has the id and the version that it had."""
    key = row_keyer(state.schema)
    known: dict[Key, set[Value]] = defaultdict(set)
    for row in then:
        known[key(row.row)].add(row.id)
    lost = [row for row in now if row.id not in known[key(row.row)]]
    if lost:
        yield "rows.ids-stay", f"{len(lost)} rows have ids that they did not have, such as {lost[0].id}"
        return
    yield "rows.ids-stay", None
    versions = {row.id: row.version for row in then}
    other = [row for row in now if versions[row.id] != row.version]
    wrong = None
    if other:
        was = versions[other[0].id]
        wrong = f"the row {other[0].id} was of version {was}, now it is of {other[0].version}"
    yield "rows.commit-versions-stay", wrong
