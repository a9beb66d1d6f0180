"""Keeps what was found: the finding's folder, and the event that tells of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from conformance.events import FindingFound
from conformance.findings import Finding, keep_finding, known_deviation
from conformance.findings.fingerprint import key_of
from conformance.findings.story import operation_text, timeline_lines
from conformance.history import History
from conformance.observation import Observation
from conformance.version import harness_version
from delta_models.operations import Interleave
from delta_models.requirements import BY_ID, Breach


@dataclass(frozen=True, slots=True)
class Found:
    """A breach with all that is known of where it was seen.

    `number` is the history's in its chunk; `specs` maps the engines at the table to what starts them again.
    """

    history: History
    number: int
    seen: Observation
    breach: Breach
    slots: Mapping[str, str]
    specs: Mapping[str, str]
    with_engines: tuple[str, ...] = ()
    features: tuple[str, ...] = ()
    processes: str = "one"
    promised: bool = True


class Keeper:
    """Writes findings under a run's folder; `known` are the fingerprints of its baseline."""

    def __init__(self, folder: Path, known: frozenset[str] = frozenset()) -> None:
        self._root = folder / "findings"
        self._known = known
        self._kept: dict[str, tuple[bool, int]] = {}  # whether it was known, and its step

    def keep(self, found: Found) -> FindingFound:
        """Write the finding's folder, unless a history as short is kept already, and say what to tell."""
        seen, breach, requirement = found.seen, found.breach, BY_ID[found.breach.requirement]
        key = key_of(seen, breach)
        version = seen.engine.partition("@")[2]
        deviation = known_deviation(key, version or None, found.history)
        known = deviation is not None or key.fingerprint in self._known
        finding = Finding(
            key=key,
            strength=requirement.strength,
            engine=seen.engine,
            role=requirement.role,
            step=seen.step,
            action=operation_text(seen.operation),
            detail=breach.detail,
            history=found.history,
            where=breach.where,
            known=known,
            slots=dict(found.slots),
            versions={"harness": harness_version(), **found.specs},
            look=breach.read,
            processes=found.processes,
            timeline=_timeline(seen),
        )
        this = (known, seen.step)  # what is news stands before what is known, whatever came first
        if this < self._kept.get(finding.fingerprint, (True, seen.step + 1)):
            keep_finding(self._root, finding, seen.folder, seen.before.version if seen.before else None)
            self._kept[finding.fingerprint] = this
        return FindingFound(
            fingerprint=finding.fingerprint, requirement=requirement.id, strength=requirement.strength,
            engine=seen.engine, role=requirement.role, suite=found.history.suite, detail=breach.detail,
            steps=len(found.history.steps), step=seen.step, folder=f"findings/{finding.fingerprint}", known=known,
            deviation=deviation, where=breach.where, chunk=found.history.chunk, history=found.number,
            with_engines=found.with_engines, features=found.features, processes=found.processes,
            promised=found.promised,
        )  # fmt: skip


def _timeline(seen: Observation) -> tuple[str, ...]:
    """Who was let through which gate, where the step was a race."""
    if seen.race is None or not isinstance(seen.operation, Interleave):
        return ()
    return tuple(timeline_lines(seen.operation, seen.race.timeline))
