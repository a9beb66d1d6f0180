"""Writers at once on one table: one after another could have left what they leave, and each knows what it did."""

from __future__ import annotations

from conformance.histories import Chunk
from conformance.pytest_suites.session import PytestRun

SUITE = "races"


def test_writers_at_once_leave_what_some_order_explains(
    conformance_session: PytestRun, conformance_chunk: Chunk
) -> None:
    """No order of the writers' steps in this chunk loses, doubles or brings back a row, or lies about it."""
    conformance_session.play(conformance_chunk).check()
