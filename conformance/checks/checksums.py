"""Does each commit get its version checksum? The rules of the log's folder judge what a checksum says."""

from __future__ import annotations

from collections.abc import Iterator

from conformance.checks.names import CheckName
from conformance.checks.recorder import Check, CheckRecorder, judged_by
from conformance.observations.observation import Observation
from delta_models.requirements import Checked, checked

JUDGES = judged_by(CheckName.CHECKSUMS)


def check(observation: Observation, _recorder: CheckRecorder) -> Iterator[Checked]:
    """Judge the commits of a step without faults and races. A writer that dies may have no time for a checksum."""
    if (
        not observation.wrote
        or observation.fault_context is not None
        or observation.race is not None
        or observation.log_error is not None
    ):
        return
    listing = observation.reader.listing()
    checksums = listing.checksums
    for commit in observation.commits:
        if any(version not in checksums for version in listing.commits if version < commit.version):
            return  # one violation is enough for a writer that writes none
        problem = None if commit.version in checksums else f"there is none of version {commit.version}"
        yield checked("checksum.each-commit", problem, commit.name)


CHECK = Check(CheckName.CHECKSUMS, JUDGES, check)
