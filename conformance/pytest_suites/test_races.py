"""The suite `races`: concurrent writers leave a table that some order of their operations explains."""

from __future__ import annotations

from conformance.histories import Chunk
from conformance.pytest_suites.session import PytestRun

SUITE = "races"


def test_writers_at_once_leave_what_some_order_explains(
    conformance_session: PytestRun, conformance_chunk: Chunk
) -> None:
    """No order of the writers' steps in this chunk loses, doubles or restores a row, or reports a wrong outcome."""
    conformance_session.play(conformance_chunk).check()
