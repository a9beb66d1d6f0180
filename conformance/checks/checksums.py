"""Does each commit get its version checksum? What one says is for the rules of the log's folder to judge."""

from __future__ import annotations

from conformance.checks.ledger import Check, Ledger, judged_by
from conformance.observation import Observation

JUDGES = judged_by("checksums")


def look(seen: Observation, ledger: Ledger) -> None:
    """Judge the commits of a step that nothing disturbed: a writer that is cut may have no time for it."""
    if not seen.wrote or seen.trouble is not None or seen.race is not None or seen.log_error is not None:
        return
    listing = seen.reader.listing()
    known = listing.checksums
    for commit in seen.commits:
        if any(version not in known for version in listing.commits if version < commit.version):
            return  # one is enough, of those who write none
        wrong = None if commit.version in known else f"there is none of version {commit.version}"
        ledger.judge("checksum.each-commit", wrong, commit.name)


CHECK = Check("checksums", JUDGES, look)
