"""The recorder of findings: it writes the folder of a finding and makes the event that reports it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from conformance._version import harness_version
from conformance.events.types import FindingFound
from conformance.findings.candidates import candidate_causes
from conformance.findings.fingerprint import key_of
from conformance.findings.readme import readme_of
from conformance.findings.scripts import scripts_for
from conformance.findings.storage import Finding, write_finding
from conformance.findings.text import operation_text, timeline_lines
from conformance.histories import History
from conformance.observations.observation import Observation
from delta_adapters.deviations import Cause, all_causes
from delta_models.operations import Interleave
from delta_models.requirements import BY_ID, Violation


@dataclass(frozen=True, slots=True)
class FindingContext:
    """A violation with the history, the step and the engines that it occurred with.

    `number` is the history's number in its chunk. `specs` maps each engine at the table to the spec that starts it
    again.
    """

    history: History
    number: int
    observation: Observation
    violation: Violation
    slots: Mapping[str, str]
    specs: Mapping[str, str]
    with_engines: tuple[str, ...] = ()
    features: tuple[str, ...] = ()
    processes: str = "one"
    promised: bool = True


class FindingRecorder:
    """Writes the findings of a run below its folder, each once.

    `known` are the fingerprints of the baseline, `causes` those that may explain a violation.
    """

    def __init__(
        self, folder: Path, known: frozenset[str] = frozenset(), causes: Sequence[Cause] | None = None
    ) -> None:
        self._root = folder / "findings"
        self._known = known
        self._causes = all_causes() if causes is None else causes
        self._kept: dict[str, tuple[bool, int]] = {}  # whether it was known, and its step

    def record(self, context: FindingContext) -> FindingFound:
        """Write the finding's folder and return the event that reports it.

        A folder with a history as short stays; but a new finding replaces a known one of the same fingerprint.
        """
        observation, violation, history = context.observation, context.violation, context.history
        requirement = BY_ID[violation.requirement]
        key = key_of(observation, violation)
        candidates = candidate_causes(observation, violation, history, self._causes)
        known = bool(candidates) or key.fingerprint in self._known
        finding = Finding(
            key=key,
            strength=requirement.strength,
            engine=observation.engine,
            role=requirement.role,
            step=observation.step,
            action=operation_text(observation.operation),
            detail=violation.detail,
            history=history,
            where=violation.where,
            known=known,
            slots=dict(context.slots),
            versions={"harness": harness_version(), **context.specs},
            look=violation.read,
            processes=context.processes,
            timeline=_timeline(observation),
        )
        rank = (known, observation.step)  # the lower one stays: new before known, then the shorter history
        if rank < self._kept.get(finding.fingerprint, (True, observation.step + 1)):
            version = observation.before.version if observation.before else None
            keep_finding(self._root, finding, observation.folder, version)
            self._kept[finding.fingerprint] = rank
        return FindingFound(
            fingerprint=finding.fingerprint, requirement=requirement.id, strength=requirement.strength,
            engine=observation.engine, role=requirement.role, suite=history.suite, detail=violation.detail,
            steps=len(history.steps), step=observation.step, folder=f"findings/{finding.fingerprint}", known=known,
            cause=next(iter(candidates), None), where=violation.where, chunk=history.chunk, history=context.number,
            with_engines=context.with_engines, features=context.features, processes=context.processes,
            promised=context.promised,
        )  # fmt: skip


def keep_finding(root: Path, finding: Finding, table: Path | None = None, version: int | None = None) -> Path:
    """Write a finding with its scripts and its README below `root`; return its folder, as `write_finding` does."""
    scripts = scripts_for(finding)
    parts = {**scripts, "README.md": readme_of(finding, tuple(scripts))}
    return write_finding(root, finding, parts, table, version)


def _timeline(observation: Observation) -> tuple[str, ...]:
    """The lines that say which writer passed which gate, if the step was a race."""
    if observation.race is None or not isinstance(observation.operation, Interleave):
        return ()
    return tuple(timeline_lines(observation.operation, observation.race.timeline))
