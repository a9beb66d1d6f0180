"""Whether a finding still fails on another version or build of its engine."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from conformance.execution.step_result import StepResult
from conformance.findings.candidates import candidate_causes
from conformance.findings.storage import Finding
from conformance.histories import History
from conformance.triage.hosts import CannotRun
from conformance.triage.replayer import RACES, Playthrough, Replayer, Setup
from delta_adapters.deviations import Cause, all_causes
from delta_adapters.engine_id import EngineId
from delta_adapters.registry import KNOWN
from delta_models.requirements import Violation

FAILS, HOLDS, OTHERWISE, COULD_NOT_RUN = "fails", "holds", "fails otherwise", "could not run"
PLAYS_OF_RACES = 3  # what two writers do may vary, so that one play that holds says little
# What an engine breaks that lacks an operation of the history, or that does not live to its end.
BLOCKERS = frozenset({"outcome.supported", "host.lives", "host.answers", "host.speaks"})


@dataclass(frozen=True, slots=True)
class Verdict:
    """What came of a finding's history on a build: one of the outcomes above, and why, in a few words."""

    outcome: str
    why: str = ""


def play_on(
    finding: Finding, spec: str, replayer: Replayer, causes: Sequence[Cause] | None = None
) -> Verdict:
    """Play a finding's minimal history, or its own if it has no other, on a build of the finding's engine.

    The other engines at the table stay what they were. `spec` is the text that starts the build. Without
    `causes` the project's own count.
    """
    history = finding.history if finding.minimal is None else finding.minimal
    named = EngineId.parse(spec).name
    name = named if named in KNOWN else finding.key.engine  # else an adapter by its module or file
    setup = Setup.of(finding, history)
    seated = [EngineId.parse(engine).name for engine in setup.engines]
    if name not in seated:
        return Verdict(
            COULD_NOT_RUN, f"{name} takes no part in it; its engines are {', '.join(setup.engines)}"
        )
    verdict = Verdict(COULD_NOT_RUN)
    for _ in range(PLAYS_OF_RACES if finding.suite == RACES else 1):
        try:
            playthrough = replayer.play(history, setup.with_engine(name, spec))
        except CannotRun as error:
            return Verdict(COULD_NOT_RUN, str(error))
        verdict = judge(finding, history, playthrough, all_causes() if causes is None else causes)
        if verdict.outcome == FAILS:
            break
    return verdict


def judge(finding: Finding, history: History, playthrough: Playthrough, causes: Sequence[Cause]) -> Verdict:
    """Say what came of a finding's history when it was played once."""
    broken = list(_unexplained(finding, history, playthrough, causes))
    same = [(result, violation) for result, violation in broken if _is_it(finding, violation)]
    if same:
        return Verdict(FAILS, _words(*same[0]))
    if playthrough.error is not None:
        return Verdict(COULD_NOT_RUN, f"the harness failed: {playthrough.error.strip().splitlines()[-1]}")
    if playthrough.failures:
        return Verdict(COULD_NOT_RUN, f"its schedule could not be followed: {playthrough.failures[0]}")
    blocking = [pair for pair in broken if pair[1].requirement in BLOCKERS]
    if blocking:
        return Verdict(COULD_NOT_RUN, _words(*blocking[0]))
    played, wanted = playthrough.steps_played, len(history.steps)
    if played < wanted:
        first = f": {_words(*broken[0])}" if broken else ""
        return Verdict(COULD_NOT_RUN, f"it ended after {played} of {wanted} steps{first}")
    if broken:
        return Verdict(OTHERWISE, _words(*broken[0]))
    return Verdict(HOLDS, f"its {wanted} steps hold")


def _is_it(finding: Finding, violation: Violation) -> bool:
    return violation.requirement == finding.key.requirement or violation.requirement in finding.requirements


def _unexplained(
    finding: Finding, history: History, playthrough: Playthrough, causes: Sequence[Cause]
) -> Iterator[tuple[StepResult, Violation]]:
    """The violations by what sits in the place of the finding's engine, without those that other causes predict.

    An adapter there may call itself by another name.
    """
    own = {cause for cause in (finding.cause, *finding.candidates) if cause}
    seated = {EngineId.parse(engine).name for engine in Setup.of(finding, history).engines}
    others = seated - {finding.key.engine}
    for step_result in playthrough.results:
        if EngineId.parse(step_result.observation.engine).name in others:
            continue
        for violation in step_result.violations:
            candidates = set(candidate_causes(step_result.observation, violation, history, causes))
            is_it = _is_it(finding, violation) and finding.minimal is not None
            if not candidates or candidates & own or is_it:
                yield step_result, violation


def _words(step_result: StepResult, violation: Violation) -> str:
    return f"{violation.requirement} at step {step_result.observation.step}: {violation.detail}"
