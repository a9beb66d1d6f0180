"""Keeps what was found: the finding's folder, and the event that tells of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from conformance._version import harness_version
from conformance.events.types import FindingFound
from conformance.findings import Finding, keep_finding, known_deviation
from conformance.findings.fingerprint import key_of
from conformance.findings.text import operation_text, timeline_lines
from conformance.histories import History
from conformance.observations.observation import Observation
from delta_adapters.engine_id import EngineId
from delta_models.operations import Interleave
from delta_models.requirements import BY_ID, Violation


@dataclass(frozen=True, slots=True)
class FindingContext:
    """A breach with all that is known of where it was seen.

    `number` is the history's in its chunk; `specs` maps the engines at the table to what starts them again.
    """

    history: History
    number: int
    seen: Observation
    violation: Violation
    slots: Mapping[str, str]
    specs: Mapping[str, str]
    with_engines: tuple[str, ...] = ()
    features: tuple[str, ...] = ()
    processes: str = "one"
    promised: bool = True


class FindingRecorder:
    """Writes findings under a run's folder; `known` are the fingerprints of its baseline."""

    def __init__(self, folder: Path, known: frozenset[str] = frozenset()) -> None:
        self._root = folder / "findings"
        self._known = known
        self._kept: dict[str, tuple[bool, int]] = {}  # whether it was known, and its step

    def keep(self, found: FindingContext) -> FindingFound:
        """Write the finding's folder, unless a history as short is kept already, and say what to tell."""
        seen, violation, requirement = found.seen, found.violation, BY_ID[found.violation.requirement]
        key = key_of(seen, violation)
        deviation = known_deviation(key, EngineId.parse(seen.engine).version, found.history)
        known = deviation is not None or key.fingerprint in self._known
        finding = Finding(
            key=key,
            strength=requirement.strength,
            engine=seen.engine,
            role=requirement.role,
            step=seen.step,
            action=operation_text(seen.operation),
            detail=violation.detail,
            history=found.history,
            where=violation.where,
            known=known,
            slots=dict(found.slots),
            versions={"harness": harness_version(), **found.specs},
            look=violation.read,
            processes=found.processes,
            timeline=_timeline(seen),
        )
        this = (known, seen.step)  # what is news stands before what is known, whatever came first
        if this < self._kept.get(finding.fingerprint, (True, seen.step + 1)):
            keep_finding(self._root, finding, seen.folder, seen.before.version if seen.before else None)
            self._kept[finding.fingerprint] = this
        return FindingFound(
            fingerprint=finding.fingerprint, requirement=requirement.id, strength=requirement.strength,
            engine=seen.engine, role=requirement.role, suite=found.history.suite, detail=violation.detail,
            steps=len(found.history.steps), step=seen.step, folder=f"findings/{finding.fingerprint}", known=known,
            deviation=deviation, where=violation.where, chunk=found.history.chunk, history=found.number,
            with_engines=found.with_engines, features=found.features, processes=found.processes,
            promised=found.promised,
        )  # fmt: skip


def _timeline(observation: Observation) -> tuple[str, ...]:
    """Who was let through which gate, where the step was a race."""
    if observation.race is None or not isinstance(observation.operation, Interleave):
        return ()
    return tuple(timeline_lines(observation.operation, observation.race.timeline))
