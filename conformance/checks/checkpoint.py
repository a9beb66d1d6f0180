"""Does the log's folder tell one story: no gap, checkpoints and checksums equal to replay, hints that lead?"""

from __future__ import annotations

from conformance.checks.ledger import Check, Ledger, judged_by
from conformance.checks.weights import folder_weights
from conformance.observation import Observation
from delta_models.log import validity
from delta_models.requirements import Breach

JUDGES = judged_by("checkpoint")


def look(seen: Observation, ledger: Ledger) -> None:
    """Judge the folder as the step left it."""
    if not seen.wrote or (seen.after is None and seen.log_error is None):
        return
    first = seen.before.version if seen.before is not None else 0
    ledger.count(folder_weights(seen.reader, seen.reader.listing(), first))
    ledger.add(
        each for each in validity.folder_breaches(seen.reader, "reference") if not _was_cut(seen, each)
    )


def _was_cut(seen: Observation, breach: Breach) -> bool:
    """A clean-up that was cut leaves gaps among the versions that it was deleting: those that a checkpoint covers."""
    if seen.trouble is None or not seen.trouble.cleaned or breach.requirement != "log.versions-contiguous":
        return False
    listing = seen.reader.listing()
    covered = max((each.version for each in listing.checkpoints if each.complete), default=-1)
    return any(name == breach.where and version <= covered for version, name in listing.commits.items())


CHECK = Check("checkpoint", JUDGES, look)
