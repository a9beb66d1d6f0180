"""Do the statistics of each new file bound the values that are really in it? Readers skip files by them."""

from __future__ import annotations

from conformance.checks.ledger import Check, Ledger, judged_by
from conformance.checks.log import chain, data_breaches
from conformance.checks.weights import file_weights, nan_weights
from conformance.observation import Observation

JUDGES = judged_by("statistics")


def look(seen: Observation, ledger: Ledger) -> None:
    """Judge the files that the step added."""
    if not seen.wrote:
        return
    for _, commit, after in chain(seen):
        if after is not None:
            ledger.count(file_weights(after, commit, prefixes=("stats.",)))
            ledger.count(nan_weights(seen.reader, after, commit))
    ledger.add(each for each in data_breaches(seen, ledger) if each.requirement.startswith("stats."))


CHECK = Check("statistics", JUDGES, look)
