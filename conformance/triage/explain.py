"""Explains a finding by a cause, or says why none of those that predict it is the cause.

A finding belongs to a candidate only if the cause is live in this build, and the finding is gone from the history
without what sets the cause off. A cause that has no counterfactual is told by its prediction, which is then exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol
from weakref import WeakKeyDictionary

from conformance.findings.candidates import needs_counterfactual
from conformance.findings.storage import Finding
from conformance.histories import History
from conformance.triage.counterfactuals import counterfactual_of
from conformance.triage.liveness import Player
from conformance.triage.replayer import CRASHES, RACES, Playthrough, Setup
from conformance.triage.shared_plays import SharedPlays
from conformance.triage.without_triggers import up_to
from delta_adapters.deviations import Cause
from delta_adapters.engine_id import EngineId


class SaysWhatIsLive(Protocol):
    """A `Liveness`."""

    def is_live(self, cause: Cause, spec: str) -> bool:
        """Whether a cause is live in a build."""


@dataclass(frozen=True, slots=True)
class Explanation:
    """The id of the cause that explains a finding, or None; and why."""

    cause: str | None
    why: str


def explain(
    finding: Finding,
    candidates: Sequence[Cause],
    replayer: Player,
    liveness: SaysWhatIsLive,
    *,
    reads: bool = True,
) -> Explanation:
    """Explain a finding by the first of its candidates that is its cause.

    If two causes are at work at once, taking one of them out leaves the other. So the triggers of all live candidates
    are taken out together at last. Counterfactuals are played without `reads` only if the finding shows without them
    too: the trigger is then all that differs. Raises CannotRun.
    """
    spec = Setup.of(finding).spec_of(finding.engine)
    exact = [cause for cause in candidates if not needs_counterfactual(cause)]
    for cause in sorted(exact, key=_needs_others):
        if liveness.is_live(cause, spec):
            how = (
                "predicts exactly this" if cause.trigger is None else f"predicts this, after {cause.trigger}"
            )
            return Explanation(cause.id, f"{cause.id} is live, and {how}")
    told = [cause for cause in candidates if needs_counterfactual(cause) and liveness.is_live(cause, spec)]
    reasons = [f"{cause.id} is not live in {spec}" for cause in candidates if cause not in told]
    together = [tuple(told)] if len(told) > 1 else []
    for causes in (*((cause,) for cause in told), *together):
        names = " and ".join(f"{cause.trigger}" for cause in causes)
        left = _left_without(causes, finding, replayer, reads=reads)
        if left is None:
            return Explanation(causes[0].id, f"without {names} it is gone")
        reasons.append(f"{' and '.join(cause.id for cause in causes)}: {left}")
    return Explanation(None, "; ".join(reasons) or "no cause predicts it")


def _needs_others(cause: Cause) -> bool:
    """Whether other engines sit at the table of a cause's minimal history: to start one may take half a minute."""
    return not set(cause.slots.values()) <= {cause.engine}


def _left_without(causes: Sequence[Cause], finding: Finding, player: Player, *, reads: bool) -> str | None:
    """Why the counterfactual does not show that these are the causes; None if it does."""
    names = " and ".join(f"{cause.trigger}" for cause in causes)
    history = _counterfactual(causes, up_to(finding), player)
    if history is None:
        return f"{names} can't be taken out of the history"
    outcome = _outcome_of(history, Setup.of(finding), player, reads=reads)
    if outcome.problem:
        return outcome.problem
    last = len(history.steps) - 1  # the step of the finding: the others keep their places before it
    if (finding.key.engine, finding.key.requirement, last) in outcome.violations:
        return f"without {names} it is still there"
    if outcome.steps_played <= last:
        return f"without {names} only {outcome.steps_played} of {last + 1} steps could be played"
    return None


@dataclass(frozen=True, slots=True)
class _Outcome:
    """What came of playing a counterfactual: who violated what in which step, how far it got, and what went wrong."""

    violations: frozenset[tuple[str, str, int]]
    steps_played: int
    problem: str


@dataclass(frozen=True, slots=True)
class _Known:
    """What is known of the counterfactuals that a player has played: which they are, and what came of them."""

    counterfactuals: SharedPlays[History] = field(default_factory=SharedPlays)
    outcomes: SharedPlays[_Outcome] = field(default_factory=SharedPlays)


_PLAYED: WeakKeyDictionary[Player, _Known] = WeakKeyDictionary()


def _counterfactual(causes: Sequence[Cause], history: History, player: Player) -> History | None:
    """The history without the triggers of these causes: the beginning of one that is known, if that is possible."""
    known = _PLAYED.setdefault(player, _Known()).counterfactuals
    how = tuple(cause.id for cause in causes)
    longer = known.find(history, how, lambda original, other: len(other.steps) == len(original.steps))
    if longer is not None:
        original, found = longer
        whole = len(original.steps) == len(history.steps)
        return found if whole else replace(found, steps=found.steps[: len(history.steps)])
    made = counterfactual_of(causes, history)
    if made is not None:
        known.keep(history, how, made)
    return made


def _outcome_of(history: History, setup: Setup, player: Player, *, reads: bool) -> _Outcome:
    """What came of a history. A player plays it once: sightings of one history have the same counterfactual.

    How a race or a crash ends may vary, so only the same history answers for it.
    """
    known = _PLAYED.setdefault(player, _Known()).outcomes
    specs = tuple(sorted(setup.specs.items()))
    how = (setup.suite, setup.engines, specs, setup.processes, setup.overlap, reads)
    steady = setup.suite not in {CRASHES, RACES}
    found = known.find(history, how, lambda _, outcome: steady and not outcome.problem)
    if found is None:
        outcome = _outcome(player.play(history, setup, reads=reads))
        known.keep(history, how, outcome)
        return outcome
    return found[1]


def _outcome(played: Playthrough) -> _Outcome:
    problem = ""
    if played.error is not None:
        problem = f"the harness failed: {played.error.strip().splitlines()[-1]}"
    elif played.failures:
        problem = f"the schedule could not be followed: {played.failures[0]}"
    violations = frozenset(
        (EngineId.parse(result.observation.engine).name, violation.requirement, result.observation.step)
        for result in played.results
        for violation in result.violations
    )
    return _Outcome(violations, played.steps_played, problem)
