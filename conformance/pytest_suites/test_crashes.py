"""The suite `crashes`: an operation that dies, or whose storage fails, leaves the table as before or as after."""

from __future__ import annotations

from conformance.histories import Chunk
from conformance.pytest_suites.session import PytestRun

SUITE = "crashes"


def test_a_fault_leaves_a_whole_table(conformance_session: PytestRun, conformance_chunk: Chunk) -> None:
    """No fault in this chunk leaves a half-written table, a wrong answer, or anything that stops the next writer."""
    conformance_session.play(conformance_chunk).check()
