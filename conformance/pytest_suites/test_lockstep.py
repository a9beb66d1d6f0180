"""The suite `lockstep`: each engine plays the same histories on its own table, checked after every step."""

from __future__ import annotations

from conformance.histories import Chunk
from conformance.pytest_suites.session import PytestRun

SUITE = "lockstep"


def test_every_step_is_what_the_model_says(conformance_session: PytestRun, conformance_chunk: Chunk) -> None:
    """No engine violates a requirement in the histories of this chunk."""
    conformance_session.play(conformance_chunk).check()
