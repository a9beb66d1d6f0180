"""One oracle a module: each looks at an `Observation` and reports breaches; none executes anything."""

from __future__ import annotations

import traceback
from collections.abc import Sequence
from dataclasses import dataclass, field

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
from delta_models.requirements import BY_ID, Breach

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
    contents.OLD_STATES,
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
STRUCK: tuple[Check, ...] = (log.CHECK, statistics.CHECK, checkpoint.CHECK, crashes.CHECK, reads.CHECK)
AT_ONCE: tuple[Check, ...] = (log.CHECK, statistics.CHECK, checkpoint.CHECK, races.CHECK, reads.CHECK)
# From the first of these on checks look at what engines answer, or at what the others have found.
OF_ANSWERS: tuple[Check, ...] = (contents.OLD_STATES, reads.CHECK)

__all__ = ["CHECKS", "Begun", "Check", "Judgement", "begin", "judge"]


@dataclass(frozen=True, slots=True)
class Judgement:
    """What the checks say of one observation.

    `evidence` counts how often each requirement was really judged: a check that had nothing to look at counts nothing.
    `faults` are failures of the harness itself (exit 2): our reader on a valid log, or a check that raised.
    """

    breaches: tuple[Breach, ...]
    evidence: dict[str, int]
    faults: tuple[str, ...] = ()


@dataclass(slots=True)
class Begun:
    """A judgement in the making: what was written down so far, and who is still to be asked."""

    left: tuple[Check, ...]
    ledger: Ledger = field(default_factory=Ledger)
    faults: list[str] = field(default_factory=list)

    def ask(self, observation: Observation, checks: Sequence[Check]) -> None:
        """Ask checks. None of them raises: what goes wrong inside one is a fault of the harness, not of the engine."""
        for each in checks:
            try:
                each.look(observation, self.ledger)
            except CorruptLog as error:
                self.ledger.judge("log.loads", str(error))  # a state can be there whose schema says nothing
            except Exception:  # noqa: BLE001 - whatever a check raises says nothing of the engine, and must not end the run
                self.faults.append(
                    f"check {each.name} failed at step {observation.step}:\n{traceback.format_exc(limit=8)}"
                )


def begin(observation: Observation) -> Begun:
    """Ask those that judge the writer by the log, while engines still read: looks are none of their business."""
    checks = _asked_of(observation)
    early = min(checks.index(each) for each in OF_ANSWERS if each in checks)
    begun = Begun(checks[early:])
    begun.ask(observation, checks[:early])
    return begun


def judge(
    observation: Observation, checks: Sequence[Check] | None = None, begun: Begun | None = None
) -> Judgement:
    """Ask every check, or those that have not been asked where it was `begun`."""
    if begun is None:
        begun = Begun(tuple(_asked_of(observation) if checks is None else checks))
    begun.ask(observation, begun.left)
    ledger, faults = begun.ledger, begun.faults
    own = our_own_fault(observation)
    invalid = any(BY_ID[each.requirement].strength == "must" for each in ledger.breaches)
    if own is not None and not invalid:  # what is invalid need not be readable
        faults.append(own)
    return Judgement(tuple(ledger.breaches), dict(ledger.evidence), tuple(faults))


def _asked_of(observation: Observation) -> tuple[Check, ...]:
    if observation.race is not None:
        return AT_ONCE
    return STRUCK if observation.trouble is not None and observation.trouble.fault is not None else CHECKS
