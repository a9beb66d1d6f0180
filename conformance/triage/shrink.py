"""Makes the history of a finding smaller for as long as it still fails in the same way.

    shrunk = shrink(finding, replayer, deadline=time.monotonic() + 60)

A candidate is first played on the model, which costs nothing and turns away what is no history, or what asks for
refusals that the original does not ask for. What is left is played on the engine, at a table of its own. What a
candidate keeps is the class of the difference (`differences`), not the requirement alone.

The reads that a run adds to the steps depend on a step's number, so they would change with every step that is dropped.
They are made steps first, and then dropped like all others.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from conformance.execution.step_result import StepResult
from conformance.findings.fingerprint import key_of
from conformance.findings.storage import Finding
from conformance.histories import History
from conformance.triage.canonical import principal
from conformance.triage.differences import DifferenceClass, class_of
from conformance.triage.explicit_reads import explicit_forms
from conformance.triage.model_play import play_on_model
from conformance.triage.reductions import REDUCTIONS, Reduction
from conformance.triage.reductions.steps import short_pasts
from conformance.triage.replayer import CRASHES, RACES, Playthrough, Setup, Until
from conformance.triage.shrink_state import ShrinkState, digest_of
from delta_adapters.engine_id import EngineId
from delta_models.requirements import Violation

PAUSE = 2.0  # seconds after which the state is written again, if nothing smaller was found
CONFIRMATIONS = 3
RECENT = 3
OVERTIME, FIRST_OVERTIME = 2.0, 10.0  # seconds beyond the deadline after which a play is cut off
SHORT = 4  # candidates with a short past that are tried before the whole history is played again

Unwanted = Callable[[StepResult, Violation, History], bool]


class Player(Protocol):
    """Plays histories; a `Replayer` does."""

    def play(
        self, history: History, setup: Setup, *, until: Until | None = None, deadline: float | None = None
    ) -> Playthrough:
        """Play a history up to the violation that `until` waits for."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a shrinker is: the steps of the smallest history so far, the plays, and the seconds that are left."""

    steps: int
    tries: int
    left: float


@dataclass(frozen=True, slots=True)
class Shrunk:
    """The smallest history that was found, and how it fails.

    `requirements` are all that it violates in its last step, the principal one first; `step`, `detail` and `difference`
    are those of the violation that was followed. `complete` says that nothing smaller fails, as far as was tried. If it
    was not `reproduced`, the history is the original, and `why` says what happened in place of the violation.
    """

    history: History
    step: int
    detail: str
    requirements: tuple[str, ...]
    steps_tried: int
    complete: bool
    reproduced: bool = True
    why: str = ""
    difference: DifferenceClass | None = None


@dataclass(frozen=True, slots=True)
class _Shown:
    """A history that fails in the way that is wanted, with the result of its last step."""

    history: History
    step: int
    detail: str
    requirements: tuple[str, ...]


def shrink(
    finding: Finding,
    replayer: Player,
    *,
    deadline: float,
    on_progress: Callable[[Progress], object] = lambda _: None,
    state: Path | None = None,
    unwanted: Unwanted = lambda *_: False,
) -> Shrunk:
    """Make a finding's history smaller, until nothing smaller fails or the time of the monotonic clock is over.

    With `state` it goes on where an earlier call with the same file stopped. A violation that is
    `unwanted`, as one of a known cause is, does not count. Raises CannotRun.
    """
    shrinker = Shrinker(
        finding, replayer, deadline=deadline, on_progress=on_progress, state=state, unwanted=unwanted
    )
    shrinker.run()
    return shrinker.result()


class _TimeOver(Exception):
    """There is no time for another play."""


