"""The four steps from a sighting to a finding: reproduce, explain, shrink, identify.

`Triage.explain` does the first two, `Triage.shrink` the others for what no cause explains. What a prediction alone
decides is not played again. Both read the folder of a sighting, write the folder of the finding, and return the event
that reports it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from conformance.checks.registry import is_judged_without_reads
from conformance.events.types import FindingTriaged
from conformance.execution.step_result import StepResult
from conformance.findings.candidates import candidate_causes, needs_counterfactual
from conformance.findings.fingerprint import key_of, sighting_id
from conformance.findings.recorder import keep_finding
from conformance.findings.storage import FINDINGS, SIGHTINGS, Finding, load_finding, update_finding
from conformance.histories import History
from conformance.triage.canonical import cause_fingerprint, fingerprint_of
from conformance.triage.explain import explain
from conformance.triage.head_start import head_start
from conformance.triage.hosts import CannotRun
from conformance.triage.liveness import Liveness
from conformance.triage.replayer import CRASHES, RACES, Replayer, Setup
from conformance.triage.shared_plays import SharedPlays
from conformance.triage.shrink import Progress, Unwanted, shrink
from conformance.triage.shrink_command import STATE
from conformance.triage.without_triggers import up_to, without_triggers
from delta_adapters.deviations import Cause
from delta_models.requirements import BY_ID, Violation

PLAYS_OF_A_RACE = 3  # what hangs on the order of processes may need more than one play to show again


@dataclass(frozen=True, slots=True)
class Triage:
    """What the steps need: the run's folder, a player, the causes, and the fingerprints of the baseline."""

    folder: Path
    replayer: Replayer
    causes: Sequence[Cause]
    liveness: Liveness
    known: frozenset[str] = frozenset()
    _shown: SharedPlays[frozenset[tuple[int, str]]] = field(default_factory=SharedPlays)

    def explain(self, sighting: str) -> FindingTriaged:
        """Reproduce a sighting and explain it by a cause.

        What shows again without a cause stays unexplained: it is for `shrink`. Raises FindingError and OSError.
        """
        finding = load_finding(self.folder / SIGHTINGS / sighting)
        candidates = self._named(finding.candidates)
        try:
            by_prediction = [cause for cause in candidates if not needs_counterfactual(cause)]
            cause, how = self._explained(finding, by_prediction)
            if cause is not None:
                return self._by_cause(finding, cause, how)
            reads = not self._shows_without_reads(finding)
            reproduced, why = self._reproduce(finding) if reads else (True, "")
            finding = replace(finding, reproduced=reproduced)
            if reproduced is None:
                return self._report(finding, why)
            if reproduced is False:
                # A cause that is unsteady may explain what did not show this time.
                candidates = tuple(cause for cause in candidates if cause.unsteady)
            cause, how = self._explained(finding, candidates, reads=reads)
            if cause is not None:
                return self._by_cause(finding, cause, how)
        except CannotRun as problem:
            return self._report(finding, str(problem))
        if reproduced is False:
            return self._report(self._keep(replace(finding, state="unstable")), why)
        return self._report(finding, how)

    def shrink(
        self, sighting: str, deadline: float, on_progress: Callable[[Progress], object]
    ) -> FindingTriaged:
        """Make the history of a sighting as small as it gets until the deadline, and identify it.

        If it is minimal, a cause may explain it that the longer history hid; else it is new, or the baseline has it. If
        the time is over before, it stays unexplained, and `conformance shrink` goes on. Raises FindingError and
        OSError.
        """
        folder = self.folder / SIGHTINGS / sighting
        finding = load_finding(folder)
        try:
            begun = without_triggers(finding, self.causes, self.replayer)
            shrunk = shrink(
                head_start(begun, self.folder / FINDINGS, self.replayer),
                self.replayer,
                deadline=deadline,
                on_progress=on_progress,
                state=folder / STATE,
                unwanted=self._of_another_cause(begun),
            )
            if not shrunk.reproduced:
                return self._report(replace(finding, reproduced=True), f"not made smaller: {shrunk.why}")
            finding = replace(
                finding,
                reproduced=True,
                minimal=shrunk.history,
                minimal_step=shrunk.step,
                minimal_detail=shrunk.detail,
                requirements=shrunk.requirements,
            )
            if not shrunk.complete:
                return self._report(self._keep(finding), "the time was over before the history was minimal")
            cause, why = self._hidden_cause(finding, shrunk.history)
        except CannotRun as problem:
            return self._report(finding, str(problem))
        if cause is not None:
            return self._by_cause(finding, cause, why)
        requirement = shrunk.requirements[0]
        fingerprint = fingerprint_of(finding.key.engine, requirement, shrunk.history)
        known = fingerprint in self.known
        finding = replace(
            finding,
            key=replace(finding.key, requirement=requirement),
            strength=_strength(requirement, finding),
            fingerprint=fingerprint,
            state="known" if known else "new",
            known=known,
        )
        return self._report(self._keep(finding), "in the baseline" if known else why, shrunk=True)

    def _shows_without_reads(self, finding: Finding) -> bool:
        """Whether the very same sighting shows if no engine is asked to read anything.

        Reads are most of what a play costs, and on a JVM a play takes seconds. If this is so, the counterfactuals are
        played without reads as well.
        """
        if finding.suite in {CRASHES, RACES} or not is_judged_without_reads(finding.key.requirement):
            return False
        history, setup = up_to(finding), Setup.of(finding)
        how = (setup.engines, tuple(sorted(setup.specs.items())))
        found = self._shown.find(history, how)
        shown = self._play_without_reads(history, setup) if found is None else found[1]
        if found is None:
            self._shown.keep(history, how, shown)
        return (finding.step, sighting_id(finding.key, finding.engine, finding.candidates)) in shown

    def _play_without_reads(self, history: History, setup: Setup) -> frozenset[tuple[int, str]]:
        """The steps and ids of the sightings that a history shows without reads; empty if it says nothing."""
        shown: dict[int, tuple[int, str]] = {}

        def note(step_result: StepResult, violation: Violation) -> bool:
            observation = step_result.observation
            if id(violation) not in shown:  # at once, because later steps may delete files
                names = candidate_causes(observation, violation, history, self.causes)
                name = sighting_id(key_of(observation, violation), observation.engine, names)
                shown[id(violation)] = observation.step, name
            return False

        played = self.replayer.play(history, setup, until=note, reads=False)
        for result in played.results:  # those of the last step
            for violation in result.violations:
                note(result, violation)
        return frozenset() if played.error is not None else frozenset(shown.values())

    def _reproduce(self, finding: Finding) -> tuple[bool | None, str]:
        """Whether the violation shows again, and why that is not known or not so.

        A race whose schedule can't be followed any more does not show again.
        """
        plays = PLAYS_OF_A_RACE if finding.suite in {CRASHES, RACES} else 1
        unfollowed: list[str] = []
        for _ in range(plays):
            played = self.replayer.play(finding.history, Setup.of(finding), until=_same_as(finding))
            if any(
                violation.requirement == finding.key.requirement
                for _, violation in played.violations(finding.key.engine)
            ):
                return True, ""
            if played.error is not None:
                return None, f"the harness failed: {played.error.strip().splitlines()[-1]}"
            unfollowed += played.failures[:1]
        again = "once more" if plays == 1 else f"{plays} times more"
        why = f"its history was played {again}, and it did not show"
        if unfollowed:
            why += f"; {len(unfollowed)} of the schedules could not be followed: {unfollowed[0]}"
        return False, why

    def _explained(
        self, finding: Finding, candidates: Sequence[Cause], *, reads: bool = True
    ) -> tuple[Cause | None, str]:
        """The cause among the candidates that explains a finding, and why that one or none. Raises CannotRun."""
        if not candidates:
            return None, "no cause predicts it"
        explanation = explain(finding, candidates, self.replayer, self.liveness, reads=reads)
        return next((cause for cause in candidates if cause.id == explanation.cause), None), explanation.why

    def _hidden_cause(self, finding: Finding, minimal: History) -> tuple[Cause | None, str]:
        """The cause that explains the minimal history, if one does."""
        played = self.replayer.play(minimal, Setup.of(finding, minimal))
        why = "no cause predicts its minimal history"
        for step_result, violation in played.violations(finding.key.engine):
            if violation.requirement not in finding.requirements:
                continue
            names = candidate_causes(step_result.observation, violation, minimal, self.causes)
            smaller = replace(
                finding,
                key=key_of(step_result.observation, violation),
                history=minimal,
                step=step_result.observation.step,
                detail=violation.detail,
                look=violation.read,
                candidates=names,
            )
            cause, why = self._explained(smaller, self._named(names))
            if cause is not None:
                return cause, why
        return None, why

    def _of_another_cause(self, finding: Finding) -> Unwanted:
        """Whether a violation may be that of a live cause that does not predict the finding.

        So a history does not become a known one while it gets smaller.
        """

        def unwanted(step_result: StepResult, violation: Violation, history: History) -> bool:
            names = candidate_causes(step_result.observation, violation, history, self.causes)
            others = self._named([name for name in names if name not in finding.candidates])
            spec = Setup.of(finding).spec_of(finding.engine)
            return any(self.liveness.is_live(cause, spec) for cause in others)

        return unwanted

    def _by_cause(self, finding: Finding, cause: Cause, why: str) -> FindingTriaged:
        explained = replace(
            finding,
            fingerprint=cause_fingerprint(finding.key.engine, cause.id),
            state="known",
            known=True,
            cause=cause.id,
            minimal=History.from_json(cause.history),
            minimal_step=None,
            minimal_detail="",
        )
        return self._report(self._keep(explained), why, shrunk=True, summary=cause.summary)

    def _keep(self, finding: Finding) -> Finding:
        """Write the folder of a finding that has a name of its own; one that has none stays in its sighting's."""
        if finding.fingerprint == finding.sighting:
            update_finding(self.folder / SIGHTINGS / finding.sighting, finding, {})
            return finding
        kept = self.folder / SIGHTINGS / finding.sighting / "table-before"
        table = kept if kept.is_dir() else None
        version = int(finding.table_before.removeprefix("version ")) if table is not None else None
        keep_finding(self.folder / FINDINGS, finding, table, version, self.causes)
        return finding

    def _named(self, names: Sequence[str]) -> tuple[Cause, ...]:
        return tuple(cause for cause in self.causes if cause.id in names)

    def _report(
        self, finding: Finding, why: str, *, shrunk: bool = False, summary: str = ""
    ) -> FindingTriaged:
        minimal = finding.minimal
        return FindingTriaged(
            sighting=finding.sighting,
            fingerprint=finding.fingerprint,
            state=finding.state,
            engine=finding.engine,
            requirement=finding.key.requirement,
            strength=finding.strength,
            detail=finding.minimal_detail or finding.detail,
            folder=finding.folder,
            cause=finding.cause,
            requirements=finding.requirements,
            steps=len(finding.history.steps),
            step=finding.step,
            minimal_steps=None if minimal is None else len(minimal.steps),
            reproduced=finding.reproduced,
            shrunk=shrunk,
            why=why,
            summary=summary,
        )


def _strength(requirement: str, finding: Finding) -> str:
    known = BY_ID.get(requirement)
    return known.strength if known is not None else finding.strength


def _same_as(finding: Finding) -> Callable[[StepResult, Violation], bool]:
    return lambda result, violation: key_of(result.observation, violation) == finding.key
