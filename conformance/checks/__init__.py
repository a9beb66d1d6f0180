"""One oracle a module: each looks at an `Observation` and reports breaches; none executes anything."""

from __future__ import annotations

import traceback
from collections.abc import Sequence
from dataclasses import dataclass, field

from conformance.checks import (
    change_data_written,
    checkpoints,
    checksums,
    crashes,
    file_preservation,
    identity_columns,
    introspection,
    log_validity,
    metamorphic,
    metrics,
    outcomes,
    protocol,
    races,
    reads,
    row_constraints,
    statistics,
    streams,
    table_contents,
    vacuum,
)
from conformance.checks.attribution import harness_fault_of
from conformance.checks.recorder import Check, CheckRecorder
from conformance.observations.observation import Observation
from delta_models.log import CorruptLog
from delta_models.requirements import BY_ID, Violation

CHECKS: tuple[Check, ...] = (
    log_validity.CHECK,  # first: what follows from an invalid log is not told again
    outcomes.CHECK,
    table_contents.CHECK,
    statistics.CHECK,
    checkpoints.CHECK,
    protocol.CHECK,
    row_constraints.CHECK,
    identity_columns.CHECK,
    change_data_written.CHECK,
    file_preservation.CHECK,
    vacuum.CHECK,
    table_contents.OLD_STATES,
    reads.CHECK,
    metamorphic.CHECK,
    introspection.CHECK,
    streams.CHECK,
    crashes.CHECK,
    races.CHECK,
    metrics.CHECK,  # nearly last: it trusts what the others found right
    checksums.CHECK,  # last: what is missing here makes nothing else wrong
)
# What an operation that met a fault should have come to is for `crashes` to say.
STRUCK: tuple[Check, ...] = (
    log_validity.CHECK,
    statistics.CHECK,
    checkpoints.CHECK,
    crashes.CHECK,
    reads.CHECK,
)
AT_ONCE: tuple[Check, ...] = (
    log_validity.CHECK,
    statistics.CHECK,
    checkpoints.CHECK,
    races.CHECK,
    reads.CHECK,
)
# From the first of these on checks look at what engines answer, or at what the others have found.
OF_ANSWERS: tuple[Check, ...] = (table_contents.OLD_STATES, reads.CHECK)

__all__ = ["CHECKS", "Check", "CheckReport", "PendingChecks", "run_checks", "run_log_checks"]


@dataclass(frozen=True, slots=True)
class CheckReport:
    """What the checks say of one observation.

    `evidence` counts how often each requirement was really judged: a check that had nothing to look at counts nothing.
    `faults` are failures of the harness itself (exit 2): our reader on a valid log, or a check that raised.
    """

    violations: tuple[Violation, ...]
    evidence: dict[str, int]
    faults: tuple[str, ...] = ()


@dataclass(slots=True)
class PendingChecks:
    """A judgement in the making: what was written down so far, and who is still to be asked."""

    left: tuple[Check, ...]
    recorder: CheckRecorder = field(default_factory=CheckRecorder)
    faults: list[str] = field(default_factory=list)

    def ask(self, observation: Observation, checks: Sequence[Check]) -> None:
        """Ask checks. None of them raises: what goes wrong inside one is a fault of the harness, not of the engine."""
        for check in checks:
            try:
                check.check(observation, self.recorder)
            except CorruptLog as error:
                self.recorder.record(
                    "log.loads", str(error)
                )  # a state can be there whose schema says nothing
            except Exception:  # noqa: BLE001 - whatever a check raises says nothing of the engine, and must not end the run
                self.faults.append(
                    f"check {check.name} failed at step {observation.step}:\n{traceback.format_exc(limit=8)}"
                )


def run_log_checks(observation: Observation) -> PendingChecks:
    """Ask those that judge the writer by the log, while engines still read: looks are none of their business."""
    checks = _asked_of(observation)
    early = min(checks.index(of_answer) for of_answer in OF_ANSWERS if of_answer in checks)
    begun = PendingChecks(checks[early:])
    begun.ask(observation, checks[:early])
    return begun


def run_checks(
    observation: Observation, checks: Sequence[Check] | None = None, begun: PendingChecks | None = None
) -> CheckReport:
    """Ask every check, or those that have not been asked where it was `begun`."""
    if begun is None:
        begun = PendingChecks(tuple(_asked_of(observation) if checks is None else checks))
    begun.ask(observation, begun.left)
    recorder, faults = begun.recorder, begun.faults
    own = harness_fault_of(observation)
    invalid = any(BY_ID[violation.requirement].strength == "must" for violation in recorder.violations)
    if own is not None and not invalid:  # what is invalid need not be readable
        faults.append(own)
    return CheckReport(tuple(recorder.violations), dict(recorder.evidence), tuple(faults))


def _asked_of(observation: Observation) -> tuple[Check, ...]:
    if observation.race is not None:
        return AT_ONCE
    return (
        STRUCK
        if observation.fault_context is not None and observation.fault_context.fault is not None
        else CHECKS
    )
