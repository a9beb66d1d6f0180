"""Is a table that met a storage fault as before or as after, did the engine tell the truth, can others go on?"""

from __future__ import annotations

from pathlib import Path

from conformance.checks.outcomes import describe, same_outcome
from conformance.checks.recorder import Check, CheckRecorder, judged_by
from conformance.observations.observation import FaultContext, Observation
from conformance.observations.recovery_state import AFTER, BEFORE, BETWEEN, TWICE, RecoveryState
from delta_models.log import paths
from delta_models.operations import Append, LoseReplyAt, Vacuum, WriteStream
from delta_models.outcomes import Committed, NoChange, Rejected, Unknown
from delta_models.table.retention import file_retention

JUDGES = judged_by("crashes")


def check(observation: Observation, recorder: CheckRecorder) -> None:
    """Judge a step that met a fault, and those that find what it left."""
    fault_context = observation.fault_context
    if fault_context is None or not observation.wrote:
        return
    if fault_context.fault is not None:
        _struck(observation, fault_context, recorder)
    if fault_context.next_write and isinstance(observation.operation, Append | WriteStream):
        _next_write(observation, recorder)
    if (
        fault_context.left_over
        and isinstance(observation.operation, Vacuum)
        and not observation.operation.dry_run
    ):
        _vacuumed(observation, observation.operation, fault_context, recorder)


def _struck(observation: Observation, fault_context: FaultContext, recorder: CheckRecorder) -> None:
    gone = f"not as they were: {', '.join(fault_context.gone)}" if fault_context.gone else None
    if not recorder.judge("crash.keeps-committed", gone):
        return
    found = fault_context.found
    if found is None:
        recorder.judge("crash.all-or-nothing", f"the log can't be read: {observation.log_error}")
        return
    if observation.commits:
        missing = sorted(_missing(observation))
        if not recorder.judge(
            "crash.data-before-commit",
            f"version {observation.commits[-1].version} names {', '.join(missing)}" if missing else None,
        ):
            return
    if found.state == TWICE:
        recorder.judge("crash.once", found.why)
        return
    recorder.judge("crash.all-or-nothing", found.why if found.state == BETWEEN else None)
    if found.state == BETWEEN:
        return
    if isinstance(fault_context.fault, LoseReplyAt) and found.state == AFTER:
        recorder.judge("crash.once", None)
    recorder.judge("crash.told-truly", _untrue(observation, found))


def _untrue(observation: Observation, found: RecoveryState) -> str | None:
    """What is wrong with what the engine said, given what is there. Not to know is never wrong."""
    match observation.outcome:
        case Committed() | NoChange():
            ends = [
                branch
                for branch in observation.expectation.allowed_outcomes
                if same_outcome(branch.outcome, observation.outcome)
            ]
            if any(low <= len(observation.commits) <= high for low, high in (end.commits for end in ends)):
                return None
            return f"{describe(observation.outcome)} was said, and the table is as {found.state} it"
        case Rejected():
            if found.state == BEFORE:
                return None
            return (
                f"it is done, in {len(observation.commits)} commits, and was told to be "
                f"{describe(observation.outcome)}"
            )
    return None


def _missing(observation: Observation) -> list[str]:
    """The files that new commits add and that are not there as they say."""
    found = []
    for add in (add for commit in observation.commits for add in commit.adds):
        path: Path = paths.resolve(observation.folder, add.path)
        if not path.exists():
            found.append(f"{add.path}, which is not there")
        elif path.stat().st_size != add.size:
            found.append(f"{add.path} of {add.size} bytes, of which {path.stat().st_size} are there")
    return found


def _next_write(observation: Observation, recorder: CheckRecorder) -> None:
    if isinstance(observation.expectation.ordinary.outcome, Committed):
        right = observation.branch is not None or isinstance(
            observation.operation, WriteStream
        )  # of which `streams` says what it wrote
        done = isinstance(observation.outcome, Committed) and right
        wrong = None if done else f"the next write was {describe(observation.outcome)}"
        recorder.judge("crash.next-writer", wrong)


def _vacuumed(
    observation: Observation, vacuum: Vacuum, fault_context: FaultContext, recorder: CheckRecorder
) -> None:
    """What is younger than the retention stays, what is older goes."""
    if isinstance(observation.outcome, Rejected | Unknown):
        return
    hours = file_retention(observation.model) if vacuum.retention_hours is None else vacuum.retention_hours
    young = [each for each in fault_context.left_over if each.hours < hours]
    if young:
        lost = [f"{each.path} after {each.hours} hours" for each in young if not each.there]
        recorder.judge("crash.left-overs-kept", f"deleted: {', '.join(lost)}" if lost else None)
    old = [each for each in fault_context.left_over if each.hours >= hours]
    if old and not vacuum.lite:
        there = [f"{each.path} after {each.hours} hours" for each in old if each.there]
        recorder.judge("crash.left-overs-removed", f"still there: {', '.join(there)}" if there else None)


CHECK = Check("crashes", JUDGES, check)
