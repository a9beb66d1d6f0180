"""One oracle a module: each looks at an `Observation` and reports breaches; none executes anything."""

from __future__ import annotations

import traceback
from collections.abc import Sequence
from dataclasses import dataclass

from conformance.checks import (
    checkpoint,
    checksums,
    contents,
    crashes,
    identity,
    log,
    metamorphic,
    metrics,
    outcomes,
    protocol,
    races,
    reads,
    recorded,
    rules,
    statistics,
    streams,
    told,
    untouched,
    vacuum,
)
from conformance.checks.blame import our_own_fault
from conformance.checks.ledger import Check, Ledger
from conformance.observation import Observation
from delta_models.log import CorruptLog
from delta_models.requirements import Breach

CHECKS: tuple[Check, ...] = (
    log.CHECK,  # first: what follows from an invalid log is not told again
    outcomes.CHECK,
    contents.CHECK,
    statistics.CHECK,
    checkpoint.CHECK,
    protocol.CHECK,
    rules.CHECK,
    identity.CHECK,
    recorded.CHECK,
    untouched.CHECK,
    vacuum.CHECK,
    reads.CHECK,
    metamorphic.CHECK,
    told.CHECK,
    streams.CHECK,
    crashes.CHECK,
    races.CHECK,
    metrics.CHECK,  # nearly last: it trusts what the others found right
    checksums.CHECK,  # last: what is missing here makes nothing else wrong
)
# What an operation that met a fault should have come to is for `crashes` to say.
STRUCK: tuple[Check, ...] = (log.CHECK, statistics.CHECK, checkpoint.CHECK, reads.CHECK, crashes.CHECK)
AT_ONCE: tuple[Check, ...] = (log.CHECK, statistics.CHECK, checkpoint.CHECK, reads.CHECK, races.CHECK)

__all__ = ["CHECKS", "Check", "Judgement", "judge"]


@dataclass(frozen=True, slots=True)
class Judgement:
    """What the checks say of one observation.

    `evidence` counts how often each requirement was really judged: a check that had nothing to look at counts nothing.
    `faults` are failures of the harness itself (exit 2): our reader on a valid log, or a check that raised.
    """

    breaches: tuple[Breach, ...]
    evidence: dict[str, int]
    faults: tuple[str, ...] = ()


def judge(observation: Observation, checks: Sequence[Check] | None = None) -> Judgement:
    """Ask every check. None of them raises: what goes wrong inside one is a fault of the harness, not of the engine."""
    ledger = Ledger()
    faults = []
    if checks is None:
        struck = observation.trouble is not None and observation.trouble.fault is not None
        checks = AT_ONCE if observation.race is not None else STRUCK if struck else CHECKS
    for each in checks:
        try:
            each.look(observation, ledger)
        except CorruptLog as error:
            ledger.judge("log.loads", str(error))  # a state can be there whose schema says nothing
        except Exception:  # noqa: BLE001 - whatever a check raises says nothing of the engine, and must not end the run
            faults.append(
                f"check {each.name} failed at step {observation.step}:\n{traceback.format_exc(limit=8)}"
            )
    own = our_own_fault(observation)
    invalid = any(each.requirement not in checksums.JUDGES for each in ledger.breaches)
    if own is not None and not invalid:  # what is invalid need not be readable
        faults.append(own)
    return Judgement(tuple(ledger.breaches), dict(ledger.evidence), tuple(faults))
