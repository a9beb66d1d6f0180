"""A head start for shrinking: what looks like a minimal history of the run already is tried at once.

Many sightings of a run have one fault. The first is made minimal step by step. Of the next, the few steps that have the
operations of that minimal history are taken first. They are the sighting's own steps, and they count only if they fail
in the same way as the whole. So another fault never passes for the first one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from conformance.execution.step_result import StepResult
from conformance.findings.fingerprint import key_of
from conformance.findings.storage import Finding, FindingError, load_finding
from conformance.histories import History, Step
from conformance.triage.differences import class_of
from conformance.triage.references import without
from conformance.triage.replayer import Replayer, Setup
from delta_models.requirements import Violation
from delta_models.wire_names import name_of

MOST = 4  # shapes that are tried

Shape = tuple[str, ...]


def head_start(finding: Finding, findings: Path, replayer: Replayer) -> Finding:
    """The finding in the few steps that have a shape of the run's findings; as it is if these don't fail alike.

    Raises CannotRun.
    """
    candidates = list(_candidates(finding, list(_shapes(finding, findings))))
    if not candidates:
        return finding
    played = replayer.play(finding.history, Setup.of(finding), until=_is(finding))
    shown = [found for found in played.violations(finding.key.engine) if _is(finding)(*found)]
    if not shown:
        return finding
    target = class_of(*shown[0])
    for history in candidates:
        played = replayer.play(history, Setup.of(finding, history))
        for result, violation in played.violations(finding.key.engine):
            if result.observation.step == len(history.steps) - 1 and class_of(result, violation) == target:
                return replace(
                    finding,
                    key=key_of(result.observation, violation),
                    history=history,
                    step=result.observation.step,
                    detail=violation.detail,
                    look=violation.read,
                )
    return finding


def _shapes(finding: Finding, findings: Path) -> Iterator[Shape]:
    """The operations of the minimal histories that the run has for this engine and requirement."""
    for folder in sorted(findings.glob("*/")):
        try:
            other = load_finding(folder)
        except FindingError:
            continue  # another worker is writing it
        if (
            other.minimal is not None
            and other.cause is None
            and other.key.engine == finding.key.engine
            and finding.key.requirement in other.requirements
        ):
            yield tuple(name_of(step.operation) for step in other.minimal.steps)


def _candidates(finding: Finding, shapes: Sequence[Shape]) -> Iterator[History]:
    steps = finding.history.steps[: finding.step + 1]
    for shape in list(dict.fromkeys(shapes))[:MOST]:
        kept = places(shape, steps)
        if kept is None or len(kept) == len(steps):
            continue
        fewer = without(steps, set(range(len(steps))) - kept)
        if fewer is not None:
            yield replace(finding.history, steps=fewer)


def places(shape: Shape, steps: Sequence[Step]) -> set[int] | None:
    """The latest steps with these operations in this order, of which the last ends it; None if there are none."""
    kept: set[int] = set()
    number = len(steps)
    for name in reversed(shape):
        number -= 1
        while number >= 0 and name_of(steps[number].operation) != name:
            if not kept:
                return None  # it ends with another operation
            number -= 1
        if number < 0:
            return None
        kept.add(number)
    return kept


def _is(finding: Finding) -> Callable[[StepResult, Violation], bool]:
    def is_it(result: StepResult, violation: Violation) -> bool:
        return key_of(result.observation, violation) == finding.key

    return is_it
