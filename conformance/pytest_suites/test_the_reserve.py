"""The reserve of the plan. The module sorts behind the suites, whose evidence decides what it plays."""

from __future__ import annotations

from conformance.pytest_suites.session import PytestRun


def test_what_is_played_for_missing_evidence_violates_nothing(conformance_session: PytestRun) -> None:
    """No engine violates a requirement in the histories that make up for missing evidence, if any are needed."""
    conformance_session.play_reserve().check()
