"""Does some order of the writers explain the table after a race, and are the reported outcomes and the reads right?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from conformance.checks.names import CheckName
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
    has_properties,
    is_serial,
    isolation_of,
)
from delta_models.concurrency.conflict_rules import documented_conflict
from delta_models.concurrency.serializability import find_anomaly, find_explanation, operation_names
from delta_models.log import LogError, Snapshot, paths
from delta_models.operations import Append, Read, ReadStream, SetProperties, Vacuum
from delta_models.outcomes import Committed, NoChange, Outcome, Rejected, Unknown
from delta_models.requirements import Checked, Violation, checked
from delta_models.values import Rows, bag
from delta_models.wire_names import name_of

JUDGES = judged_by(CheckName.RACES)
_READ_AT = "the read at place "  # in `where` of a violation


@dataclass(frozen=True, slots=True)
class _Writer:
    """One operation of a race that is no read, and how it ended."""

    completed: CompletedOperation
    outcome: Outcome


@dataclass(frozen=True, slots=True)
class _States:
    """The rows of each version that the race has made, and those of the newest version."""

    versions: Sequence[Rows]
    newest: Rows


def check(observation: Observation, _recorder: CheckRecorder) -> Iterator[Checked]:
    """Judge several operations at once."""
    race = observation.race
    if race is None or not observation.wrote:
        return
    yield from _check_conflicts(race)
    yield from _check_appends(race)
    if observation.after is None or observation.log_error is not None:
        return  # the rules of the log report it
    writers = _writers(race)
    if any(isinstance(writer.outcome, Unknown) for writer in writers):
        return
    problem = _missing_commits(observation, race, writers)
    yield checked("race.all-acknowledged", problem)
    if problem is not None:
        return
    if any(isinstance(operation, Vacuum) for operation in race.operations):
        missing = _missing_files(observation)
        yield checked("race.vacuum-spares-new-files", f"gone: {', '.join(missing)}" if missing else None)
        if missing:
            return
    states = _read_states(observation, observation.after)
    if states is not None:
        yield from _check_states(observation, race, writers, states)


def _writers(race: RaceObservation) -> list[_Writer]:
    return [
        _Writer(CompletedOperation(operation, owner), outcome)
        for operation, owner, outcome in zip(race.operations, race.owners, race.outcomes, strict=True)
        if not isinstance(operation, Read | ReadStream)
    ]


def _read_states(observation: Observation, after: Snapshot) -> _States | None:
    """Return the states that our reader reads; None if it cannot, which the rules of the log report."""
    reader = observation.reader
    try:
        versions = [reader.rows(reader.snapshot(commit.version)) for commit in observation.commits]
        return _States(versions, reader.rows(after))
    except LogError:
        return None


def _check_states(
    observation: Observation, race: RaceObservation, writers: Sequence[_Writer], states: _States
) -> Iterator[Checked]:
    """Judge whether an order of the committed operations explains what they left."""
    committed = [writer.completed for writer in writers if not isinstance(writer.outcome, Rejected)]
    refused = [writer.completed for writer in writers if isinstance(writer.outcome, Rejected)]
    difference = find_anomaly(race.model_history, committed, states.newest)
    if refused:
        everything = [*committed, *refused]
        in_table = (
            difference is not None and find_anomaly(race.model_history, everything, states.newest) is None
        )
        problem = f"{operation_names(refused)} was refused, and is there" if in_table else None
        yield checked("race.told-truly", problem)
        if problem is not None:
            return
    if difference is None:
        difference = _undone_properties(observation, race, committed, states.newest)
    for name in ANOMALIES:
        yield checked(
            name, difference.detail if difference is not None and difference.requirement == name else None
        )
    if difference is None and race.isolation == SERIALIZABLE and len(committed) > 1:
        yield from _check_serializable(race, committed, states)
    yield from _check_reads(observation, race, states)


def _check_conflicts(race: RaceObservation) -> Iterator[Checked]:
    """Two operations that cannot conflict, by the documentation: neither may be refused."""
    level = isolation_of(race.model_history.table)
    if len(race.operations) == 2 and documented_conflict(*race.operations, race.overlap, level) == CANNOT:
        refusals = [
            f"{name_of(operation)} was {describe(outcome)}"
            for operation, outcome in zip(race.operations, race.outcomes, strict=True)
            if isinstance(outcome, Rejected)
        ]
        yield checked("race.conflicts-as-documented", "; ".join(refusals) or None)


def _check_appends(race: RaceObservation) -> Iterator[Checked]:
    """An append reads nothing, so operations of others that rewrite rows are no reason to refuse it."""
    if any(isinstance(operation, SetProperties) for operation in race.operations):
        return
    for operation, owner, outcome in zip(race.operations, race.owners, race.outcomes, strict=True):
        rewrites = [
            other
            for other, other_owner in zip(race.operations, race.owners, strict=True)
            if other_owner != owner and isinstance(other, REWRITES)
        ]
        if isinstance(operation, Append) and rewrites:
            names = " and ".join(name_of(rewrite) for rewrite in rewrites)
            refused = isinstance(outcome, Rejected)
            yield checked(
                "race.appends-read-nothing",
                f"Append beside {names} was {describe(outcome)}" if refused else None,
            )


def _missing_commits(
    observation: Observation, race: RaceObservation, writers: Sequence[_Writer]
) -> str | None:
    """Describe commits that engines reported and that the log lacks; None if it lacks none.

    An operation counts if it has to commit. With more than two writers that may depend on the order, so then only
    appends count.
    """
    reported = [
        writer.completed
        for writer in writers
        if isinstance(writer.outcome, Committed)
        and race.model_history.expect(writer.completed.operation).ordinary.commits[0] > 0
        and (len(writers) == 2 or isinstance(writer.completed.operation, Append))
    ]
    if len(observation.commits) >= len(reported):
        return None
    return f"{operation_names(reported)} were told to have committed, and there are {len(observation.commits)} commits"


def _missing_files(observation: Observation) -> list[str]:
    """List the live files that a vacuum in the race deleted."""
    live = observation.after.live.values() if observation.after is not None else ()
    return sorted(add.path for add in live if not paths.resolve(observation.folder, add.path).exists())


def _undone_properties(
    observation: Observation, race: RaceObservation, committed: Sequence[CompletedOperation], rows: Rows
) -> Anomaly | None:
    """Return the lost update of a property that was set and that no order of the writers leaves so."""
    if observation.after is None or not any(
        isinstance(completed.operation, SetProperties) for completed in committed
    ):
        return None
    configured = observation.after.metadata.configuration
    explanation = find_explanation(race.model_history, committed, rows, configured)
    if explanation is None or has_properties(explanation, configured):
        return None
    return Anomaly(
        LOST_UPDATE,
        f"after {operation_names(committed)} the table's properties are {dict(configured)},"
        " which no order of them gives",
    )


def _check_serializable(
    race: RaceObservation, committed: Sequence[CompletedOperation], states: _States
) -> Iterator[Checked]:
    """Judge whether one order of the operations goes through all versions."""
    start = Rows(race.model_history.table.schema, tuple(race.model_history.table.rows))
    serial = is_serial(race.model_history, committed, [start, *states.versions])
    problem = (
        f"no order of {operation_names(committed)} goes through the {len(states.versions)} versions"
        " that they made"
    )
    yield checked("race.serializable", None if serial else problem)


def place_of_read(violation: Violation) -> int | None:
    """Return the place in the race of the read that a violation is about; None if it is about no read."""
    _, found, place = violation.where.partition(_READ_AT)
    return int(place) if found else None


def _check_reads(observation: Observation, race: RaceObservation, states: _States) -> Iterator[Checked]:
    """A reader in the race must get a state that was committed.

    Mostly the operations committed before its answer explain the state. If the writers left what no order of them
    explains, the reader may have got that: it answers for what is in the log, not for what should be.
    """
    for place, rows in race.seen.items():
        published = [
            CompletedOperation(operation, race.owners[index])
            for index, operation in enumerate(race.operations)
            if index in race.published[place] and not isinstance(race.outcomes[index], Rejected | NoChange)
        ]
        is_state = find_anomaly(race.model_history, published, rows) is None or any(
            _are_same(rows, committed) for committed in _newest_versions(observation, race, states, place)
        )
        problem = (
            f"{len(rows)} rows were read when {operation_names(published)} had been committed,"
            " which are no such state"
        )
        yield checked("race.no-dirty-read", None if is_state else problem, f"{_READ_AT}{place}")


def _newest_versions(
    observation: Observation, race: RaceObservation, states: _States, place: int
) -> Iterator[Rows]:
    """Yield the rows of the versions that may have been the newest when a reader had its answer.

    Every writer of that version and of earlier ones had published something then, every writer of later ones had not
    published all.
    """
    writing = [
        index
        for index, operation in enumerate(race.operations)
        if not isinstance(operation, Read | ReadStream)
    ]
    early = {race.owners[index] for index in writing if index in race.published[place]}
    late = {race.owners[index] for index in writing if index not in race.published[place]}
    authors = [race.authors.get(commit.version) for commit in observation.commits]
    for index, rows in enumerate(states.versions):
        if all(author is None or author in early for author in authors[: index + 1]) and all(
            author is None or author in late for author in authors[index + 1 :]
        ):
            yield rows


def _are_same(rows: Rows, others: Rows) -> bool:
    return rows.schema.names == others.schema.names and bag(rows.schema, rows.rows) == bag(
        others.schema, others.rows
    )


CHECK = Check(CheckName.RACES, JUDGES, check)
