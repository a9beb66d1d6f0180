"""The suite `shared`: engines take turns on one table, and all read what one of them writes."""

from __future__ import annotations

from conformance.histories import Chunk
from conformance.pytest_suites.session import PytestRun

SUITE = "shared"


def test_engines_agree_on_one_table(conformance_session: PytestRun, conformance_chunk: Chunk) -> None:
    """No engine violates a requirement or misreads what another one wrote, in the histories of this chunk."""
    conformance_session.play(conformance_chunk).check()
