"""Does the engine read what the log holds: the newest version, earlier ones, through a filter, and cold?"""

from __future__ import annotations

from conformance.checks import truth
from conformance.checks.ledger import Check, Ledger, judged_by
from conformance.checks.outcomes import describe
from conformance.checks.text import difference, differing_columns
from conformance.observation import Look, Observation
from delta_models.log import MissingFile
from delta_models.operations import LOOKS, AtState, AtTime, AtVersion, Latest, Read, Reopen
from delta_models.values import Rows

BY_KIND = {"latest": "read.latest", "state": "read.state", "filter": "read.filter", "reopen": "read.cold"}
JUDGES = judged_by("reads")


def look(seen: Observation, ledger: Ledger) -> None:
    """Judge each read of the step."""
    if seen.log_error is not None:
        return
    for each in seen.looks:
        if isinstance(each.operation, Read) and not each.again:
            _judge(seen, each, each.operation, ledger)
    if isinstance(seen.operation, (*LOOKS, Reopen)) and seen.looks:
        newest, known = seen.reader.latest_version(), seen.after.version if seen.after else None
        wrong = None if newest == known else f"the newest version was {known} before and is {newest} after it"
        ledger.judge("contents.look-changes-nothing", wrong)


def _judge(seen: Observation, each: Look, read: Read, ledger: Ledger) -> None:
    where = f"{each.kind} read after step {seen.step}"
    if each.malformed is not None:
        ledger.judge("read.columns", each.malformed, where, read=read)
        return
    if each.refused is not None:
        if each.expected is not None and _can_be_answered(seen, each, read):
            ledger.judge("read.succeeds", describe(each.refused), where, read=read)
        elif _nothing_to_read(seen, read):
            ledger.judge("read.refuses-what-is-not-there", None)
        return
    if each.answer is None:
        return
    if _nothing_to_read(seen, read):
        ledger.judge("read.refuses-what-is-not-there", f"answered {len(each.answer)} rows", where, read=read)
        return
    try:
        right = truth.answer_to(seen, each)
    except truth.NotKnown:
        return
    ledger.judge("read.succeeds", None)
    if ledger.judge("read.columns", _columns(right, each.answer), where, read=read):
        wrong = difference(right, each.answer)
        columns = differing_columns(right, each.answer) if wrong else ()
        rule = BY_KIND.get(each.kind, "read.latest")
        if truth.nan_matters([read.where], truth.asked_of(seen, each)):
            rule = "read.nan-order"
        elif truth.beyond_core(read.where, truth.asked_of(seen, each).schema):
            rule = "read.beyond-core"
        ledger.judge(rule, wrong, where, columns, read)
    _version(seen, each, read, ledger, where)


def _can_be_answered(seen: Observation, each: Look, read: Read) -> bool:
    """Whether we can read it ourselves: if not, the writer is to blame, and another check says so."""
    try:
        truth.require_files(seen, truth.snapshot_for(seen, read))
        truth.answer_to(seen, each)
    except (truth.NotKnown, MissingFile):
        return False
    return True


def _nothing_to_read(seen: Observation, read: Read) -> bool:
    return seen.after is None and isinstance(read.at, Latest)


def _columns(right: Rows, answer: Rows) -> str | None:
    wanted = [(field.name, str(field.type)) for field in right.schema]
    got = [(field.name, str(field.type)) for field in answer.schema]
    if wanted == got:
        return None
    return f"columns {_listed(got)} instead of {_listed(wanted)}"


def _version(seen: Observation, each: Look, read: Read, ledger: Ledger, where: str) -> None:
    if each.version is None or seen.after is None:
        return
    match read.at:
        case AtState(step=step) | AtTime(step=step) if step in seen.versions:
            wanted = seen.versions[step]
        case AtVersion(version=version):
            wanted = version
        case Latest():
            wanted = seen.after.version
        case _:
            return
    wrong = None if wanted == each.version else f"answered from version {each.version} instead of {wanted}"
    ledger.judge("read.version", wrong, where)


def _listed(columns: list[tuple[str, str]]) -> str:
    return ", ".join(f"{name} {of}" for name, of in columns) or "none"


CHECK = Check("reads", JUDGES, look)
