"""Are the new commits, and the log that they continue, valid by the rules of the protocol? Delegates to `delta_models.log`."""

from __future__ import annotations

from conformance.checks.ledger import Check, Ledger
from conformance.observation import Observation
from delta_models.log import CorruptFile, CorruptLog, MissingFile, MissingVersion, NoTable
from delta_models.requirements import log as catalogue

JUDGES = ("log.loads", *(each.id for each in catalogue.REQUIREMENTS if each.unobservable is None))


def look(seen: Observation, ledger: Ledger) -> None:
    """Judge each commit of the step against the state before it."""
    if not seen.wrote:
        return
    error = seen.log_error
    if isinstance(error, CorruptLog | CorruptFile | MissingFile | MissingVersion):
        ledger.judge("log.loads", f"{type(error).__name__}: {error}")
    elif isinstance(error, NoTable) and seen.before is not None:
        ledger.judge("log.loads", str(error))
    elif error is None and seen.after is not None:
        ledger.judge("log.loads", None)


CHECK = Check("log", JUDGES, look)
