"""Engines take turns on one table: what one writes all others read, and all are held to the model after every step."""

from __future__ import annotations

from conformance.histories import Chunk
from conformance.pytest_suites.session import PytestRun

SUITE = "shared"


def test_engines_agree_on_one_table(conformance_session: PytestRun, conformance_chunk: Chunk) -> None:
    """No engine breaks a rule, nor misreads what another one wrote, in the histories of this chunk."""
    conformance_session.play(conformance_chunk).check()
