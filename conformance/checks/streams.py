"""Does a streaming reader get each row once, and does a streaming writer write each row once?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from conformance.checks.names import CheckName
from conformance.checks.outcomes import describe
from conformance.checks.recorder import Check, CheckRecorder, judged_by
from conformance.observations.observation import Observation, ReadObservation
from delta_models.log import Commit, LogError
from delta_models.operations import ReadStream, WriteStream
from delta_models.outcomes import Outcome, Rejected
from delta_models.requirements import Checked, checked
from delta_models.schema import Struct
from delta_models.table import StreamExpectation
from delta_models.table.change_feed import COMES, GOES
from delta_models.table.streams import CHANGES, INSERTS, ROWS
from delta_models.values import Key, Row, Rows, bag, row_keyer

JUDGES = judged_by(CheckName.STREAMS)
CHANGED = "rows-changed"


class _NotKnown(Exception):
    """The log no longer holds the commits of a step."""


def check(observation: Observation, _recorder: CheckRecorder) -> Iterator[Checked]:
    """Judge the streaming readers of this step, or the streaming writer that ran."""
    if observation.log_error is not None:
        return
    for read_observation in observation.looks:
        if isinstance(read_observation.operation, ReadStream) and read_observation.followed is not None:
            yield from _check_reader(
                observation, read_observation, read_observation.operation, read_observation.followed
            )
    if isinstance(observation.operation, WriteStream) and observation.wrote:
        yield from _check_writer(observation)


# Streaming readers


def _check_reader(
    observation: Observation, read_observation: ReadObservation, tail: ReadStream, expected: StreamExpectation
) -> Iterator[Checked]:
    where = f"reader {tail.reader!r} of {tail.follows} after step {observation.step}"
    try:
        deleting = {step.step for step in expected.steps if _deletes_rows(observation, step.step)}
    except _NotKnown:
        return
    must_refuse = tail.follows == ROWS and bool(deleting)
    if read_observation.refused is not None:
        yield from _check_refusal(read_observation.refused, expected, must_refuse=must_refuse, where=where)
        return
    if must_refuse:
        yield checked(
            "stream.changes-refused", f"it was answered, although step {min(deleting)} took rows", where
        )
        return
    yield checked("stream.follows", read_observation.malformed, where)
    if read_observation.malformed is not None or read_observation.answer is None:
        return
    got = _net_rows(tail, expected.schema, read_observation.answer)
    wanted = expected.now if tail.follows == CHANGES else _inserted(expected, deleting)
    if tail.follows == INSERTS and deleting:
        skipped = +(got - wanted) & _inserted_beside_deletes(expected, deleting)
        problem = f"{_some(skipped)} came in a commit that took rows away" if skipped else None
        yield checked("stream.changes-skipped", problem, where)
        if problem is not None:
            return
    yield from _check_rows(got, wanted, expected, where)


def _check_refusal(
    refused: Outcome, expected: StreamExpectation, *, must_refuse: bool, where: str
) -> Iterator[Checked]:
    kind = refused.kind if isinstance(refused, Rejected) else ""
    if kind in expected.refusals:
        return
    if must_refuse:
        yield checked("stream.changes-refused", None if kind == CHANGED else describe(refused), where)
    else:
        yield checked("stream.follows", describe(refused), where)


def _check_rows(
    got: Counter[Key], wanted: Counter[Key], expected: StreamExpectation, where: str
) -> Iterator[Checked]:
    """Judge rows that came too often or not often enough, each by the rule that it violates."""
    keys = dict.fromkeys((*got, *wanted))  # a set would have another order in each process
    differences = {key: got[key] - wanted[key] for key in keys if got[key] != wanted[key]}
    unknown = [key for key in differences if key not in expected.ever]
    yield checked("stream.only-committed", f"{_some(unknown)} was never there" if unknown else None, where)
    if unknown:
        return
    lost = [
        key
        for key, surplus in differences.items()
        if _is_lost(surplus, got[key], wanted[key], net=wanted is expected.now)
    ]
    repeated = [key for key in differences if key not in lost]
    rule = "stream.upkeep-brings-nothing" if expected.upkeep else "stream.each-row-once"
    yield checked(
        rule,
        f"{_some(repeated)} was told {abs(differences[repeated[0]])} times too often" if repeated else None,
        where,
    )
    yield checked("stream.none-lost", f"of {_some(lost)} something was not told" if lost else None, where)


def _is_lost(surplus: int, got: int, wanted: int, *, net: bool) -> bool:
    """Return whether the reader missed that a row came or, if net rows count (`net`), that it went."""
    return (surplus < 0 <= got) or (net and surplus > 0 and not wanted)


def _net_rows(tail: ReadStream, schema: Struct, answer: Rows) -> Counter[Key]:
    if tail.follows != CHANGES:
        return bag(schema, answer.rows)
    key = row_keyer(schema)
    net: Counter[Key] = Counter()
    for *row, kind in answer.rows:
        values: Row = tuple(row)
        net[key(values)] += (kind in COMES) - (kind in GOES)
    return net


def _inserted(expected: StreamExpectation, deleting: set[int]) -> Counter[Key]:
    """Return the rows of the first read and of the steps that deleted none."""
    steps = (step.came for step in expected.steps if step.step not in deleting)
    return sum(steps, Counter(expected.first))


def _inserted_beside_deletes(expected: StreamExpectation, deleting: set[int]) -> Counter[Key]:
    """Return the rows that came in the steps that also deleted rows."""
    rows: Counter[Key] = Counter()
    for step in expected.steps:
        if step.step in deleting:
            rows += step.came
    return rows


def _deletes_rows(observation: Observation, step: int) -> bool:
    """Return whether the commits of a step removed data, by the log."""
    return any(remove.data_change for commit in _commits(observation, step) for remove in commit.removes)


def _commits(observation: Observation, step: int) -> Iterable[Commit]:
    if step not in observation.versions or step - 1 not in observation.versions:
        raise _NotKnown
    first, last = observation.versions[step - 1] + 1, observation.versions[step]
    try:
        return observation.reader.commits(first, last) if first <= last else ()
    except LogError as error:
        raise _NotKnown from error


# Streaming writers


def _check_writer(observation: Observation) -> Iterator[Checked]:
    expected = observation.expectation.ordinary
    if (
        observation.after is None
        or isinstance(observation.outcome, Rejected)
        or isinstance(expected.outcome, Rejected)
    ):
        return
    try:
        rows = observation.reader.rows(observation.after)
    except LogError:
        return  # the rules of the log report it
    if rows.schema != expected.table.schema:
        return
    written, wanted = bag(rows.schema, rows.rows), expected.table.bag
    repeated, lost = written - wanted, wanted - written
    yield checked("stream.written-once", f"{_some(repeated)} is there too often" if repeated else None)
    yield checked("stream.all-written", f"{_some(lost)} is not there" if lost else None)


def _some(rows: Iterable[Key]) -> str:
    keys = list(rows)
    return f"{keys[0]}" + (f" and {len(keys) - 1} more" if len(keys) > 1 else "")


CHECK = Check(CheckName.STREAMS, JUDGES, check, (ReadStream, WriteStream))