class Shrinker:
    """One finding that is made smaller. `result` may be asked at any time, also after an interrupt."""

    def __init__(
        self,
        finding: Finding,
        replayer: Player,
        *,
        deadline: float,
        on_progress: Callable[[Progress], object] = lambda _: None,
        state: Path | None = None,
        unwanted: Unwanted = lambda *_: False,
    ) -> None:
        self._finding = finding
        self._replayer = replayer
        self._deadline = deadline
        self._on_progress = on_progress
        self._state = ShrinkState.load(state, finding)
        self._unwanted = unwanted
        self._engine_name = EngineId.parse(finding.engine).name
        self._target = self._state.difference
        self._best: list[_Shown] = []  # the smallest last
        self._why = ""
        self._written = 0.0
        self._lately: deque[float] = deque(maxlen=RECENT)  # the seconds of the last plays
        self._original = play_on_model(finding.history.steps[: finding.step + 1])
        if self._state.history is not None:
            self._best.append(
                _Shown(self._state.history, self._state.step, self._state.detail, self._state.requirements)
            )

    def run(self) -> None:
        """Make the history smaller, until nothing smaller fails or the time is over. Raises CannotRun."""
        if self._state.complete:
            return
        try:
            if not self._best and not self._reproduce():
                return
            while self._round():
                pass
            self._confirm()
            self._state.complete = True
        except _TimeOver:
            self._confirm_if_unsteady()
        finally:
            self._save(force=True)

    def result(self) -> Shrunk:
        """The smallest history so far."""
        finding, tries = self._finding, self._state.tries
        if not self._best:
            return Shrunk(
                finding.history, finding.step, finding.detail, (finding.key.requirement,), tries,
                complete=False, reproduced=False, why=self._why or "there was no time to play it again",
            )  # fmt: skip
        best = self._best[-1]
        return Shrunk(
            best.history, best.step, best.detail, best.requirements, tries,
            complete=self._state.complete, difference=self._target,
        )  # fmt: skip

    # The beginning: play it again, and make its reads steps

    def _reproduce(self) -> bool:
        """Play the history as it was recorded; returns whether it fails in the same way."""
        finding = self._finding
        playthrough = self._play(finding.history, self._is_the_violation)
        found = [
            (step_result, violation)
            for step_result, violation in playthrough.violations(self._engine_name)
            if violation.requirement == finding.key.requirement
        ]
        found.sort(key=lambda pair: not self._is_the_violation(*pair))
        if not found:
            if playthrough.steps_played <= finding.step and time.monotonic() >= self._deadline:
                raise _TimeOver
            self._why = _what_happened(playthrough)
            return False
        step_result, violation = found[0]
        self._target = self._state.difference = class_of(step_result, violation)
        shown = self._shown(finding.history, playthrough, step_result, violation)
        if finding.suite in {CRASHES, RACES}:  # no reads are added there
            shown = replace(shown, history=replace(shown.history, explicit_reads=True))
        self._best.append(shown)
        self._make_reads_steps(list(explicit_forms(shown.history, step_result, violation, playthrough)))
        # Not before: a call that goes on from here makes no reads steps any more.
        self._remember(self._best[-1])
        return True

    def _make_reads_steps(self, forms: Sequence[History]) -> None:
        """Take the first form of the history that fails; a form with a short past is played long before a whole one."""
        for form in forms:
            candidates = short_pasts(form)
            for _ in range(SHORT):
                short = next(candidates, None)
                if short is not None and self._try(short) is not None:
                    return
        for form in forms:
            if self._try(form) is not None:
                return

    def _is_the_violation(self, step_result: StepResult, violation: Violation) -> bool:
        return key_of(step_result.observation, violation) == self._finding.key

    # The rounds

    def _round(self) -> bool:
        """Try all reductions once; returns whether one of them found something smaller."""
        before = self._best[-1].history
        for reduction in REDUCTIONS.values():
            self._reduce(reduction)
        return self._best[-1].history is not before

    def _reduce(self, reduction: Reduction) -> None:
        candidates = reduction(self._best[-1].history)
        taken: History | None = None
        try:
            candidate = next(candidates)
            while True:
                taken = self._try(candidate)
                candidate = candidates.send(taken)
        except StopIteration:
            return

    def _try(self, candidate: History) -> History | None:
        """Play a candidate; returns what of it is kept if it fails in the wanted way, else None."""
        if not candidate.steps or candidate == self._best[-1].history:
            return None
        digest = digest_of(candidate)
        if digest in self._state.tried:
            return None
        if not self._is_legal(candidate):
            return None
        playthrough = self._play(candidate, self._is_wanted)
        self._state.tried.add(digest)
        for step_result, violation in playthrough.violations(self._engine_name):
            if self._is_wanted(step_result, violation, candidate):
                shown = self._shown(candidate, playthrough, step_result, violation)
                self._take(shown)
                return shown.history
        self._save()
        return None

    def _is_legal(self, candidate: History) -> bool:
        if self._original is None:
            return True  # the model can't play the original either
        played = play_on_model(candidate.steps)
        return played is not None and played.is_legal_beside(self._original)

    def _is_wanted(
        self, step_result: StepResult, violation: Violation, candidate: History | None = None
    ) -> bool:
        if self._target is None or not self._target.covers(class_of(step_result, violation)):
            return False
        if candidate is None:
            return True
        so_far = replace(candidate, steps=candidate.steps[: step_result.observation.step + 1])
        return not self._unwanted(step_result, violation, so_far)

    def _play(self, history: History, until: Callable[[StepResult, Violation], bool]) -> Playthrough:
        began = time.monotonic()
        if self._state.tries and began + max(self._lately, default=0.0) / 2 >= self._deadline:
            raise _TimeOver
        self._state.tries += 1
        playthrough = self._replayer.play(
            history,
            Setup.of(self._finding, history),
            until=until,
            deadline=self._deadline + (OVERTIME if self._best else FIRST_OVERTIME),
        )
        self._lately.append(time.monotonic() - began)
        steps = len(self._best[-1].history.steps) if self._best else len(history.steps)
        self._on_progress(Progress(steps, self._state.tries, max(0.0, self._deadline - time.monotonic())))
        return playthrough

    def _shown(
        self, history: History, playthrough: Playthrough, step_result: StepResult, violation: Violation
    ) -> _Shown:
        step = step_result.observation.step
        broken = {
            other.requirement
            for result, other in playthrough.violations(self._engine_name)
            if result.observation.step == step and not self._unwanted(result, other, history)
        }
        requirements = principal({*broken, violation.requirement})
        kept = replace(history, steps=history.steps[: step + 1] or history.steps)
        return _Shown(kept, step, violation.detail, requirements)

    def _take(self, shown: _Shown) -> None:
        self._best.append(shown)
        self._remember(shown)
        self._save(force=True)

    def _remember(self, shown: _Shown) -> None:
        self._state.keep(shown.history, shown.step, shown.detail, shown.requirements)

    def _save(self, *, force: bool = False) -> None:
        now = time.monotonic()
        if force or now - self._written >= PAUSE:
            self._state.save()
            self._written = now

    # The end: what depends on an order of events is played once more

    def _confirm_if_unsteady(self) -> None:
        if self._best and self._finding.suite in {CRASHES, RACES}:
            self._deadline += 2 * max(self._lately, default=0.0)
            try:
                self._confirm()
            except _TimeOver:
                return

    def _confirm(self) -> None:
        """Go back to the history before as long as the smallest one does not fail again."""
        for _ in range(CONFIRMATIONS):
            best = self._best[-1]
            playthrough = self._play(best.history, self._is_wanted)
            if any(
                self._is_wanted(step_result, violation, best.history)
                for step_result, violation in playthrough.violations(self._engine_name)
            ):
                return
            if len(self._best) == 1:
                return
            self._best.pop()
            self._remember(self._best[-1])


def _what_happened(playthrough: Playthrough) -> str:
    if playthrough.error is not None:
        return f"it can't be played again, the harness failed: {playthrough.error.strip().splitlines()[-1]}"
    if playthrough.failures:
        return f"its schedule could not be followed: {playthrough.failures[0]}"
    return f"it does not show again, its {playthrough.steps_played} steps hold"
