"""Does some order explain what writers at once have left, was each told the truth, did readers see whole states?"""

from __future__ import annotations

from collections.abc import Sequence

from conformance.checks.outcomes import describe
from conformance.checks.recorder import Check, CheckRecorder, judged_by
from conformance.observations.observation import Observation, RaceObservation
from delta_models.concurrency import (
    ANOMALIES,
    CANNOT,
    LOST_UPDATE,
    REWRITES,
    SERIALIZABLE,
    Anomaly,
    CompletedOperation,
    documented_conflict,
    find_anomaly,
    find_explanation,
    has_properties,
    is_serial,
    isolation_of,
    operation_names,
)
from delta_models.log import LogError, paths
from delta_models.operations import Append, Read, ReadStream, SetProperties, Vacuum
from delta_models.outcomes import Committed, NoChange, Outcome, Rejected, Unknown
from delta_models.values import Rows
from delta_models.wire_names import name_of

JUDGES = judged_by("races")


def check(observation: Observation, recorder: CheckRecorder) -> None:
    """Judge what several writers have done at once."""
    race = observation.race
    if race is None or not observation.wrote:
        return
    _conflicts(race, recorder)
    if observation.after is None or observation.log_error is not None:
        return  # told by the rules of the log
    writers = [
        (CompletedOperation(operation, owner), outcome)
        for operation, owner, outcome in zip(race.operations, race.owners, race.outcomes, strict=True)
        if not isinstance(operation, Read | ReadStream)
    ]
    if any(isinstance(outcome, Unknown) for _, outcome in writers):
        return
    done = [each for each, outcome in writers if not isinstance(outcome, Rejected)]
    if not recorder.judge("race.all-acknowledged", _unacknowledged(observation, race, writers)):
        return
    if any(isinstance(candidate, Vacuum) for candidate in race.operations):
        missing = _missing(observation)
        if not recorder.judge(
            "race.vacuum-spares-new-files", f"gone: {', '.join(missing)}" if missing else None
        ):
            return
    try:
        versions = [
            observation.reader.rows(observation.reader.snapshot(commit.version))
            for commit in observation.commits
        ]
        rows = observation.reader.rows(observation.after)
    except LogError:
        return  # told by the rules of the log
    refused = [each for each, outcome in writers if isinstance(outcome, Rejected)]
    found = find_anomaly(race.model_history, done, rows)
    if refused:
        left = found is not None and find_anomaly(race.model_history, [*done, *refused], rows) is None
        if not recorder.judge(
            "race.told-truly", f"{operation_names(refused)} was refused, and is there" if left else None
        ):
            return
    undone = _properties_undone(observation, race, done, rows) if found is None else None
    if undone is not None:
        found = Anomaly(LOST_UPDATE, undone)
    for name in ANOMALIES:
        recorder.judge(name, found.detail if found is not None and found.requirement == name else None)
    if found is None and race.isolation == SERIALIZABLE and len(done) > 1:
        start = Rows(race.model_history.table.schema, tuple(race.model_history.table.rows))
        serial = is_serial(race.model_history, done, [start, *versions])
        wrong = (
            f"no order of {operation_names(done)} goes through the {len(versions)} versions that they made"
        )
        recorder.judge("race.serializable", None if serial else wrong)
    _readers(race, recorder)


def _conflicts(race: RaceObservation, recorder: CheckRecorder) -> None:
    level = isolation_of(race.model_history.table)
    if len(race.operations) == 2 and documented_conflict(*race.operations, race.overlap, level) == CANNOT:
        refused = [
            f"{name_of(operation)} was {describe(outcome)}"
            for operation, outcome in zip(race.operations, race.outcomes, strict=True)
            if isinstance(outcome, Rejected)
        ]
        recorder.judge("race.conflicts-as-documented", "; ".join(refused) or None)
    _appends(race, recorder)


def _appends(race: RaceObservation, recorder: CheckRecorder) -> None:
    """An append beside others that change rows, and nothing that it depends on."""
    if any(isinstance(candidate, SetProperties) for candidate in race.operations):
        return
    for operation, owner, outcome in zip(race.operations, race.owners, race.outcomes, strict=True):
        others = [
            candidate
            for candidate, other in zip(race.operations, race.owners, strict=True)
            if other != owner and isinstance(candidate, REWRITES)
        ]
        if isinstance(operation, Append) and others:
            names = " and ".join(name_of(each) for each in others)
            refused = isinstance(outcome, Rejected)
            recorder.judge(
                "race.appends-read-nothing",
                f"Append beside {names} was {describe(outcome)}" if refused else None,
            )


def _unacknowledged(
    observation: Observation, race: RaceObservation, writers: Sequence[tuple[CompletedOperation, Outcome]]
) -> str | None:
    """Whether there are fewer commits than were told of: each operation that needs one makes at least one.

    Which do may hang on those before them, so only appends count where there are more than two.
    """
    told = [
        each
        for each, outcome in writers
        if isinstance(outcome, Committed)
        and race.model_history.expect(each.operation).ordinary.commits[0] > 0
        and (len(writers) == 2 or isinstance(each.operation, Append))
    ]
    if len(observation.commits) >= len(told):
        return None
    return f"{operation_names(told)} were told to have committed, and there are {len(observation.commits)} commits"


def _missing(observation: Observation) -> list[str]:
    live = observation.after.live.values() if observation.after is not None else ()
    return sorted(each.path for each in live if not paths.resolve(observation.folder, each.path).exists())


def _properties_undone(
    observation: Observation, race: RaceObservation, done: Sequence[CompletedOperation], rows: Rows
) -> str | None:
    """A property that was set, and is not there, in whatever order the writers came."""
    if observation.after is None or not any(isinstance(each.operation, SetProperties) for each in done):
        return None
    configured = observation.after.metadata.configuration
    end = find_explanation(race.model_history, done, rows, configured)
    if end is None or has_properties(end, configured):
        return None
    return f"after {operation_names(done)} the table's properties are {dict(configured)}, which no order of them gives"


def _readers(race: RaceObservation, recorder: CheckRecorder) -> None:
    for place, rows in race.seen.items():
        before = [
            CompletedOperation(operation, race.owners[at])
            for at, operation in enumerate(race.operations)
            if at in race.published[place] and not isinstance(race.outcomes[at], Rejected | NoChange)
        ]
        known = find_anomaly(race.model_history, before, rows) is None
        wrong = f"{len(rows)} rows were read when {operation_names(before)} had been committed, which are no such state"
        recorder.judge("race.no-dirty-read", None if known else wrong)


CHECK = Check("races", JUDGES, check)
