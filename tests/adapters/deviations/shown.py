"""What the minimal history of a cause must show: its requirement violated as predicted, and nothing new."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from conformance.execution.step_result import StepResult
from conformance.findings import candidate_causes
from conformance.histories import History
from delta_adapters.deviations import Cause, all_causes
from tests.mutants.stage import ALWAYS_KNOWN


def assert_shown(
    cause: Cause, step_results: Iterable[StepResult], beside: Collection[str] = ALWAYS_KNOWN
) -> None:
    """Assert that every violation is one that the cause predicts, or else one of the causes `beside` it."""
    history = History.from_json(cause.history)
    seen = [
        (violation, candidate_causes(result.observation, violation, history, all_causes()))
        for result in step_results
        for violation in result.violations
    ]
    own = [violation.requirement for violation, candidates in seen if cause.id in candidates]
    assert cause.requirement in own, seen or "it no longer happens"
    others = [
        (violation, candidates)
        for violation, candidates in seen
        if cause.id not in candidates and not set(candidates) & set(beside)
    ]
    assert others == []
