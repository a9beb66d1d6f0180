"""Are the new commits valid by the protocol, in themselves and on top of the state before? See `validity`."""

from __future__ import annotations

from collections.abc import Iterator

from conformance.checks.ledger import Check, Ledger, judged_by
from conformance.checks.weights import commit_weights, file_weights, layout_weights, row_id_weights
from conformance.error_names import error_name
from conformance.observation import Observation
from delta_models.log import (
    Commit,
    CorruptFile,
    CorruptLog,
    LogError,
    MissingFile,
    MissingVersion,
    NoTable,
    Snapshot,
    apply,
    start,
    validity,
)
from delta_models.requirements import Breach

JUDGES = judged_by("log")


def look(seen: Observation, ledger: Ledger) -> None:
    """Judge each commit of the step against the state before it, and the files that it adds."""
    if not seen.wrote:
        return
    _loads(seen, ledger)
    for before, commit, after in chain(seen):
        ledger.count(commit_weights(before, commit))
        ledger.add(validity.breaches(before, commit, "reference"))
        if after is not None:
            ledger.count(file_weights(after, commit, prefixes=("log.", "dv.", "schema.")))
            ledger.count(row_id_weights(before, after, commit))
            ledger.count(layout_weights(before, after, commit))
            ledger.add(validity.change_breaches(seen.reader, before, after, commit, "reference"))
    ledger.add(each for each in data_breaches(seen, ledger) if not each.requirement.startswith("stats."))


def chain(seen: Observation) -> Iterator[tuple[Snapshot | None, Commit, Snapshot | None]]:
    """Each commit of the step between the states before and after it (None: cannot be told)."""
    before = seen.before
    for commit in seen.commits or _unread(seen):
        if before is None and commit.version > 0:
            return
        try:
            after: Snapshot | None = start(commit) if before is None else apply(before, commit)
        except LogError:
            after = None
        yield before, commit, after
        if after is None:
            return
        before = after


def _unread(seen: Observation) -> list[Commit]:
    """The new commits of a log that gives no state: they are what may say why."""
    if seen.log_error is None:
        return []
    first = seen.before.version + 1 if seen.before is not None else 0
    return [seen.reader.commit(each) for each in seen.reader.listing().commits if each >= first]


def data_breaches(seen: Observation, ledger: Ledger) -> list[Breach]:
    """What is wrong with the files that the step added; found once for all checks that tell of it."""

    def find() -> list[Breach]:
        return [
            each
            for _, commit, after in chain(seen)
            if after is not None
            for each in validity.data_breaches(seen.reader, after, commit, "reference")
        ]

    return ledger.once("data_breaches", find)


def _loads(seen: Observation, ledger: Ledger) -> None:
    error = seen.log_error
    if isinstance(error, CorruptLog | CorruptFile | MissingFile | MissingVersion):
        ledger.judge("log.loads", f"{error_name(error)}: {error}")
    elif isinstance(error, NoTable) and seen.before is not None:
        ledger.judge("log.loads", str(error))
    elif error is None and seen.after is not None:
        ledger.judge("log.loads", None)


CHECK = Check("log", JUDGES, look)
