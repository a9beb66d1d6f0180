"""The suite `examples`: readable histories with the live files and the rows written down after every step."""

from __future__ import annotations

from conformance.histories import Chunk
from conformance.pytest_suites.session import PytestRun

SUITE = "examples"


def test_what_is_written_down_is_what_happens(
    conformance_session: PytestRun, conformance_chunk: Chunk
) -> None:
    """Every engine ends every step of every example as the model allows and as the example says."""
    conformance_session.play(conformance_chunk).check()
