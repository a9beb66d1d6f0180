"""Rules that need more of the past than the state before a commit: what dropped columns were called, and the files that
lie there since."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from delta_models.log import commit_timestamps, paths
from delta_models.log.actions import Metadata
from delta_models.log.commits import Commit
from delta_models.log.errors import CorruptLog, LogError
from delta_models.log.file_names import commit_name
from delta_models.log.parquet.data_files import physical_name
from delta_models.log.parquet.layout import file_layout
from delta_models.log.reader import LogReader
from delta_models.log.state import Snapshot
from delta_models.log.validity.protocol import fields_of, is_on
from delta_models.requirements.base import Verdict, of_many
from delta_models.schema import Field

TYPE_CHANGES = "delta.typeChanges"
_COLUMN_ID = "delta.columnMapping.id"
_MODE = "delta.columnMapping.mode"


def judge(reader: LogReader, before: Snapshot | None, after: Snapshot, commit: Commit) -> Iterator[Verdict]:
    """A commit that sets metadata on top of a state."""
    metadata = commit.metadata
    if before is None or metadata is None:
        return
    try:
        verdicts = [
            *_reused(reader, before.metadata, metadata, commit.version),
            *_forgotten_changes(reader, before.metadata, after, commit),
            *_enabled_too_early(reader, before.metadata, commit),
        ]
    except CorruptLog:
        return  # reported as a schema that cannot be read
    yield from verdicts


def _new_columns(old: Metadata, new: Metadata) -> list[tuple[int, str]]:
    """The ids and physical names that come new into a schema whose columns are mapped."""
    if any(metadata.configuration.get(_MODE, "none") == "none" for metadata in (old, new)):
        return []
    known = [*_mapped(old)]
    ids, names = {number for number, _ in known}, {name for _, name in known}
    return [pair for pair in _mapped(new) if pair[0] not in ids and pair[1] not in names]


def _lost_changes(old: Metadata, new: Metadata) -> list[tuple[Field, list[dict[str, Any]]]]:
    """The columns that are there still, each with what its history of types says no more."""
    known = {physical_name(field): field for field in old.schema}
    losing = []
    for field in new.schema:
        then = known.get(physical_name(field))
        said = then.metadata.get(TYPE_CHANGES) if then is not None else None
        now = field.metadata.get(TYPE_CHANGES)
        kept = now if isinstance(now, list) else []
        lost = [
            change
            for change in (said if isinstance(said, list) else [])
            if isinstance(change, dict) and change not in kept
        ]
        if lost:
            losing.append((field, lost))
    return losing


def _mapped(metadata: Metadata) -> Iterator[tuple[int, str]]:
    for _, field in fields_of(metadata.schema):
        number = field.metadata.get(_COLUMN_ID)
        if type(number) is int:
            yield number, physical_name(field)


def _reused(reader: LogReader, old: Metadata, new: Metadata, version: int) -> Iterator[Verdict]:
    """A verdict on each new column, and one on each earlier version that says otherwise of it."""
    fresh = _new_columns(old, new)
    other_names: set[tuple[int, str]] = set()
    other_ids: set[tuple[int, str]] = set()
    for earlier in sorted(kept for kept in reader.listing().commits if kept < version) if fresh else ():
        for metadata in reader.commit(earlier).metadatas:
            for number, name in _mapped(metadata):
                for other, physical in fresh:
                    if number == other and name != physical:
                        other_names.add((other, physical))
                        detail = f"column {other} is {physical!r}, it was {name!r} in version {earlier}"
                        yield "schema.column-ids-not-reused", detail
                    if name == physical and number != other:
                        other_ids.add((other, physical))
                        detail = f"{physical!r} is the column {other}, it was {number} in version {earlier}"
                        yield "schema.physical-names-not-reused", detail
    yield from of_many("schema.column-ids-not-reused", len(fresh) - len(other_names))
    yield from of_many("schema.physical-names-not-reused", len(fresh) - len(other_ids))


def _forgotten_changes(
    reader: LogReader, old: Metadata, after: Snapshot, commit: Commit
) -> Iterator[Verdict]:
    new = {add.key for add in commit.adds}
    for field, lost in _lost_changes(old, after.metadata):
        narrow = {change.get("fromType") for change in lost if "fieldPath" not in change}
        wrong = None
        for key, add in after.live.items():
            if key not in new and _type_in(reader, add.path, physical_name(field)) in narrow:
                wrong = f"column {field.name!r} has lost {lost}, and {add.path} holds the old type"
                break
        yield "schema.type-changes-kept", wrong


def _type_in(reader: LogReader, path: str, name: str) -> str | None:
    try:
        columns = file_layout(paths.resolve(reader.folder, path))
    except (LogError, ValueError):
        return None  # reported as a file that is not there or cannot be read
    return next((column.kind for column in columns if column.name == name), None)


def _enabled_too_early(reader: LogReader, old: Metadata, commit: Commit) -> Iterator[Verdict]:
    if (
        reader.copied
        or not is_on(commit.metadata or old, commit_timestamps.ENABLED)
        or is_on(old, commit_timestamps.ENABLED)
    ):
        return
    time = commit.info.in_commit_timestamp if commit.info is not None else None
    try:
        before = (reader.log / commit_name(commit.version - 1)).stat().st_mtime_ns // 1_000_000
    except OSError:
        return  # cleaned up, or reported as a gap
    if time is not None:
        wrong = None if time > before else f"enabled at {time}, the commit file before it is of {before}"
        yield "log.in-commit-timestamp-after-files", wrong
