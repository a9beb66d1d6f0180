"""The recorder of findings: it writes the folder of a sighting and makes the event that reports it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from conformance._version import harness_version
from conformance.events.types import FindingFound
from conformance.findings.candidates import candidate_causes, needs_counterfactual
from conformance.findings.fingerprint import key_of, sighting_id
from conformance.findings.readme import readme_of
from conformance.findings.scripts import issue_for, scripts_for
from conformance.findings.storage import SIGHTINGS, Finding, write_finding
from conformance.findings.text import operation_text, timeline_lines
from conformance.histories import History
from conformance.observations.observation import Observation
from delta_adapters.deviations import Cause, all_causes
from delta_adapters.engine_id import EngineId
from delta_adapters.registry import KNOWN
from delta_models.operations import Interleave
from delta_models.requirements import BY_ID, Violation


@dataclass(frozen=True, slots=True)
class FindingContext:
    """A violation with the history, the step and the engines that it occurred with.

    `number` is the history's number in its chunk. `specs` maps each engine at the table to the spec that starts it
    again. `kept` says that the history is a kept one, which is played by the rules of the suite that it names.
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
    kept: bool = False


class FindingRecorder:
    """Records the sightings of a run while its histories are played, below `folder / SIGHTINGS`.

    Violations that are alike are one sighting: they have the same key, and the same causes predict them. Where exact
    predictions alone decide, the requirement and the causes make them alike, whatever else the key says. The folder
    holds the shortest history that showed it. `causes` are those that may explain a violation.
    """

    def __init__(self, folder: Path, causes: Sequence[Cause] | None = None) -> None:
        self._root = folder / SIGHTINGS
        self._causes = all_causes() if causes is None else causes
        self._kept: dict[str, int] = {}  # the step at which the kept history of a sighting fails

    def record(self, context: FindingContext) -> FindingFound:
        """Write the sighting's folder, unless it has a history as short; return the event that reports it."""
        observation, violation, history = context.observation, context.violation, context.history
        requirement = BY_ID[violation.requirement]
        key = key_of(observation, violation)
        candidates = candidate_causes(observation, violation, history, self._causes)
        told = self._told(candidates)
        sighting = sighting_id(key, observation.engine, candidates, told)
        if observation.step < self._kept.get(sighting, observation.step + 1):
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
                slots=dict(context.slots),
                versions={"harness": harness_version(), **context.specs},
                look=violation.read,
                processes=context.processes,
                timeline=_timeline(observation),
                fingerprint=sighting,
                state="unexplained",
                requirements=(requirement.id,),
                sighting=sighting,
                candidates=candidates,
                told=told,
            )
            keep_finding(
                self._root,
                finding,
                observation.folder,
                observation.before.version if observation.before else None,
                self._causes,
            )
            self._kept[sighting] = observation.step
        return FindingFound(
            fingerprint=sighting, requirement=requirement.id, strength=requirement.strength,
            engine=observation.engine, role=requirement.role, suite=history.suite, detail=violation.detail,
            steps=len(history.steps), step=observation.step, folder=f"{SIGHTINGS}/{sighting}",
            where=violation.where, chunk=history.chunk, history=context.number,
            with_engines=context.with_engines, features=context.features, processes=context.processes,
            promised=context.promised, state="unexplained", candidates=candidates,
            dear=any(map(_on_jvm, context.specs)), kept=context.kept, told=bool(told) and told == candidates,
        )  # fmt: skip

    def _told(self, candidates: Sequence[str]) -> tuple[str, ...]:
        """The candidates whose exact predictions alone decide."""
        return tuple(
            cause.id for cause in self._causes if cause.id in candidates and not needs_counterfactual(cause)
        )


def keep_finding(
    root: Path,
    finding: Finding,
    table: Path | None = None,
    version: int | None = None,
    causes: Sequence[Cause] | None = None,
) -> Path:
    """Write a finding with its scripts and its README below `root`; return its folder, as `write_finding` does."""
    return write_finding(root, finding, parts_of(finding, causes), table, version)


def parts_of(finding: Finding, causes: Sequence[Cause] | None = None) -> dict[str, str]:
    """The texts of a finding's folder by file name: its script, its issue and its README.

    Without `causes` the project's own count.
    """
    scripts = scripts_for(finding, causes)
    (script,) = scripts.values()
    issue = issue_for(finding, script, causes)
    return {**scripts, "issue.md": issue, "README.md": readme_of(finding, tuple(scripts))}


def _timeline(observation: Observation) -> tuple[str, ...]:
    """The lines that say which writer passed which gate, if the step was a race."""
    if observation.race is None or not isinstance(observation.operation, Interleave):
        return ()
    return tuple(timeline_lines(observation.operation, observation.race.timeline))


def _on_jvm(engine: str) -> bool:
    known = KNOWN.get(EngineId.parse(engine).name)
    return known is not None and known.java
