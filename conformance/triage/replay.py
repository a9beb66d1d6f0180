"""Replay the history of a finding on the engines of its run, and decide whether it still fails."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path

from conformance.execution.step_result import StepResult
from conformance.findings.candidates import candidate_causes
from conformance.findings.fingerprint import key_of
from conformance.findings.storage import Finding, FindingError, NotAFinding, load_finding
from conformance.triage import on_build
from conformance.triage.hosts import CannotRun
from conformance.triage.on_build import Verdict, play_on
from conformance.triage.replayer import Playthrough, Replayer, Setup
from delta_adapters.deviations import Cause, all_causes
from delta_adapters.engine_id import EngineId
from delta_models.requirements import Violation

FIXED, FAILS, COULD_NOT_RUN = 0, 1, 3


@dataclass(frozen=True, slots=True)
class ReplayResult:
    """The result of a replay: the exit code, and a text for people."""

    exit: int
    text: str


def replay(
    path: Path,
    replayer: Replayer | None = None,
    engine: str | None = None,
    causes: Sequence[Cause] | None = None,
) -> ReplayResult:
    """Play a finding's history again, on its own engine or on another version or build of it (`engine`).

    Violations that a cause other than the finding's predicts are left out. Without `causes` the project's own count.
    Raises NotAFinding if the path is not the folder of a finding.
    """
    causes = all_causes() if causes is None else causes
    try:
        finding = load_finding(path)
    except NotAFinding:
        raise
    except FindingError as error:
        return ReplayResult(COULD_NOT_RUN, f"could not run: {error}")
    name = f"{finding.fingerprint} ({finding.engine}, {finding.key.requirement})"
    if engine is not None:
        with Replayer() if replayer is None else nullcontext(replayer) as player:
            return _result_on(name, engine, play_on(finding, engine, player, causes))

    def is_it(step_result: StepResult, violation: Violation) -> bool:
        return key_of(step_result.observation, violation) == finding.key

    try:
        with Replayer() if replayer is None else nullcontext(replayer) as player:
            playthrough = player.play(finding.history, Setup.of(finding), until=is_it)
            return _result(name, finding, playthrough, causes)
    except CannotRun as error:
        return ReplayResult(COULD_NOT_RUN, f"{name} could not run: {error}")


def _result_on(name: str, engine: str, verdict: Verdict) -> ReplayResult:
    match verdict.outcome:
        case on_build.HOLDS:
            return ReplayResult(FIXED, f"{name} is fixed in {engine}: {verdict.why}")
        case on_build.FAILS:
            return ReplayResult(FAILS, f"{name} still fails in {engine}: {verdict.why}")
        case on_build.OTHERWISE:
            return ReplayResult(FAILS, f"{name} fails in another way in {engine}: {verdict.why}")
    return ReplayResult(COULD_NOT_RUN, f"{name} could not run in {engine}: {verdict.why}")


def _violations(
    finding: Finding, result: Sequence[StepResult], causes: Sequence[Cause]
) -> Iterator[tuple[StepResult, str]]:
    """The violations by the finding's engine, in any version, with their fingerprints.

    Violations that another cause may explain are left out.
    """
    for step_result in result:
        for violation in step_result.violations:
            if EngineId.parse(step_result.observation.engine).name != finding.key.engine:
                continue
            key = key_of(step_result.observation, violation)
            candidates = candidate_causes(step_result.observation, violation, finding.history, causes)
            if key == finding.key or not candidates or finding.cause in candidates:
                yield step_result, key.fingerprint


def _result(name: str, finding: Finding, playthrough: Playthrough, causes: Sequence[Cause]) -> ReplayResult:
    broken = list(_violations(finding, playthrough.results, causes))
    played, failures = playthrough.steps_played, playthrough.failures
    if not broken and playthrough.error is not None:
        cause = playthrough.error.strip().splitlines()[-1]
        return ReplayResult(COULD_NOT_RUN, f"{name} could not run: the harness failed: {cause}")
    if not broken and failures:
        return ReplayResult(
            COULD_NOT_RUN, f"{name} could not run: its schedule could not be followed: {failures[0]}"
        )
    if not broken:
        if played < len(finding.history.steps):
            return ReplayResult(
                COULD_NOT_RUN, f"{name} could not run to its end: the engine left after {played} steps"
            )
        return ReplayResult(FIXED, f"{name} is fixed: its {played} steps hold")
    same = [step_result for step_result, fingerprint in broken if fingerprint == finding.key.fingerprint]
    first = (same or [step_result for step_result, _ in broken])[0]
    details = "; ".join(f"{violation.requirement}: {violation.detail}" for violation in first.violations)
    how = "still fails" if same else "fails in another way"
    return ReplayResult(FAILS, f"{name} {how} at step {first.observation.step}: {details}")
