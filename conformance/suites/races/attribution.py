"""Who answers for what after a race: for a commit who made it, for a refusal who was refused, not who came last."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import PurePath

from conformance.checks import log_validity, run_checks, statistics
from conformance.execution.engine_session import EngineSession
from conformance.execution.table_session import StepResult
from conformance.fault_injection import file_roles
from conformance.fault_injection.storage_events import StorageRecord
from conformance.observations.observation import Observation
from delta_models.operations import Append
from delta_models.outcomes import Rejected
from delta_models.requirements import Violation

APPENDS = "race.appends-read-nothing"
REFUSALS = (APPENDS, "race.conflicts-as-documented", "race.told-truly")


def commit_authors(writers: Sequence[int], records: Sequence[StorageRecord]) -> dict[int, int]:
    """Which of the writers gave each new version its name."""
    return {
        int(PurePath(event.event.call.path).stem): writer
        for writer, record in zip(writers, records, strict=True)
        for event in record.happened
        if event.event.role == file_roles.COMMIT and event.errno == 0
    }


def attribute_violations(
    step_result: StepResult, engine_sessions: Mapping[int, EngineSession], asked: Sequence[EngineSession]
) -> Iterator[StepResult]:
    """A verdict on a race, what is wrong with others' commits and refusals charged to those.

    `engine_sessions` says whose each version is, `asked` who was asked for each of the operations.
    """
    left = list(step_result.violations)
    for violation in step_result.violations:
        engine_session = _refused(step_result.seen, violation, asked)
        if engine_session is not None and engine_session.engine != step_result.engine_session.engine:
            left.remove(violation)
            mine = replace(step_result.seen, engine=engine_session.engine, looks=())
            yield StepResult(engine_session, mine, (violation,), {violation.requirement: 1})
    for before, commit, after in log_validity.chain(step_result.seen):
        engine_session = engine_sessions.get(commit.version, step_result.engine_session)
        if engine_session.engine != step_result.engine_session.engine:
            alone = replace(
                step_result.seen, engine=engine_session.engine, before=before, after=after,
                commits=(commit,), looks=(), log_error=None
            )  # fmt: skip
            theirs = [
                each
                for each in run_checks(alone, (log_validity.CHECK, statistics.CHECK)).violations
                if each in left
            ]
            left = [each for each in left if each not in theirs]
            if theirs:
                yield StepResult(
                    engine_session, alone, tuple(theirs), {their.requirement: 1 for their in theirs}
                )
    yield replace(step_result, violations=tuple(left))


def _refused(
    observation: Observation, violation: Violation, asked: Sequence[EngineSession]
) -> EngineSession | None:
    """Whom a breach about a refusal is about."""
    race = observation.race
    if race is None or violation.requirement not in REFUSALS:
        return None
    only = Append if violation.requirement == APPENDS else object
    return next(
        (
            engine_session
            for engine_session, operation, outcome in zip(asked, race.operations, race.outcomes, strict=True)
            if isinstance(outcome, Rejected) and isinstance(operation, only)
        ),
        None,
    )
