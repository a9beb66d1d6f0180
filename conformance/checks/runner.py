"""Run the checks on one observation, at once or in two phases.

The checks of the log need no answer of an engine. `run_log_checks` runs them while engines still read. `run_checks`
then runs the others, or all of them if no first phase was run.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from conformance.checks.attribution import harness_fault_of
from conformance.checks.recorder import Check, CheckRecorder
from conformance.checks.registry import checks_for, split_phases
from conformance.observations.observation import Observation
from delta_models.requirements import BY_ID, Violation


@dataclass(frozen=True, slots=True)
class CheckReport:
    """All that the checks report about one observation.

    `evidence` counts how often each requirement was really judged. A check without anything to judge counts nothing.
    `faults` are failures of the harness itself (exit 2): our reader failed on a valid log, or a check raised.
    """

    violations: tuple[Violation, ...]
    evidence: dict[str, int]
    faults: tuple[str, ...] = ()


@dataclass(slots=True)
class PendingChecks:
    """Checks between the two phases: what they have recorded, and which of them still have to run."""

    remaining: tuple[Check, ...]
    recorder: CheckRecorder = field(default_factory=CheckRecorder)


def run_log_checks(observation: Observation) -> PendingChecks:
    """Run the checks of the log, which judge the writer. They need no reads of the observation."""
    log_checks, answer_checks = split_phases(checks_for(observation))
    pending = PendingChecks(answer_checks)
    pending.recorder.run(log_checks, observation)
    return pending


def run_checks(
    observation: Observation, checks: Sequence[Check] | None = None, pending: PendingChecks | None = None
) -> CheckReport:
    """Run all checks that apply, or those given, or those that a first phase left `pending`."""
    if pending is None:
        pending = PendingChecks(tuple(checks_for(observation) if checks is None else checks))
    pending.recorder.run(pending.remaining, observation)
    recorder = pending.recorder
    faults = list(recorder.faults)
    harness_fault = harness_fault_of(observation)
    invalid = any(BY_ID[violation.requirement].strength == "must" for violation in recorder.violations)
    if harness_fault is not None and not invalid:  # our reader need not read an invalid log
        faults.append(harness_fault)
    return CheckReport(tuple(recorder.violations), dict(recorder.evidence), tuple(faults))
