"""Are the answers of queries about a table true: its change feed, the history of its versions, its details?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from conformance.checks.formatting import difference
from conformance.checks.metrics import operation_metrics, plain_name
from conformance.checks.names import CheckName
from conformance.checks.outcomes import describe
from conformance.checks.recorder import Check, CheckRecorder, judged_by
from conformance.observations.observation import Observation, ReadObservation
from conformance.observations.version_resolution import resolve_states, version_of
from delta_models.log import Commit, LogError, Snapshot
from delta_models.log.changes import COMMIT_TIMESTAMP, COMMIT_VERSION, NoChangeData, changes
from delta_models.log.column_mapping import mapping_mode
from delta_models.log.commit_timestamps import ENABLED, commit_times
from delta_models.log.reader import live_adds
from delta_models.log.validity.protocol import is_on
from delta_models.operations import AtVersion, Detail, History, ReadChanges, When
from delta_models.outcomes import Rejected
from delta_models.requirements import Checked, checked
from delta_models.schema import Struct
from delta_models.values import Rows
from delta_models.wire_names import text_of

JUDGES = judged_by(CheckName.INTROSPECTION)
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
SHOWN = 3


def check(observation: Observation, _recorder: CheckRecorder) -> Iterator[Checked]:
    """Judge the answers to queries about the table in this step."""
    if observation.log_error is not None:
        return
    for read_observation in observation.looks:
        match read_observation.operation:
            case ReadChanges():
                yield from _check_changes(observation, read_observation, read_observation.operation)
            case History():
                yield from _check_history(observation, read_observation)
            case Detail(at=at):
                yield from _check_detail(observation, read_observation, at)


# The change feed


def _check_changes(
    observation: Observation, read_observation: ReadObservation, read: ReadChanges
) -> Iterator[Checked]:
    expected = read_observation.changes
    where = f"after step {observation.step}: {text_of(resolve_states(read, observation.versions, observation.reader))}"
    if expected is None:
        rule = _rule_across_schemas(observation, read)
        if (
            rule is not None
            and read_observation.answer is not None
            and (recorded := _recorded_changes(observation, read)) is not None
        ):
            yield checked(rule, difference(recorded, read_observation.answer), where)
        return  # the engine may answer otherwise across a change of the schema, or refuse
    if expected.steps is None:
        problem = (
            None
            if read_observation.refused is not None
            else "answered, although some of these versions were not recorded"
        )
        yield checked("changes.refused-where-not-recorded", problem, where)
        return
    if read_observation.refused is not None:
        allowed = (
            isinstance(read_observation.refused, Rejected)
            and read_observation.refused.kind in expected.refusals
        )
        if not allowed:
            yield checked("changes.told", describe(read_observation.refused), where)
        return
    yield checked("changes.told", None)
    recorded = _recorded_changes(observation, read)
    if (
        recorded is None
        or observation.after is None
        or recorded.schema.fields[:-2] != observation.after.schema.fields
    ):
        return  # the protocol does not say which schema changes before a change of the schema have
    yield checked("changes.columns", read_observation.malformed, where)
    if read_observation.malformed is not None or read_observation.answer is None:
        return
    yield checked("changes.rows", difference(recorded, read_observation.answer), where)
    yield from _check_commit_times(observation, read_observation, where)


def _check_commit_times(
    observation: Observation, read_observation: ReadObservation, where: str
) -> Iterator[Checked]:
    """Judge the commit times that a change feed gives for its versions."""
    columns = read_observation.told or {}
    versions, timestamps = columns.get(COMMIT_VERSION.name, ()), columns.get(COMMIT_TIMESTAMP.name, ())
    pairs = set(zip(versions, timestamps, strict=True))
    if not pairs:
        return
    times = commit_times(observation.reader)
    differences = [
        f"version {version} of {timestamp}, its commit is of {times[version] * 1000}"
        for version, timestamp in sorted(pairs, key=repr)
        if version in times and timestamp != times[version] * 1000
    ]
    yield checked("changes.commit-timestamps", "; ".join(differences[:SHOWN]) or None, where)


def _rule_across_schemas(observation: Observation, read: ReadChanges) -> str | None:
    """Return the rule for changes across a change of the schema, in the newest version's columns; None if none."""
    resolved = resolve_states(read, observation.versions, observation.reader)
    if (
        observation.after is None
        or not isinstance(resolved, ReadChanges)
        or not isinstance(resolved.first, AtVersion)
    ):
        return None
    if isinstance(resolved.last, AtVersion) and resolved.last.version != observation.after.version:
        return None
    try:
        first = observation.reader.snapshot(resolved.first.version).schema
        newest = observation.after.schema
        if newest.fields[: len(first)] == first.fields and len(newest) > len(first):
            return "changes.across-new-columns"
        return "changes.across-other-columns" if _columns_stay(observation, resolved.first.version) else None
    except LogError:
        return None


def _columns_stay(observation: Observation, first: int) -> bool:
    """Return whether columns stayed the same ones since a version: by their physical names, or by their names."""
    if observation.after is None:
        return False
    snapshots = [
        observation.reader.snapshot(version) for version in range(first, observation.after.version + 1)
    ]
    if all(mapping_mode(snapshot) != "none" for snapshot in snapshots):
        return True
    return all(set(snapshot.schema.names) == set(observation.after.schema.names) for snapshot in snapshots)


