"""Does each commit get its version checksum? What one says is for the rules of the log's folder to judge."""

from __future__ import annotations

from conformance.checks.names import CheckName
from conformance.checks.recorder import Check, CheckRecorder, judged_by
from conformance.observations.observation import Observation

JUDGES = judged_by(CheckName.CHECKSUMS)


def check(observation: Observation, recorder: CheckRecorder) -> None:
    """Judge the commits of a step that nothing disturbed: a writer that is cut may have no time for it."""
    if (
        not observation.wrote
        or observation.fault_context is not None
        or observation.race is not None
        or observation.log_error is not None
    ):
        return
    listing = observation.reader.listing()
    known = listing.checksums
    for commit in observation.commits:
        if any(version not in known for version in listing.commits if version < commit.version):
            return  # one is enough, of those who write none
        problem = None if commit.version in known else f"there is none of version {commit.version}"
        recorder.record("checksum.each-commit", problem, commit.name)


CHECK = Check(CheckName.CHECKSUMS, JUDGES, check)
