"""Operations that are cut, or whose storage fails: the table is as before or as after, and the next writer goes on."""

from __future__ import annotations

from conformance.histories import Chunk
from conformance.pytest_suites.session import PytestRun

SUITE = "crashes"


def test_a_fault_leaves_a_whole_table(conformance_session: PytestRun, conformance_chunk: Chunk) -> None:
    """No fault in the histories of this chunk leaves a table between, a lie about it, or something in the way."""
    conformance_session.play(conformance_chunk).check()
