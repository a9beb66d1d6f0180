"""Sightings become findings: what triage said of each sighting, applied to the violations of a run.

A sighting that nobody triaged is a finding of its own. Those with one fingerprint, and so with one cause or one minimal
history, are one finding.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from conformance.events.types import FindingFound, FindingTriaged
from conformance.reporting.results import FindingResult

Key = tuple[Path, str, str]


@dataclass(slots=True)
class _Sighting:
    """One sighting of one run: its first violation that the engine promised not to commit, and how many there were.

    `histories` are those that have it, by run, suite, chunk and number.
    """

    event: FindingFound
    home: Path
    times: int = 0
    histories: set[tuple[Path, str, int, int]] = field(default_factory=set)


class Sightings:
    """Takes the violations and the results of triage, in any order."""

    def __init__(self) -> None:
        self._sightings: dict[Key, _Sighting] = {}
        self._triaged: dict[Key, FindingTriaged] = {}

    def add(self, event: FindingFound, home: Path) -> None:
        """Take a violation of the run in a folder."""
        sighting = self._sightings.setdefault(_key(event, home), _Sighting(event, home))
        sighting.times += 1
        sighting.histories.add((home, event.suite, event.chunk, event.history))
        if event.fresh and not sighting.event.fresh:
            sighting.event = event

    def triaged(self, event: FindingTriaged, home: Path) -> None:
        """Take what triage said of a sighting. The last word counts."""
        self._triaged[home, event.sighting, event.engine] = event

    def resolved(self, event: FindingFound, home: Path) -> FindingFound:
        """The violation with the fingerprint, the state and the cause that triage gave its sighting."""
        triaged = self._triaged.get(_key(event, home))
        if triaged is None:
            return event
        return replace(
            event,
            fingerprint=triaged.fingerprint,
            state=triaged.state,
            known=triaged.state == "known",
            cause=triaged.cause,
        )

    def findings(self) -> Iterator[FindingResult]:
        """The findings, in the order in which they were seen first."""
        groups: dict[tuple[str, str], list[FindingResult]] = {}
        histories: dict[tuple[str, str], set[tuple[Path, str, int, int]]] = {}
        for key, sighting in self._sightings.items():
            result = self._result(sighting, self._triaged.get(key))
            finding = (result.event.fingerprint, result.event.engine)
            groups.setdefault(finding, []).append(result)
            histories.setdefault(finding, set()).update(sighting.histories)
        for finding, group in groups.items():
            yield replace(_merged(group), histories=len(histories[finding]))

    def _result(self, sighting: _Sighting, triaged: FindingTriaged | None) -> FindingResult:
        event = self.resolved(sighting.event, sighting.home)
        if triaged is None:
            return FindingResult(event, sighting.times, sighting.home, requirements=(event.requirement,))
        named = replace(
            event,
            requirement=triaged.requirement,
            strength=triaged.strength,
            detail=triaged.detail,
            folder=triaged.folder,
            steps=triaged.steps or event.steps,
            step=event.step if triaged.step is None else triaged.step,
        )
        return FindingResult(
            named,
            sighting.times,
            sighting.home,
            requirements=tuple(dict.fromkeys((*triaged.requirements, event.requirement))),
            minimal_steps=triaged.minimal_steps,
            reproduced=triaged.reproduced,
            shrunk=triaged.shrunk,
            why=triaged.why,
            summary=triaged.summary,
        )


def _key(event: FindingFound, home: Path) -> Key:
    return (home, event.fingerprint, event.engine)


def _merged(group: list[FindingResult]) -> FindingResult:
    """One finding of several sightings: a new one speaks for them, then the one with the smallest history."""
    first = min(
        group,
        key=lambda result: (
            not result.event.fresh,
            result.minimal_steps or result.event.steps,
            result.event.steps,
        ),
    )
    return replace(
        first,
        times=sum(result.times for result in group),
        sightings=len(group),
        requirements=tuple(sorted({requirement for result in group for requirement in result.requirements})),
    )
