"""What writers at once may do to each other: they leave a table that some order of them, one by one, could have made.

Whoever was told that it had committed counts, whoever was refused does not. What no order explains is an anomaly, and
has the name by which people know it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, permutations

from delta_models.operations import (
    Append,
    Delete,
    Merge,
    Operation,
    Optimize,
    Overwrite,
    Read,
    Restore,
    Update,
    Vacuum,
    ZOrder,
)
from delta_models.table.state import Table
from delta_models.table.world import World
from delta_models.values import Rows, bag

LOST_UPDATE = "race.no-lost-update"
DOUBLED_ROWS = "race.no-doubled-rows"
RESURRECTED_ROWS = "race.no-resurrected-rows"
WRITE_SKEW = "race.no-write-skew"
ANOMALIES = (LOST_UPDATE, DOUBLED_ROWS, RESURRECTED_ROWS, WRITE_SKEW)

CAN, CANNOT = "can conflict", "cannot conflict"
REWRITES = (Update, Delete, Merge, Overwrite, Restore)
COMPACTS = (Optimize, ZOrder)
PASSES_BY = (Read, Vacuum)


@dataclass(frozen=True, slots=True)
class Anomaly:
    """A state that no order explains: by which name, and what shows it."""

    requirement: str
    detail: str


def serial_states(world: World, operations: Sequence[Operation]) -> Iterator[tuple[Table, ...]]:
    """For each order of the operations the states that it goes through, the first of them as it is now."""
    for order in permutations(operations):
        at, states = world, [world.table]
        for each in order:
            at = at.after(each)
            states.append(at.table)
        yield tuple(states)


def anomaly(world: World, done: Sequence[Operation], found: Rows) -> Anomaly | None:
    """What is wrong with the rows after operations that have all committed at once; None if an order explains them."""
    ends = [states[-1] for states in serial_states(world, done)]
    there = bag(found.schema, found.rows)
    if any(each.schema == found.schema and each.bag == there for each in ends):
        return None
    names = " and ".join(type(each).__name__ for each in done)
    for count in range(len(done)):
        for some in combinations(done, count):
            if any(states[-1].bag == there for states in serial_states(world, some)):
                kept = " and ".join(type(each).__name__ for each in some) or "none"
                detail = f"of {names}, all of which committed, there is the effect of {kept}"
                undone = [each for each in done if each not in some]
                only_deletes = bool(undone) and all(
                    isinstance(each, Delete) for each in undone if _changes(each)
                )
                return Anomaly(RESURRECTED_ROWS if only_deletes else LOST_UPDATE, detail)
    most = {key: max(end.bag[key] for end in ends) for key in there}
    doubled = [key for key, times in there.items() if 0 < most[key] < times]
    if doubled:
        return Anomaly(
            DOUBLED_ROWS, f"after {names} {len(doubled)} rows are there more often than in any order"
        )
    back = [key for key in there if most[key] == 0 and world.table.bag[key]]
    if back:
        return Anomaly(
            RESURRECTED_ROWS, f"after {names} {len(back)} rows are there that each order takes away"
        )
    return Anomaly(WRITE_SKEW, f"after {names} there are rows that no order of them gives")


def _changes(operation: Operation) -> bool:
    return not isinstance(operation, (*COMPACTS, *PASSES_BY))


def documented(first: Operation, second: Operation, overlap: str) -> str:
    """Whether two operations may conflict, by Delta Lake's own documentation of concurrency control.

    `overlap` is "apart" where both name their partitions, and none in common. An append may conflict with what rewrites
    only under Serializable; which level an engine works at is its own, so that is left open here.
    """
    pair = (first, second)
    if any(isinstance(each, PASSES_BY) for each in pair) or overlap == "apart":
        return CANNOT
    if all(isinstance(each, (Append, *COMPACTS)) for each in pair) and any(
        isinstance(each, Append) for each in pair
    ):
        return CANNOT
    return CAN
