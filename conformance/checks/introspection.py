"""Is what an engine tells of the table true: the change feed, the history of its versions, its files and properties?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
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
from delta_models.schema import Struct
from delta_models.values import Rows
from delta_models.wire_names import text_of

JUDGES = judged_by(CheckName.INTROSPECTION)
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
SHOWN = 3


def check(observation: Observation, recorder: CheckRecorder) -> None:
    """Judge what was told in this step."""
    if observation.log_error is not None:
        return
    for read_observation in observation.looks:
        match read_observation.operation:
            case ReadChanges():
                _changes(observation, read_observation, read_observation.operation, recorder)
            case History():
                _history(observation, read_observation, recorder)
            case Detail(at=at):
                _detail(observation, read_observation, at, recorder)


# The change feed


def _changes(
    observation: Observation, each: ReadObservation, read: ReadChanges, recorder: CheckRecorder
) -> None:
    expected = each.changes
    where = f"after step {observation.step}: {text_of(resolve_states(read, observation.versions, observation.reader))}"
    if expected is None:
        rule = _across(observation, read)
        if (
            rule is not None
            and each.answer is not None
            and (recorded := _recorded(observation, read)) is not None
        ):
            recorder.record(rule, difference(recorded, each.answer), where)
        return  # what else an engine tells across a change of the schema is its own choice, a refusal as well
    if expected.steps is None:
        problem = (
            None
            if each.refused is not None
            else "answered, although some of these versions were not recorded"
        )
        recorder.record("changes.refused-where-not-recorded", problem, where)
        return
    if each.refused is not None:
        allowed = isinstance(each.refused, Rejected) and each.refused.kind in expected.refusals
        if not allowed:
            recorder.record("changes.told", describe(each.refused), where)
        return
    recorder.record("changes.told", None)
    recorded = _recorded(observation, read)
    if (
        recorded is None
        or observation.after is None
        or recorded.schema.fields[:-2] != observation.after.schema.fields
    ):
        return  # in the columns of which version changes before a change of the schema are told is free
    if not recorder.record("changes.columns", each.malformed, where) or each.answer is None:
        return
    recorder.record("changes.rows", difference(recorded, each.answer), where)
    _moments(observation, each, recorder, where)


def _moments(observation: Observation, each: ReadObservation, recorder: CheckRecorder, where: str) -> None:
    """The times that a feed gives the versions whose changes it tells."""
    told = each.told or {}
    pairs = set(zip(told.get(COMMIT_VERSION.name, ()), told.get(COMMIT_TIMESTAMP.name, ()), strict=True))
    if not pairs:
        return
    times = commit_times(observation.reader)
    off = [
        f"version {version} of {said}, its commit is of {times[version] * 1000}"
        for version, said in sorted(pairs, key=repr)
        if version in times and said != times[version] * 1000
    ]
    recorder.record("changes.commit-timestamps", "; ".join(off[:SHOWN]) or None, where)


def _across(observation: Observation, read: ReadChanges) -> str | None:
    """The rule for changes that are told over a change of the schema, in the columns of the newest version."""
    asked = resolve_states(read, observation.versions, observation.reader)
    if (
        observation.after is None
        or not isinstance(asked, ReadChanges)
        or not isinstance(asked.first, AtVersion)
    ):
        return None
    if isinstance(asked.last, AtVersion) and asked.last.version != observation.after.version:
        return None
    try:
        first = observation.reader.snapshot(asked.first.version).schema
        newest = observation.after.schema
        if newest.fields[: len(first)] == first.fields and len(newest) > len(first):
            return "changes.across-new-columns"
        return "changes.across-other-columns" if _are_followed(observation, asked.first.version) else None
    except LogError:
        return None


def _are_followed(observation: Observation, first: int) -> bool:
    """Whether columns were the same ones from a version on: by their physical names, or because their names stayed."""
    if observation.after is None:
        return False
    snapshots = [
        observation.reader.snapshot(version) for version in range(first, observation.after.version + 1)
    ]
    if all(mapping_mode(snapshot) != "none" for snapshot in snapshots):
        return True
    return all(set(snapshot.schema.names) == set(observation.after.schema.names) for snapshot in snapshots)


def _recorded(observation: Observation, read: ReadChanges) -> Rows | None:
    """The changes as we read them from the log."""
    asked = resolve_states(read, observation.versions, observation.reader)
    if not isinstance(asked, ReadChanges) or not isinstance(asked.first, AtVersion):
        return None
    last = asked.last.version if isinstance(asked.last, AtVersion) else None
    try:
        found = changes(observation.reader, asked.first.version, last)
    except (NoChangeData, LogError):
        return None
    schema = Struct(found.schema.fields[:-1])
    return Rows(schema, tuple(row[:-1] for row in found.rows))


# What the engine says of the table


def _history(observation: Observation, each: ReadObservation, recorder: CheckRecorder) -> None:
    if each.told is None:
        if each.refused is not None:
            recorder.record("history.told", describe(each.refused))
        return
    recorder.record("history.told", None)
    there = sorted(observation.reader.listing().commits, reverse=True)
    told = list(each.told.get("version", ()))
    problem = None if told == there else f"told {_few(told)}, the log holds {_few(there)}"
    recorder.record("history.versions", problem)
    if observation.after is not None and is_on(observation.after.metadata, ENABLED):
        times, said = commit_times(observation.reader), _column(each, "timestamp")
        off = [
            f"version {version} of {moment}, its commit is of {times[version]}"
            for version, moment in zip(told, said, strict=True)
            if moment is not None and version in times and _millis(moment) != times[version]
        ]
        recorder.record("history.timestamps", "; ".join(off[:SHOWN]) or None)
    for version, operation, metrics in zip(
        told, _column(each, "operation"), _column(each, "metrics"), strict=True
    ):
        if version in there:
            _provenance(observation.reader.commit(version), operation, metrics, recorder)


def _millis(moment: str) -> int:
    """The time that a history gives a version: milliseconds since the epoch, or a date and a time of day in UTC."""
    if moment.isdecimal():
        return int(moment)
    found = datetime.fromisoformat(moment)
    return round((found.replace(tzinfo=found.tzinfo or UTC) - EPOCH) / timedelta(milliseconds=1))


def _column(each: ReadObservation, name: str) -> Sequence[Any]:
    told = each.told or {}
    return told.get(name) or [None] * len(told.get("version", ()))


def _provenance(commit: Commit, operation: Any, metrics: Any, recorder: CheckRecorder) -> None:
    """What is told of a version, beside what its commit says of itself."""
    if commit.info is None:
        return
    held = commit.info.values.get("operation")
    if operation is not None and isinstance(held, str):
        problem = None if operation == held else f"told {operation!r}, the commit says {held!r}"
        recorder.record("history.operations", problem, commit.name)
    counted = operation_metrics(commit)
    if metrics is not None:
        off = [
            f"{name} is told as {value}, the commit says {counted.get(plain_name(name))}"
            for name, value in dict(metrics).items()
            if value.isdecimal() and counted.get(plain_name(name)) != int(value)
        ]
        recorder.record("history.metrics", "; ".join(off[:3]) or None, commit.name)


def _detail(observation: Observation, each: ReadObservation, at: When, recorder: CheckRecorder) -> None:
    if each.told is None:
        if each.refused is not None:
            recorder.record("detail.told", describe(each.refused))
        return
    recorder.record("detail.told", None)
    version = version_of(at, observation.versions)
    state = observation.after if version is None else observation.reader.snapshot(version)
    if state is None:
        return
    off = [
        f"{name} is {said!r} instead of {wanted!r}"
        for name, wanted in _facts(state).items()
        if (said := _first(each.told, name)) is not None and said != wanted
    ]
    recorder.record("detail.true", "; ".join(off) or None)


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


def _first(told: Mapping[str, Sequence[Any]], name: str) -> Any:
    column = told.get(name, ())
    value = column[0] if column else None
    return dict(value) if name == "properties" and value is not None else value


def _few(numbers: Sequence[int]) -> str:
    counted = Counter(numbers)
    twice = [number for number, count in counted.items() if count > 1]
    return f"{list(numbers[:6])}{'...' if len(numbers) > 6 else ''}" + (
        f", {twice[:3]} twice" if twice else ""
    )


CHECK = Check(CheckName.INTROSPECTION, JUDGES, check)
