"""Which checks exist, in which order they run, and which of them apply to an observation."""

from __future__ import annotations

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
from conformance.checks.recorder import Check
from conformance.observations.observation import Observation

# Order matters: some checks skip what an earlier one has recorded.
CHECKS: tuple[Check, ...] = (
    log_validity.CHECK,  # first: later checks do not report what follows from an invalid log
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
    table_contents.OLD_STATES_CHECK,
    reads.CHECK,
    metamorphic.CHECK,
    introspection.CHECK,
    streams.CHECK,
    crashes.CHECK,
    races.CHECK,
    metrics.CHECK,  # nearly last: it judges only a commit in which no other check found a violation
    checksums.CHECK,  # last: a missing checksum breaks nothing else
)
# `crashes` and `races` have nothing to judge in a history without faults and races.
ORDINARY_CHECKS: tuple[Check, ...] = tuple(
    check for check in CHECKS if check not in {crashes.CHECK, races.CHECK}
)
# `crashes` judges the outcome of an operation that met a fault; `outcomes` and `table_contents` do not apply.
FAULT_CHECKS: tuple[Check, ...] = (
    log_validity.CHECK,
    statistics.CHECK,
    checkpoints.CHECK,
    vacuum.CHECK,
    crashes.CHECK,
    reads.CHECK,
)
# `races` judges the outcomes and the contents of several operations at once.
RACE_CHECKS: tuple[Check, ...] = (
    log_validity.CHECK,
    statistics.CHECK,
    checkpoints.CHECK,
    races.CHECK,
    reads.CHECK,
)
# These look at what engines answered to reads, and so does `OLD_STATES_CHECK`. No other check does.
ANSWER_CHECKS: tuple[Check, ...] = (
    reads.CHECK,
    metamorphic.CHECK,
    introspection.CHECK,
    streams.CHECK,
)
# The first check of the second phase is one of these. From there on checks need the engine's answers.
ANSWER_CHECKS_BEGIN: tuple[Check, ...] = (table_contents.OLD_STATES_CHECK, reads.CHECK)


def checks_for(observation: Observation) -> tuple[Check, ...]:
    """Return the checks that apply to an observation, in order."""
    if observation.race is not None:
        return RACE_CHECKS
    if observation.fault_context is None:
        return ORDINARY_CHECKS
    return CHECKS if observation.fault_context.fault is None else FAULT_CHECKS


def is_judged_without_reads(requirement: str) -> bool:
    """Return whether the outcome of an operation and the files of the table are all that judges a requirement.

    Whether a host answers is judged by no check: a read may be what ends it.
    """
    answered = {table_contents.STATES_STAY}.union(*(check.judges for check in ANSWER_CHECKS))
    return requirement not in answered and any(requirement in check.judges for check in CHECKS)


def split_phases(checks: tuple[Check, ...]) -> tuple[tuple[Check, ...], tuple[Check, ...]]:
    """Split checks into those of the log, which need no answer of an engine, and the others."""
    first = min(checks.index(check) for check in ANSWER_CHECKS_BEGIN if check in checks)
    return checks[:first], checks[first:]
