"""The reasons why the oracle refuses a question: all that it can name, not only the first."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from contextlib import suppress

from conformance.error_names import error_name
from delta_models.log import (
    LogError,
    LogReader,
    MissingVersion,
    NoTable,
    Snapshot,
    UnsupportedFeature,
    validity,
)
from delta_models.log.reader import NEWEST_READER

_MAPPING_MODES = {"none", "name", "id"}
_RETENTION = re.compile(r"(?:interval\s+)?(\d+)\s+(second|minute|hour|day|week)s?", re.IGNORECASE)
_SECONDS = {"second": 1, "minute": 60, "hour": 3_600, "day": 86_400, "week": 604_800}


def state_problems(reader: LogReader, version: int | None) -> list[str]:
    """The reasons for which a reader may refuse the state of a version; empty if the state is valid."""
    try:
        state = reader.snapshot(version)
    except LogError as error:
        return list(dict.fromkeys(_of_error(reader, version, error)))
    return list(dict.fromkeys(_of_state(reader, state)))


def row_problems(reader: LogReader, state: Snapshot, error: LogError) -> list[str]:
    """The reasons why the rows of a state can't be read."""
    return list(dict.fromkeys([error_name(error), *_of_state(reader, state)]))


def _of_error(reader: LogReader, version: int | None, error: LogError) -> Iterator[str]:
    if isinstance(error, UnsupportedFeature):
        yield _unsupported(reader, version)
    if isinstance(error, NoTable):
        yield "NoTable"
        return
    if not isinstance(error, MissingVersion) or _asked_for_a_gap(reader, version):
        yield from _log_problems(reader)
    yield error_name(error)


def _asked_for_a_gap(reader: LogReader, version: int | None) -> bool:
    latest = reader.latest_version()
    return latest is not None and (version is None or 0 <= version <= latest)


def _unsupported(reader: LogReader, version: int | None) -> str:
    """The unsupported version or features of the protocol, read without the check for supported ones."""
    latest = reader.latest_version()
    target = latest if version is None else version
    if target is None:
        return "UnsupportedFeature"
    for start in reader.starting_points(target):
        with suppress(LogError):
            protocol = reader.replay_from(target, start).protocol
            return "protocol-version" if protocol.min_reader > NEWEST_READER else "protocol-features"
    return "UnsupportedFeature"


def _log_problems(reader: LogReader) -> Iterator[str]:
    """The violated rules of the folder, and of its commits up to the first gap."""
    listing = reader.listing()
    with suppress(LogError):
        yield from (
            folder_breach.requirement for folder_breach in validity.folder_breaches(reader, "reference")
        )
    versions = sorted(listing.commits)
    if versions and versions != list(range(versions[0], versions[-1] + 1)):
        yield "log.versions-contiguous"
    if versions and versions[0] > 0 and not any(checkpoint.complete for checkpoint in listing.checkpoints):
        yield "log.oldest-version-has-checkpoint"
    last = next((version for version in range(len(versions)) if version not in versions), len(versions)) - 1
    if last >= 0:
        with suppress(LogError):
            yield from (
                chain_breach.requirement
                for chain_breach in validity.chain_breaches(reader, 0, last, "reference")
            )


def _of_state(reader: LogReader, state: Snapshot) -> Iterator[str]:
    listing = reader.listing()
    if state.version not in listing.commits:
        yield "no-commits"
    if state.properties.get("delta.columnMapping.mode", "none") not in _MAPPING_MODES:
        yield "column-mapping-mode"
    try:
        if not len(state.schema):
            yield "no-columns"
    except LogError:
        yield "no-columns"
        yield from _log_problems(reader)
    with suppress(LogError):
        for version_breach in validity.version_breaches(reader, state.version, "reference"):
            yield version_breach.requirement
    if state.version != reader.latest_version() and _beyond_retention(reader, state):
        yield "beyond-retention"


def _beyond_retention(reader: LogReader, state: Snapshot) -> bool:
    text = state.properties.get("delta.deletedFileRetentionDuration")
    match = _RETENTION.fullmatch(text.strip()) if text else None
    retention = int(match[1]) * _SECONDS[match[2].lower()] if match else 7 * _SECONDS["day"]
    ended = reader.commit_times().get(state.version + 1)
    return ended is not None and time.time() - ended / 1000 > retention
