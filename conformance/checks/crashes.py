"""Is a table that met a storage fault as before or as after, did the engine tell the truth, can others go on?"""

from __future__ import annotations

from pathlib import Path

from conformance.checks.ledger import Check, Ledger, judged_by
from conformance.checks.outcomes import describe, same_outcome
from conformance.crashes.narrowing import AFTER, BEFORE, BETWEEN, TWICE, Narrowed
from conformance.observation import Observation, Trouble
from delta_models.log import paths
from delta_models.operations import Append, LoseReplyAt, Pour, Vacuum
from delta_models.outcomes import Committed, NoChange, Rejected, Unknown
from delta_models.table.retention import file_retention

JUDGES = judged_by("crashes")


def look(seen: Observation, ledger: Ledger) -> None:
    """Judge a step that met a fault, and those that find what it left."""
    trouble = seen.trouble
    if trouble is None or not seen.wrote:
        return
    if trouble.fault is not None:
        _struck(seen, trouble, ledger)
    if trouble.next_write and isinstance(seen.operation, Append | Pour):
        _next_write(seen, ledger)
    if trouble.left_over and isinstance(seen.operation, Vacuum) and not seen.operation.dry_run:
        _vacuumed(seen, seen.operation, trouble, ledger)


def _struck(seen: Observation, trouble: Trouble, ledger: Ledger) -> None:
    gone = f"not as they were: {', '.join(trouble.gone)}" if trouble.gone else None
    if not ledger.judge("crash.keeps-committed", gone):
        return
    found = trouble.found
    if found is None:
        ledger.judge("crash.all-or-nothing", f"the log can't be read: {seen.log_error}")
        return
    if seen.commits:
        missing = sorted(_missing(seen))
        if not ledger.judge(
            "crash.data-before-commit",
            f"version {seen.commits[-1].version} names {', '.join(missing)}" if missing else None,
        ):
            return
    if found.state == TWICE:
        ledger.judge("crash.once", found.why)
        return
    ledger.judge("crash.all-or-nothing", found.why if found.state == BETWEEN else None)
    if found.state == BETWEEN:
        return
    if isinstance(trouble.fault, LoseReplyAt) and found.state == AFTER:
        ledger.judge("crash.once", None)
    ledger.judge("crash.told-truly", _untrue(seen, found))


def _untrue(seen: Observation, found: Narrowed) -> str | None:
    """What is wrong with what the engine said, given what is there. Not to know is never wrong."""
    match seen.outcome:
        case Committed() | NoChange():
            ends = [each for each in seen.expectation.branches if same_outcome(each.outcome, seen.outcome)]
            if any(low <= len(seen.commits) <= high for low, high in (each.commits for each in ends)):
                return None
            return f"{describe(seen.outcome)} was said, and the table is as {found.state} it"
        case Rejected():
            if found.state == BEFORE:
                return None
            return f"it is done, in {len(seen.commits)} commits, and was told to be {describe(seen.outcome)}"
    return None


def _missing(seen: Observation) -> list[str]:
    """The files that new commits add and that are not there as they say."""
    found = []
    for add in (add for commit in seen.commits for add in commit.adds):
        path: Path = paths.resolve(seen.folder, add.path)
        if not path.exists():
            found.append(f"{add.path}, which is not there")
        elif path.stat().st_size != add.size:
            found.append(f"{add.path} of {add.size} bytes, of which {path.stat().st_size} are there")
    return found


def _next_write(seen: Observation, ledger: Ledger) -> None:
    if isinstance(seen.expectation.ordinary.outcome, Committed):
        right = seen.branch is not None or isinstance(
            seen.operation, Pour
        )  # of which `streams` says what it wrote
        done = isinstance(seen.outcome, Committed) and right
        wrong = None if done else f"the next write was {describe(seen.outcome)}"
        ledger.judge("crash.next-writer", wrong)


def _vacuumed(seen: Observation, vacuum: Vacuum, trouble: Trouble, ledger: Ledger) -> None:
    """What is younger than the retention stays, what is older goes."""
    if isinstance(seen.outcome, Rejected | Unknown):
        return
    hours = file_retention(seen.model) if vacuum.retention_hours is None else vacuum.retention_hours
    young = [each for each in trouble.left_over if each.hours < hours]
    if young:
        lost = [f"{each.path} after {each.hours} hours" for each in young if not each.there]
        ledger.judge("crash.left-overs-kept", f"deleted: {', '.join(lost)}" if lost else None)
    old = [each for each in trouble.left_over if each.hours >= hours]
    if old and not vacuum.lite:
        there = [f"{each.path} after {each.hours} hours" for each in old if each.there]
        ledger.judge("crash.left-overs-removed", f"still there: {', '.join(there)}" if there else None)


CHECK = Check("crashes", JUDGES, look)