def _recorded_changes(observation: Observation, read: ReadChanges) -> Rows | None:
    """Return the changes as our reader reads them from the log; None if the log has none to read."""
    resolved = resolve_states(read, observation.versions, observation.reader)
    if not isinstance(resolved, ReadChanges) or not isinstance(resolved.first, AtVersion):
        return None
    last = resolved.last.version if isinstance(resolved.last, AtVersion) else None
    try:
        feed = changes(observation.reader, resolved.first.version, last)
    except (NoChangeData, LogError):
        return None
    schema = Struct(feed.schema.fields[:-1])
    return Rows(schema, tuple(row[:-1] for row in feed.rows))


# History and details


def _check_history(observation: Observation, read_observation: ReadObservation) -> Iterator[Checked]:
    if read_observation.told is None:
        if read_observation.refused is not None:
            yield checked("history.told", describe(read_observation.refused))
        return
    yield checked("history.told", None)
    in_log = sorted(observation.reader.listing().commits, reverse=True)
    reported = list(read_observation.told.get("version", ()))
    problem = None if reported == in_log else f"told {_few(reported)}, the log holds {_few(in_log)}"
    yield checked("history.versions", problem)
    if observation.after is not None and is_on(observation.after.metadata, ENABLED):
        times = commit_times(observation.reader)
        timestamps = _column(read_observation, "timestamp")
        differences = [
            f"version {version} of {timestamp}, its commit is of {times[version]}"
            for version, timestamp in zip(reported, timestamps, strict=True)
            if timestamp is not None and version in times and _millis(timestamp) != times[version]
        ]
        yield checked("history.timestamps", "; ".join(differences[:SHOWN]) or None)
    for version, operation, metrics in zip(
        reported, _column(read_observation, "operation"), _column(read_observation, "metrics"), strict=True
    ):
        if version in in_log:
            yield from _check_provenance(observation.reader.commit(version), operation, metrics)


def _millis(timestamp: str) -> int:
    """Return the milliseconds since the epoch of a version's time, given so or as a date and a time of day in UTC."""
    if timestamp.isdecimal():
        return int(timestamp)
    parsed = datetime.fromisoformat(timestamp)
    return round((parsed.replace(tzinfo=parsed.tzinfo or UTC) - EPOCH) / timedelta(milliseconds=1))


def _column(read_observation: ReadObservation, name: str) -> Sequence[Any]:
    columns = read_observation.told or {}
    return columns.get(name) or [None] * len(columns.get("version", ()))


def _check_provenance(commit: Commit, operation: Any, metrics: Any) -> Iterator[Checked]:
    """Judge a version's operation and metrics in the history against those of its commit."""
    if commit.info is None:
        return
    recorded = commit.info.values.get("operation")
    if operation is not None and isinstance(recorded, str):
        problem = None if operation == recorded else f"told {operation!r}, the commit says {recorded!r}"
        yield checked("history.operations", problem, commit.name)
    recorded_metrics = operation_metrics(commit)
    if metrics is not None:
        differences = [
            f"{name} is told as {value}, the commit says {recorded_metrics.get(plain_name(name))}"
            for name, value in dict(metrics).items()
            if value.isdecimal() and recorded_metrics.get(plain_name(name)) != int(value)
        ]
        yield checked("history.metrics", "; ".join(differences[:3]) or None, commit.name)


def _check_detail(observation: Observation, read_observation: ReadObservation, at: When) -> Iterator[Checked]:
    if read_observation.told is None:
        if read_observation.refused is not None:
            yield checked("detail.told", describe(read_observation.refused))
        return
    yield checked("detail.told", None)
    version = version_of(at, observation.versions)
    state = observation.after if version is None else observation.reader.snapshot(version)
    if state is None:
        return
    differences = [
        f"{name} is {reported!r} instead of {expected!r}"
        for name, expected in _facts(state).items()
        if (reported := _first(read_observation.told, name)) is not None and reported != expected
    ]
    yield checked("detail.true", "; ".join(differences) or None)


def _facts(snapshot: Snapshot) -> Mapping[str, Any]:
    adds = list(live_adds(snapshot))
    return {
        "numFiles": len(adds),
        "sizeInBytes": sum(add.size for add in adds),
        "partitionColumns": list(snapshot.partition_by),
        "properties": dict(snapshot.properties),
        "minReaderVersion": snapshot.protocol.min_reader,
        "minWriterVersion": snapshot.protocol.min_writer,
    }


def _first(columns: Mapping[str, Sequence[Any]], name: str) -> Any:
    column = columns.get(name, ())
    value = column[0] if column else None
    return dict(value) if name == "properties" and value is not None else value


def _few(numbers: Sequence[int]) -> str:
    repeated = [number for number, count in Counter(numbers).items() if count > 1]
    return f"{list(numbers[:6])}{'...' if len(numbers) > 6 else ''}" + (
        f", {repeated[:3]} twice" if repeated else ""
    )


CHECK = Check(CheckName.INTROSPECTION, JUDGES, check, (ReadChanges, History, Detail))
