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
from delta_models.requirements.base import Violation
from delta_models.schema import Field

TYPE_CHANGES = "delta.typeChanges"
_COLUMN_ID = "delta.columnMapping.id"
_MODE = "delta.columnMapping.mode"

Found = Iterator[tuple[str, str]]


def violations(
    reader: LogReader, before: Snapshot | None, after: Snapshot, commit: Commit
) -> Iterator[Violation]:
    """Breaches by a commit that sets metadata on top of a state."""
    metadata = commit.metadata
    if before is None or metadata is None:
        return
    try:
        found = [
            *_reused(reader, before.metadata, metadata, commit.version),
            *_forgotten_changes(reader, before.metadata, after, commit),
            *_enabled_too_early(reader, before.metadata, commit),
        ]
    except CorruptLog:
        return  # reported as a schema that cannot be read
    for requirement, detail in found:
        yield Violation(requirement, detail, commit.name)


def new_columns(old: Metadata, new: Metadata) -> list[tuple[int, str]]:
    """The ids and physical names that come new into a schema whose columns are mapped."""
    if any(each.configuration.get(_MODE, "none") == "none" for each in (old, new)):
        return []
    known = [*_mapped(old)]
    ids, names = {number for number, _ in known}, {name for _, name in known}
    return [each for each in _mapped(new) if each[0] not in ids and each[1] not in names]


def lost_changes(old: Metadata, new: Metadata) -> list[tuple[Field, list[dict[str, Any]]]]:
    """The columns that are there still, each with what its history of types says no more."""
    known = {physical_name(field): field for field in old.schema}
    found = []
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
            found.append((field, lost))
    return found


def _mapped(metadata: Metadata) -> Iterator[tuple[int, str]]:
    for _, each in fields_of(metadata.schema):
        number = each.metadata.get(_COLUMN_ID)
        if type(number) is int:
            yield number, physical_name(each)


def _reused(reader: LogReader, old: Metadata, new: Metadata, version: int) -> Found:
    fresh = new_columns(old, new)
    if not fresh:
        return
    for earlier in sorted(commit for commit in reader.listing().commits if commit < version):
        for metadata in reader.commit(earlier).metadatas:
            for number, name in _mapped(metadata):
                for other, physical in fresh:
                    if number == other and name != physical:
                        detail = f"column {other} is {physical!r}, it was {name!r} in version {earlier}"
                        yield "schema.column-ids-not-reused", detail
                    if name == physical and number != other:
                        detail = f"{physical!r} is the column {other}, it was {number} in version {earlier}"
                        yield "schema.physical-names-not-reused", detail


def _forgotten_changes(reader: LogReader, old: Metadata, after: Snapshot, commit: Commit) -> Found:
    for field, lost in lost_changes(old, after.metadata):
        narrow = {each.get("fromType") for each in lost if "fieldPath" not in each}
        new = {file.key for file in commit.adds}
        for key, add in after.live.items():
            if key not in new and _type_in(reader, add.path, physical_name(field)) in narrow:
                detail = f"column {field.name!r} has lost {lost}, and {add.path} holds the old type"
                yield "schema.type-changes-kept", detail
                break


def _type_in(reader: LogReader, path: str, name: str) -> str | None:
    try:
        columns = file_layout(paths.resolve(reader.folder, path))
    except (LogError, ValueError):
        return None  # reported as a file that is not there or cannot be read
    return next((column.kind for column in columns if column.name == name), None)


def _enabled_too_early(reader: LogReader, old: Metadata, commit: Commit) -> Found:
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
    if time is not None and time <= before:
        detail = f"enabled at {time}, the commit file before it is of {before}"
        yield "log.in-commit-timestamp-after-files", detail
