"""What `conformance shrink` does: makes the history of a kept finding smaller, and writes it into the finding's folder.

Next to `history.json`, the original, the folder then has `minimal.json`, and `shrink.json`, with which a later call
goes on.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from conformance.execution.step_result import StepResult
from conformance.findings.candidates import candidate_causes
from conformance.findings.recorder import parts_of
from conformance.findings.storage import MINIMAL, Finding, load_finding, update_finding
from conformance.histories import History
from conformance.triage.canonical import fingerprint_of
from conformance.triage.replayer import Replayer, Setup
from conformance.triage.shrink import Progress, Shrinker, Shrunk, Unwanted
from conformance.triage.without_triggers import without_triggers
from delta_adapters.deviations import Cause, all_causes
from delta_models.requirements import Violation

STATE = "shrink.json"


@dataclass(frozen=True, slots=True)
class ShrinkResult:
    """What became of a finding: its history before and after, in words for people too.

    `shrunk` is False where the violation did not show again. `stopped` says that the user ended it before its end.
    """

    finding: Finding
    shrunk: Shrunk
    seconds: float
    minimal: Path
    stopped: bool = False

    @property
    def text(self) -> str:
        """One line for people."""
        finding, shrunk = self.finding, self.shrunk
        name = f"{finding.fingerprint} ({finding.engine}, {finding.key.requirement})"
        if not shrunk.reproduced:
            return f"{name} was not shrunk: {shrunk.why}"
        before, after = _steps(len(finding.history.steps)), _steps(len(shrunk.history.steps))
        tries = f"{shrunk.steps_tried} {'try' if shrunk.steps_tried == 1 else 'tries'}"
        line = f"{name}: {before} -> {after}, {tries}, {self.seconds:.0f} s: {self.minimal}"
        if shrunk.complete:
            requirement = shrunk.requirements[0]
            fingerprint = fingerprint_of(finding.key.engine, requirement, shrunk.history)
            return f"{line}\n  Nothing smaller fails in this way. Its fingerprint is {fingerprint}."
        why = "It was stopped" if self.stopped else "Its time is over"
        return f"{line}\n  {why} before all was tried. The same command goes on from here."


def shrink_finding(
    folder: Path,
    replayer: Replayer,
    seconds: float,
    on_progress: Callable[[Progress], object] = lambda _: None,
    causes: Sequence[Cause] | None = None,
) -> ShrinkResult:
    """Make the history of a finding smaller, for so many seconds at most, and write what was reached into its folder.

    Without `causes` the project's own are known. An interrupt ends it, and what was reached is written too. Raises
    CannotRun and FindingError.
    """
    finding = load_finding(folder)
    causes = all_causes() if causes is None else causes
    folder = folder if folder.is_dir() else folder.parent
    replayer.start(Setup.of(finding))
    began = time.monotonic()  # a JVM may take longer to start than all plays
    known = finding.cause is not None or finding.known
    begun = finding if known else without_triggers(finding, causes, replayer)
    shrinker = Shrinker(
        begun,
        replayer,
        deadline=began + seconds,
        on_progress=on_progress,
        state=folder / STATE,
        unwanted=_of_another_cause(begun, causes),
    )
    stopped = False
    try:
        shrinker.run()
    except KeyboardInterrupt:
        stopped = True
    shrunk = shrinker.result()
    if shrunk.reproduced:
        smaller = with_minimal(finding, shrunk)
        update_finding(folder, smaller, parts_of(smaller, causes))
    return ShrinkResult(finding, shrunk, time.monotonic() - began, folder / MINIMAL, stopped)


def with_minimal(finding: Finding, shrunk: Shrunk) -> Finding:
    """The finding with its minimal history. It keeps its name and its state, for reports name it by them."""
    return replace(
        finding,
        state=finding.state or ("known" if finding.known else "unexplained"),
        reproduced=True,
        minimal=shrunk.history,
        minimal_step=shrunk.step,
        minimal_detail=shrunk.detail,
        requirements=shrunk.requirements,
    )


def _of_another_cause(finding: Finding, known: Sequence[Cause]) -> Unwanted:
    """Whether a cause predicts a violation that does not predict the finding: the history would become another one."""
    if not finding.sighting:
        return lambda *_: False  # its run did not note which causes predict it
    causes = [cause for cause in known if cause.id not in {*finding.candidates, finding.cause}]

    def unwanted(step_result: StepResult, violation: Violation, history: History) -> bool:
        return bool(candidate_causes(step_result.observation, violation, history, causes))

    return unwanted


def _steps(number: int) -> str:
    return "1 step" if number == 1 else f"{number} steps"
