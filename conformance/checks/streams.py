"""Has a reader that follows the table got each row once; and has a stream that writes into it written each once?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from conformance.checks.ledger import Check, Ledger, judged_by
from conformance.checks.outcomes import describe
from conformance.observation import Look, Observation
from delta_models.log import Commit, LogError
from delta_models.operations import Pour, Tail
from delta_models.outcomes import Outcome, Rejected
from delta_models.schema import Struct
from delta_models.table import FollowExpectation
from delta_models.table.changes import COMES, GOES
from delta_models.table.streams import CHANGES, INSERTS, ROWS
from delta_models.values import Key, Row, Rows, bag, row_keyer

JUDGES = judged_by("streams")
CHANGED = "rows-changed"


class _NotKnown(Exception):
    """The log does not tell any more."""


def look(seen: Observation, ledger: Ledger) -> None:
    """Judge the followers that have looked in this step, or the stream that has run."""
    if seen.log_error is not None:
        return
    for each in seen.looks:
        if isinstance(each.operation, Tail) and each.followed is not None:
            _follower(seen, each, each.operation, each.followed, ledger)
    if isinstance(seen.operation, Pour) and seen.wrote:
        _written(seen, ledger)


# Readers that follow


def _follower(seen: Observation, each: Look, tail: Tail, expected: FollowExpectation, ledger: Ledger) -> None:
    where = f"reader {tail.reader!r} of {tail.follows} after step {seen.step}"
    try:
        taken = {step.step for step in expected.steps if _took(seen, step.step)}
    except _NotKnown:
        return
    stuck = tail.follows == ROWS and bool(taken)
    if each.refused is not None:
        _refused(each.refused, expected, stuck=stuck, where=where, ledger=ledger)
        return
    if stuck:
        ledger.judge(
            "stream.changes-refused", f"it was answered, although step {min(taken)} took rows", where
        )
        return
    if not ledger.judge("stream.follows", each.malformed, where) or each.answer is None:
        return
    got = _net(tail, expected.schema, each.answer)
    wanted = expected.now if tail.follows == CHANGES else _came(expected, taken)
    if tail.follows == INSERTS and taken:
        skipped = +(got - wanted) & _of(expected, taken)
        wrong = f"{_some(skipped)} came in a commit that took rows away" if skipped else None
        if not ledger.judge("stream.changes-skipped", wrong, where):
            return
    _compare(got, wanted, expected, ledger, where)


def _refused(
    refused: Outcome, expected: FollowExpectation, *, stuck: bool, where: str, ledger: Ledger
) -> None:
    kind = refused.kind if isinstance(refused, Rejected) else ""
    if kind in expected.refusals:
        return
    if stuck:
        ledger.judge("stream.changes-refused", None if kind == CHANGED else describe(refused), where)
    else:
        ledger.judge("stream.follows", describe(refused), where)


def _compare(
    got: Counter[Key], wanted: Counter[Key], expected: FollowExpectation, ledger: Ledger, where: str
) -> None:
    """Each row that there is too much of, or too little, under the rule that says why it must not be."""
    off = {key: got[key] - wanted[key] for key in {*got, *wanted} if got[key] != wanted[key]}
    never = [key for key in off if key not in expected.ever]
    if not ledger.judge("stream.only-committed", f"{_some(never)} was never there" if never else None, where):
        return
    lost = [key for key, by in off.items() if _is_lost(by, got[key], wanted[key], net=wanted is expected.now)]
    more = [key for key in off if key not in lost]
    rule = "stream.upkeep-brings-nothing" if expected.upkeep else "stream.each-row-once"
    ledger.judge(rule, f"{_some(more)} was told {abs(off[more[0]])} times too often" if more else None, where)
    ledger.judge("stream.none-lost", f"of {_some(lost)} something was not told" if lost else None, where)


def _is_lost(by: int, got: int, wanted: int, *, net: bool) -> bool:
    """Whether something was not told of a row: that it came; or that it went, where what is left counts (`net`)."""
    return (by < 0 <= got) or (net and by > 0 and not wanted)


def _net(tail: Tail, schema: Struct, answer: Rows) -> Counter[Key]:
    if tail.follows != CHANGES:
        return bag(schema, answer.rows)
    key = row_keyer(schema)
    net: Counter[Key] = Counter()
    for *row, kind in answer.rows:
        values: Row = tuple(row)
        net[key(values)] += (kind in COMES) - (kind in GOES)
    return net


def _came(expected: FollowExpectation, taken: set[int]) -> Counter[Key]:
    """The rows of the first look and of the steps that took none away."""
    steps = (each.came for each in expected.steps if each.step not in taken)
    return sum(steps, Counter(expected.first))


def _of(expected: FollowExpectation, taken: set[int]) -> Counter[Key]:
    """What came in the steps that also took rows away."""
    rows: Counter[Key] = Counter()
    for each in expected.steps:
        if each.step in taken:
            rows += each.came
    return rows


def _took(seen: Observation, step: int) -> bool:
    """Whether a step's commits took rows away, by the log."""
    return any(each.data_change for commit in _commits(seen, step) for each in commit.removes)


def _commits(seen: Observation, step: int) -> Iterable[Commit]:
    if step not in seen.versions or step - 1 not in seen.versions:
        raise _NotKnown
    first, last = seen.versions[step - 1] + 1, seen.versions[step]
    try:
        return seen.reader.commits(first, last) if first <= last else ()
    except LogError as error:
        raise _NotKnown from error


# Streams that write


def _written(seen: Observation, ledger: Ledger) -> None:
    right = seen.expectation.ordinary
    if seen.after is None or isinstance(seen.outcome, Rejected) or isinstance(right.outcome, Rejected):
        return
    try:
        rows = seen.reader.rows(seen.after)
    except LogError:
        return  # the rules of the log tell
    if rows.schema != right.table.schema:
        return
    there, wanted = bag(rows.schema, rows.rows), right.table.bag
    twice, lost = there - wanted, wanted - there
    ledger.judge("stream.written-once", f"{_some(twice)} is there too often" if twice else None)
    ledger.judge("stream.all-written", f"{_some(lost)} is not there" if lost else None)


def _some(rows: Iterable[Key]) -> str:
    listed = list(rows)
    return f"{listed[0]}" + (f" and {len(listed) - 1} more" if len(listed) > 1 else "")


CHECK = Check("streams", JUDGES, look)
