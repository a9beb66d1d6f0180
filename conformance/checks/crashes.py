"""Is a table after a storage fault as before or as after the operation, and can writers go on?"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from conformance.checks.names import CheckName
from conformance.checks.outcomes import describe, same_outcome
from conformance.checks.recorder import Check, CheckRecorder, judged_by
from conformance.observations.observation import FaultContext, Observation
from conformance.observations.recovery_state import AFTER, BEFORE, BETWEEN, TWICE, RecoveryState
from delta_models.log import paths
from delta_models.operations import Append, LoseReplyAt, Vacuum, WriteStream
from delta_models.outcomes import Committed, NoChange, Rejected, Unknown
from delta_models.requirements import Checked, checked
from delta_models.table.retention import file_retention

JUDGES = judged_by(CheckName.CRASHES)


def check(observation: Observation, _recorder: CheckRecorder) -> Iterator[Checked]:
    """Judge a step that met a fault, and later steps that meet what it left."""
    fault_context = observation.fault_context
    if fault_context is None or not observation.wrote:
        return
    if fault_context.fault is not None:
        yield from _check_fault(observation, fault_context)
    if fault_context.next_write and isinstance(observation.operation, Append | WriteStream):
        yield from _check_next_write(observation)
    if (
        fault_context.left_over
        and isinstance(observation.operation, Vacuum)
        and not observation.operation.dry_run
    ):
        yield from _check_vacuum(observation, observation.operation, fault_context)


def _check_fault(observation: Observation, fault_context: FaultContext) -> Iterator[Checked]:
    damage = f"not as they were: {', '.join(fault_context.gone)}" if fault_context.gone else None
    yield checked("crash.keeps-committed", damage)
    if damage is not None:
        return
    recovery = fault_context.found
    if recovery is None:
        yield checked("crash.all-or-nothing", f"the log can't be read: {observation.log_error}")
        return
    if observation.commits:
        missing = sorted(_incomplete_files(observation))
        yield checked(
            "crash.data-before-commit",
            f"version {observation.commits[-1].version} names {', '.join(missing)}" if missing else None,
        )
        if missing:
            return
    if recovery.state == TWICE:
        yield checked("crash.once", recovery.why)
        return
    yield checked("crash.all-or-nothing", recovery.why if recovery.state == BETWEEN else None)
    if recovery.state == BETWEEN:
        return
    if isinstance(fault_context.fault, LoseReplyAt) and recovery.state == AFTER:
        yield checked("crash.once", None)
    yield checked("crash.told-truly", _outcome_problem(observation, recovery))


def _outcome_problem(observation: Observation, recovery: RecoveryState) -> str | None:
    """Describe why the reported outcome is not true of the table; None if it is. `Unknown` always is."""
    match observation.outcome:
        case Committed() | NoChange():
            ranges = [
                allowed.commits
                for allowed in observation.expectation.allowed_outcomes
                if same_outcome(allowed.outcome, observation.outcome)
            ]
            if any(low <= len(observation.commits) <= high for low, high in ranges):
                return None
            return f"{describe(observation.outcome)} was said, and the table is as {recovery.state} it"
        case Rejected():
            if recovery.state == BEFORE:
                return None
            return (
                f"it is done, in {len(observation.commits)} commits, and was told to be "
                f"{describe(observation.outcome)}"
            )
    return None


def _incomplete_files(observation: Observation) -> list[str]:
    """List the files that new commits add and that are missing, or of another size."""
    missing = []
    for add in (add for commit in observation.commits for add in commit.adds):
        path: Path = paths.resolve(observation.folder, add.path)
        if not path.exists():
            missing.append(f"{add.path}, which is not there")
        elif path.stat().st_size != add.size:
            missing.append(f"{add.path} of {add.size} bytes, of which {path.stat().st_size} are there")
    return missing


def _check_next_write(observation: Observation) -> Iterator[Checked]:
    if isinstance(observation.expectation.ordinary.outcome, Committed):
        # `streams` judges the rows that a stream wrote.
        as_allowed = observation.branch is not None or isinstance(observation.operation, WriteStream)
        done = isinstance(observation.outcome, Committed) and as_allowed
        problem = None if done else f"the next write was {describe(observation.outcome)}"
        yield checked("crash.next-writer", problem)


def _check_vacuum(observation: Observation, vacuum: Vacuum, fault_context: FaultContext) -> Iterator[Checked]:
    """Judge that a vacuum keeps orphaned files within the retention, and removes older ones if it ran to its end."""
    hours = file_retention(observation.model) if vacuum.retention_hours is None else vacuum.retention_hours
    young = [orphan for orphan in fault_context.left_over if orphan.hours < hours]
    if young:
        lost = [f"{orphan.path} after {orphan.hours} hours" for orphan in young if not orphan.there]
        yield checked("crash.left-overs-kept", f"deleted: {', '.join(lost)}" if lost else None)
    if fault_context.fault is not None or isinstance(observation.outcome, Rejected | Unknown):
        return
    old = [orphan for orphan in fault_context.left_over if orphan.hours >= hours]
    if old and not vacuum.lite:
        there = [f"{orphan.path} after {orphan.hours} hours" for orphan in old if orphan.there]
        yield checked("crash.left-overs-removed", f"still there: {', '.join(there)}" if there else None)


CHECK = Check(CheckName.CRASHES, JUDGES, check)
