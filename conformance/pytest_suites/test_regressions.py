"""The suite `regressions`: the histories that a team keeps. They are played before all others."""

from __future__ import annotations

from conformance.histories import REGRESSIONS, Chunk
from conformance.pytest_suites.session import PytestRun

SUITE = REGRESSIONS


def test_a_kept_history_holds(conformance_session: PytestRun, conformance_chunk: Chunk) -> None:
    """No engine that claims the steps of this kept history violates a requirement in it."""
    conformance_session.play(conformance_chunk).check()
