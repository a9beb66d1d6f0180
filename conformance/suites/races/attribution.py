"""Charges the violations of a race: those of a commit to its author, of a refusal or a read to the engine asked."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import PurePath

from conformance.checks import log_validity, run_checks, statistics
from conformance.checks.races import place_of_read
from conformance.execution.engine_session import EngineSession
from conformance.execution.step_result import StepResult
from conformance.fault_injection import file_roles
from conformance.fault_injection.storage_events import StorageRecord
from conformance.observations.observation import Observation
from delta_models.operations import Append
from delta_models.outcomes import Rejected
from delta_models.requirements import Violation

APPENDS = "race.appends-read-nothing"
DIRTY_READ = "race.no-dirty-read"
REFUSALS = (APPENDS, "race.conflicts-as-documented", "race.told-truly")


def commit_authors(writers: Sequence[int], records: Sequence[StorageRecord]) -> dict[int, int]:
    """The writer that gave each new version its name."""
    return {
        int(PurePath(event.event.call.path).stem): writer
        for writer, record in zip(writers, records, strict=True)
        for event in record.happened
        if event.event.role == file_roles.COMMIT and event.errno == 0
    }


def attribute_violations(
    step_result: StepResult,
    authors: Mapping[int, EngineSession],
    askers: Sequence[EngineSession],
    unpromised: Collection[str] = (),
) -> Iterator[StepResult]:
    """The result of a race, with what is wrong with the commits, refusals and reads of other engines charged to those.

    `authors` are the engines that made each version, `askers` those that executed each operation. `unpromised` engines
    promise nothing here.
    """
    if step_result.observation.race is None or not step_result.violations:
        yield step_result
        return
    observation, blamed = step_result.observation, step_result.engine_session
    left = list(step_result.violations)
    for violation in step_result.violations:
        asked = _refused(observation, violation, askers) or _reader(violation, askers)
        if asked is not None and asked.engine != blamed.engine:
            left.remove(violation)
            own = replace(observation, engine=asked.engine, looks=())
            yield _charge(asked, own, (violation,), unpromised)
    for before, commit, after in log_validity.chain(observation):
        author = authors.get(commit.version, blamed)
        if author.engine != blamed.engine:
            alone = replace(
                observation, engine=author.engine, before=before, after=after,
                commits=(commit,), looks=(), log_error=None
            )  # fmt: skip
            report = run_checks(alone, (log_validity.CHECK, statistics.CHECK))
            violations = tuple(violation for violation in report.violations if violation in left)
            left = [violation for violation in left if violation not in violations]
            if violations:
                yield _charge(author, alone, violations, unpromised)
    yield replace(step_result, violations=tuple(left))


def _charge(
    engine_session: EngineSession,
    observation: Observation,
    violations: tuple[Violation, ...],
    unpromised: Collection[str],
) -> StepResult:
    evidence = {violation.requirement: 1 for violation in violations}
    promised = engine_session.engine not in unpromised
    return StepResult(engine_session, observation, violations, evidence, promised=promised)


def _refused(
    observation: Observation, violation: Violation, askers: Sequence[EngineSession]
) -> EngineSession | None:
    """The engine that a violation about a refusal is about."""
    race = observation.race
    if race is None or violation.requirement not in REFUSALS:
        return None
    only = Append if violation.requirement == APPENDS else object
    return next(
        (
            engine_session
            for engine_session, operation, outcome in zip(askers, race.operations, race.outcomes, strict=True)
            if isinstance(outcome, Rejected) and isinstance(operation, only)
        ),
        None,
    )


def _reader(violation: Violation, askers: Sequence[EngineSession]) -> EngineSession | None:
    """The engine whose read a violation is about."""
    place = place_of_read(violation) if violation.requirement == DIRTY_READ else None
    return None if place is None else askers[place]
