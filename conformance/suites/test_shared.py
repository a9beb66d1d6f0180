"""Engines take turns on one table: what one writes all others read, and all are held to the model after every step."""

from __future__ import annotations

from conformance.plan import Chunk
from conformance.suites.session import Session

SUITE = "shared"


def test_engines_agree_on_one_table(conformance_session: Session, conformance_chunk: Chunk) -> None:
    """No engine breaks a rule, nor misreads what another one wrote, in the histories of this chunk."""
    conformance_session.play(conformance_chunk).check()
