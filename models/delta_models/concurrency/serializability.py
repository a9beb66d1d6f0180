"""Decide whether some serial order of concurrent operations explains the table that they left.

Operations that reported a commit count, refused ones do not. The operations of one writer stay in their order. A table
that no order explains shows an anomaly, with the name that the literature gives it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from delta_models.operations import Delete, Operation, Optimize, Read, ReadStream, Vacuum, ZOrder
from delta_models.table.history_model import ModelHistory
from delta_models.table.state import Table
from delta_models.values import Rows, bag
from delta_models.wire_names import name_of

LOST_UPDATE = "race.no-lost-update"
DOUBLED_ROWS = "race.no-doubled-rows"
RESURRECTED_ROWS = "race.no-resurrected-rows"
WRITE_SKEW = "race.no-write-skew"
ANOMALIES = (LOST_UPDATE, DOUBLED_ROWS, RESURRECTED_ROWS, WRITE_SKEW)

COMPACTS = (Optimize, ZOrder)
PASSES_BY = (Read, ReadStream, Vacuum)


@dataclass(frozen=True, slots=True)
class CompletedOperation:
    """An operation that committed, and the number of its writer."""

    operation: Operation
    writer: int


@dataclass(frozen=True, slots=True)
class Anomaly:
    """A table that no serial order explains: the broken requirement, and what shows it."""

    requirement: str
    detail: str


def serial_states(
    model_history: ModelHistory, completed: Sequence[CompletedOperation]
) -> Sequence[tuple[Table, ...]]:
    """Return for each order of the operations the states that it passes, beginning with the present one.

    Recent results are cached, because many schedules of the same operations begin from one model history.
    """
    key = id(model_history), tuple(completed)
    if key not in _CACHE or _CACHE[key][0] is not model_history:
        if len(_CACHE) >= _CACHE_SIZE:
            del _CACHE[next(iter(_CACHE))]
        _CACHE[key] = model_history, tuple(_serial_states(model_history, completed))
    return _CACHE[key][1]


_CACHE_SIZE = 64
_CACHE: dict[
    tuple[int, tuple[CompletedOperation, ...]], tuple[ModelHistory, tuple[tuple[Table, ...], ...]]
] = {}


def _serial_states(
    model_history: ModelHistory, completed: Sequence[CompletedOperation]
) -> Iterator[tuple[Table, ...]]:
    if not completed:
        yield (model_history.table,)
    for index, candidate in enumerate(completed):
        if any(before.writer == candidate.writer for before in completed[:index]):
            continue
        rest = [*completed[:index], *completed[index + 1 :]]
        for states in _serial_states(model_history.after(candidate.operation), rest):
            yield (model_history.table, *states)


def find_explanation(
    model_history: ModelHistory,
    completed: Sequence[CompletedOperation],
    observed: Rows,
    properties: Mapping[str, str] | None = None,
) -> Table | None:
    """Return the table that some order of the operations leaves with these rows; None if no order does.

    With the observed `properties`, prefer a table that has them.
    """
    observed_bag = bag(observed.schema, observed.rows)
    ends = [
        end
        for *_, end in serial_states(model_history, completed)
        if end.schema == observed.schema and end.bag == observed_bag
    ]
    if properties is not None:
        return next((end for end in ends if has_properties(end, properties)), next(iter(ends), None))
    return next(iter(ends), None)


def has_properties(table: Table, observed: Mapping[str, str]) -> bool:
    """Whether the observed properties include all of the table's."""
    return all(observed.get(key) == value for key, value in table.properties)


def is_serial(
    model_history: ModelHistory, completed: Sequence[CompletedOperation], versions: Sequence[Rows]
) -> bool:
    """Whether the versions of the table are the states that some order of the operations passes.

    A version or an operation that changes no row does not count as a state.
    """
    observed = _changes([(version.schema, bag(version.schema, version.rows)) for version in versions])
    return any(
        _changes([(state.schema, state.bag) for state in states]) == observed
        for states in serial_states(model_history, completed)
    )


def find_anomaly(
    model_history: ModelHistory, completed: Sequence[CompletedOperation], observed: Rows
) -> Anomaly | None:
    """Return the anomaly that the rows show after operations that all committed; None if an order explains them."""
    if find_explanation(model_history, completed, observed) is not None:
        return None
    observed_bag = bag(observed.schema, observed.rows)
    names = operation_names(completed)
    for count in range(len(completed)):
        for subset in combinations(completed, count):
            if any(states[-1].bag == observed_bag for states in serial_states(model_history, subset)):
                detail = (
                    f"of {names}, all of which committed, there is the effect of {operation_names(subset)}"
                )
                undone = [completion.operation for completion in completed if completion not in subset]
                only_deletes = bool(undone) and all(
                    isinstance(operation, Delete) for operation in undone if _changes_rows(operation)
                )
                return Anomaly(RESURRECTED_ROWS if only_deletes else LOST_UPDATE, detail)
    ends = [states[-1] for states in serial_states(model_history, completed)]
    most = {key: max(end.bag[key] for end in ends) for key in observed_bag}
    doubled = [key for key, times in observed_bag.items() if 0 < most[key] < times]
    if doubled:
        return Anomaly(
            DOUBLED_ROWS, f"after {names} {len(doubled)} rows are there more often than in any order"
        )
    resurrected = [key for key in observed_bag if most[key] == 0 and model_history.table.bag[key]]
    if resurrected:
        return Anomaly(
            RESURRECTED_ROWS, f"after {names} {len(resurrected)} rows are there that each order takes away"
        )
    return Anomaly(WRITE_SKEW, f"after {names} there are rows that no order of them gives")


def operation_names(completed: Sequence[CompletedOperation]) -> str:
    """Return the names of operations as text for a message."""
    return " and ".join(name_of(completion.operation) for completion in completed) or "none"


def _changes(states: Sequence[object]) -> list[object]:
    """The states without those that equal the one before."""
    return [state for index, state in enumerate(states) if index == 0 or state != states[index - 1]]


def _changes_rows(operation: Operation) -> bool:
    return not isinstance(operation, (*COMPACTS, *PASSES_BY))
