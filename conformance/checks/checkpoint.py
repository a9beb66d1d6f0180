"""Does the log's folder tell one story: no gap, checkpoints and checksums equal to replay, hints that lead?"""

from __future__ import annotations

from conformance.checks.ledger import Check, Ledger, judged_by
from conformance.checks.weights import folder_weights
from conformance.observation import Observation
from delta_models.log import validity

JUDGES = judged_by("checkpoint")


def look(seen: Observation, ledger: Ledger) -> None:
    """Judge the folder as the step left it."""
    if not seen.wrote or (seen.after is None and seen.log_error is None):
        return
    first = seen.before.version if seen.before is not None else 0
    ledger.count(folder_weights(seen.reader, seen.reader.listing(), first))
    ledger.add(validity.folder_breaches(seen.reader, "reference"))


CHECK = Check("checkpoint", JUDGES, look)
