"""Has a reader that follows the table got each row once; and has a stream that writes into it written each once?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from conformance.checks.names import CheckName
from conformance.checks.outcomes import describe
from conformance.checks.recorder import Check, CheckRecorder, judged_by
from conformance.observations.observation import Observation, ReadObservation
from delta_models.log import Commit, LogError
from delta_models.operations import ReadStream, WriteStream
from delta_models.outcomes import Outcome, Rejected
from delta_models.schema import Struct
from delta_models.table import StreamExpectation
from delta_models.table.change_feed import COMES, GOES
from delta_models.table.streams import CHANGES, INSERTS, ROWS
from delta_models.values import Key, Row, Rows, bag, row_keyer

JUDGES = judged_by(CheckName.STREAMS)
CHANGED = "rows-changed"


class _NotKnown(Exception):
    """The log does not tell any more."""


def check(observation: Observation, recorder: CheckRecorder) -> None:
    """Judge the followers that have looked in this step, or the stream that has run."""
    if observation.log_error is not None:
        return
    for read_observation in observation.looks:
        if isinstance(read_observation.operation, ReadStream) and read_observation.followed is not None:
            _follower(
                observation, read_observation, read_observation.operation, read_observation.followed, recorder
            )
    if isinstance(observation.operation, WriteStream) and observation.wrote:
        _written(observation, recorder)


# Readers that follow


def _follower(
    observation: Observation,
    each: ReadObservation,
    tail: ReadStream,
    expected: StreamExpectation,
    recorder: CheckRecorder,
) -> None:
    where = f"reader {tail.reader!r} of {tail.follows} after step {observation.step}"
    try:
        taken = {step.step for step in expected.steps if _took(observation, step.step)}
    except _NotKnown:
        return
    stuck = tail.follows == ROWS and bool(taken)
    if each.refused is not None:
        _refused(each.refused, expected, stuck=stuck, where=where, recorder=recorder)
        return
    if stuck:
        recorder.record(
            "stream.changes-refused", f"it was answered, although step {min(taken)} took rows", where
        )
        return
    if not recorder.record("stream.follows", each.malformed, where) or each.answer is None:
        return
    got = _net(tail, expected.schema, each.answer)
    wanted = expected.now if tail.follows == CHANGES else _came(expected, taken)
    if tail.follows == INSERTS and taken:
        skipped = +(got - wanted) & _of(expected, taken)
        problem = f"{_some(skipped)} came in a commit that took rows away" if skipped else None
        if not recorder.record("stream.changes-skipped", problem, where):
            return
    _compare(got, wanted, expected, recorder, where)


def _refused(
    refused: Outcome, expected: StreamExpectation, *, stuck: bool, where: str, recorder: CheckRecorder
) -> None:
    kind = refused.kind if isinstance(refused, Rejected) else ""
    if kind in expected.refusals:
        return
    if stuck:
        recorder.record("stream.changes-refused", None if kind == CHANGED else describe(refused), where)
    else:
        recorder.record("stream.follows", describe(refused), where)


def _compare(
    got: Counter[Key], wanted: Counter[Key], expected: StreamExpectation, recorder: CheckRecorder, where: str
) -> None:
    """Each row that there is too much of, or too little, under the rule that says why it must not be."""
    off = {key: got[key] - wanted[key] for key in {*got, *wanted} if got[key] != wanted[key]}
    never = [key for key in off if key not in expected.ever]
    if not recorder.record(
        "stream.only-committed", f"{_some(never)} was never there" if never else None, where
    ):
        return
    lost = [key for key, by in off.items() if _is_lost(by, got[key], wanted[key], net=wanted is expected.now)]
    more = [key for key in off if key not in lost]
    rule = "stream.upkeep-brings-nothing" if expected.upkeep else "stream.each-row-once"
    recorder.record(
        rule, f"{_some(more)} was told {abs(off[more[0]])} times too often" if more else None, where
    )
    recorder.record("stream.none-lost", f"of {_some(lost)} something was not told" if lost else None, where)


def _is_lost(by: int, got: int, wanted: int, *, net: bool) -> bool:
    """Whether something was not told of a row: that it came; or that it went, where what is left counts (`net`)."""
    return (by < 0 <= got) or (net and by > 0 and not wanted)


def _net(tail: ReadStream, schema: Struct, answer: Rows) -> Counter[Key]:
    if tail.follows != CHANGES:
        return bag(schema, answer.rows)
    key = row_keyer(schema)
    net: Counter[Key] = Counter()
    for *row, kind in answer.rows:
        values: Row = tuple(row)
        net[key(values)] += (kind in COMES) - (kind in GOES)
    return net


def _came(expected: StreamExpectation, taken: set[int]) -> Counter[Key]:
    """The rows of the first look and of the steps that took none away."""
    steps = (step.came for step in expected.steps if step.step not in taken)
    return sum(steps, Counter(expected.first))


def _of(expected: StreamExpectation, taken: set[int]) -> Counter[Key]:
    """What came in the steps that also took rows away."""
    rows: Counter[Key] = Counter()
    for step in expected.steps:
        if step.step in taken:
            rows += step.came
    return rows


def _took(observation: Observation, step: int) -> bool:
    """Whether a step's commits took rows away, by the log."""
    return any(remove.data_change for commit in _commits(observation, step) for remove in commit.removes)


def _commits(observation: Observation, step: int) -> Iterable[Commit]:
    if step not in observation.versions or step - 1 not in observation.versions:
        raise _NotKnown
    first, last = observation.versions[step - 1] + 1, observation.versions[step]
    try:
        return observation.reader.commits(first, last) if first <= last else ()
    except LogError as error:
        raise _NotKnown from error


# Streams that write


def _written(observation: Observation, recorder: CheckRecorder) -> None:
    right = observation.expectation.ordinary
    if (
        observation.after is None
        or isinstance(observation.outcome, Rejected)
        or isinstance(right.outcome, Rejected)
    ):
        return
    try:
        rows = observation.reader.rows(observation.after)
    except LogError:
        return  # the rules of the log tell
    if rows.schema != right.table.schema:
        return
    there, wanted = bag(rows.schema, rows.rows), right.table.bag
    twice, lost = there - wanted, wanted - there
    recorder.record("stream.written-once", f"{_some(twice)} is there too often" if twice else None)
    recorder.record("stream.all-written", f"{_some(lost)} is not there" if lost else None)


def _some(rows: Iterable[Key]) -> str:
    listed = list(rows)
    return f"{listed[0]}" + (f" and {len(listed) - 1} more" if len(listed) > 1 else "")


CHECK = Check(CheckName.STREAMS, JUDGES, check)
