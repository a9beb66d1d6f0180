"""Files that an older deltalake passes over, where it needs no column of the data files but those of the partitions.

Such a scan splits its files into groups, one for each core, and reads one group: of n files and k groups n // k, at
least one. That is a read of partition columns, and the search of an UPDATE or a DELETE by partition columns for its
files.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence
from itertools import permutations

from conformance.findings.predictions.tables import (
    files_with_rows,
    projected,
    result_on,
    rows_after,
    snapshot_of,
    wrong_reads,
)
from conformance.observations.observation import Observation, RaceObservation
from delta_models.expressions import Expression, columns_of, evaluate
from delta_models.log import Snapshot
from delta_models.log.actions import Add
from delta_models.operations import Delete, Operation, Update
from delta_models.outcomes import Committed, Rejected
from delta_models.requirements import Violation
from delta_models.values import Key, Row, bag

MOST_GROUPS = 64  # cores
MOST_WRITERS = 4  # each order of them is tried

File = tuple[Add, tuple[Row, ...]]


def one_group_of_files_read(observation: Observation, violation: Violation) -> bool:
    """A read of partition columns, filtered by these at most, answers the rows of as many files as a group has."""
    for read, look in wrong_reads(observation, violation):
        snapshot = snapshot_of(observation, read)
        if snapshot is None or look.answer is None or read.columns is None:
            continue
        if not set(read.columns) <= set(snapshot.partition_by) or not _by_partitions(snapshot, read.where):
            continue
        files = _picked(files_with_rows(observation, snapshot), snapshot, read.where)
        answered = bag(look.answer.schema, look.answer.rows)
        held = [bag(*projected(read, snapshot.schema, rows)) for _, rows in files]
        if len(files) > 1 and _numbers_of_files(held, answered) & _sizes(len(files)):
            return True
    return False


def one_group_of_files_written(observation: Observation, _: Violation) -> bool:
    """A write by partition columns, or of all rows, changed as many files as a group has, and no other.

    A fault after its commit may have kept it from saying so.
    """
    struck = observation.fault_context is not None and len(observation.commits) == 1
    return (struck or isinstance(observation.outcome, Committed)) and _one_group_changed(observation)


def one_group_of_files_written_in_a_race(observation: Observation, _: Violation) -> bool:
    """Each commit of several writes at once changed all rows that its write picks, or those of one group's files.

    At least one is of a group. A write that has not committed was refused, or found no row. Each write found its files
    in the state before the race, or each in the state that the commit before its own left.
    """
    return _all_on_the_first_state(observation) or _one_after_another(observation)


def _all_on_the_first_state(observation: Observation) -> bool:
    """Whether all writes of a race found their files in the state before it."""
    race, before, found = observation.race, observation.before, rows_after(observation)
    if race is None or before is None or found is None or len(race.operations) > MOST_WRITERS:
        return False
    files = files_with_rows(observation, before)
    for order in permutations(range(len(race.operations))):
        writes = [race.operations[number] for number in order]
        committed, others = order[: len(observation.commits)], order[len(observation.commits) :]
        if len(committed) < len(observation.commits) or any(
            isinstance(race.outcomes[number], Rejected) for number in committed
        ):
            continue
        if not all(_changed_nothing(race, number, before, files) for number in others):
            continue
        removed = [{remove.key for remove in commit.removes} for commit in observation.commits]
        sizes = [_group_of(before, write, files, keys) for write, keys in zip(writes, removed, strict=False)]
        if any(sizes) and None not in sizes:
            left = [
                row for add, rows in files if not any(add.key in keys for keys in removed) for row in rows
            ]
            expected = bag(before.schema, left)
            for write, keys in zip(writes, removed, strict=False):
                rows = [row for add, rows in files if add.key in keys for row in rows]
                changed = result_on(observation, rows, write)
                if changed is None:
                    return False
                expected += bag(changed.schema, changed.rows)
            if expected == bag(found.schema, found.rows):
                return True
    return False


def _one_after_another(observation: Observation) -> bool:
    """Whether each commit of a race is what its write makes of the state before it, and at least one of one group."""
    race, before, after = observation.race, observation.before, observation.after
    if race is None or before is None or after is None or len(race.operations) > MOST_WRITERS:
        return False
    first = files_with_rows(observation, before)
    states: list[list[File]] = [first]  # after each commit
    for commit in observation.commits:
        removed = {remove.key for remove in commit.removes}
        added = [(add, observation.reader.file_rows(after, add)) for add in commit.adds]
        if not removed <= {add.key for add, _ in states[-1]}:
            return False
        states.append([file for file in states[-1] if file[0].key not in removed] + added)
    steps = list(zip(observation.commits, states, states[1:], strict=False))
    for order in permutations(range(len(race.operations)), len(steps)):
        if any(isinstance(race.outcomes[number], Rejected) for number in order):
            continue
        others = [number for number in range(len(race.operations)) if number not in order]
        if not all(_changed_nothing(race, number, before, first) for number in others):
            continue
        made = [
            _made(observation, race.operations[number], old, new, {remove.key for remove in commit.removes})
            for number, (commit, old, new) in zip(order, steps, strict=True)
        ]
        if True in made and None not in made:
            return True
    return False


def _made(
    observation: Observation,
    write: Operation,
    old: Sequence[File],
    new: Sequence[File],
    removed: Collection[object],
) -> bool | None:
    """Whether a write made a state of another by one group's files: False if by all that it picks, None if neither."""
    before = observation.before
    if before is None:
        return None
    there = bag(before.schema, [row for _, rows in new for row in rows])
    right = result_on(observation, [row for _, rows in old for row in rows], write)
    if right is not None and bag(right.schema, right.rows) == there:
        return False
    if not _group_of(before, write, old, removed):
        return None
    changed = result_on(observation, [row for add, rows in old if add.key in removed for row in rows], write)
    left = bag(before.schema, [row for add, rows in old if add.key not in removed for row in rows])
    return True if changed is not None and left + bag(changed.schema, changed.rows) == there else None


def _changed_nothing(race: RaceObservation, number: int, before: Snapshot, files: Sequence[File]) -> bool:
    """Whether a write without a commit was refused, or found no row."""
    write = race.operations[number]
    return isinstance(race.outcomes[number], Rejected) or (
        isinstance(write, Update | Delete) and not _picked(files, before, write.where)
    )


def _group_of(
    before: Snapshot, write: Operation, files: Sequence[File], removed: Collection[object]
) -> bool | None:
    """Whether a write removed one group's files: False if it is all that it picks, None if it is neither."""
    if not isinstance(write, Update | Delete):
        return None
    picked = _picked(files, before, write.where)
    found = [add for add, _ in picked if add.key in removed]
    if not found or len(found) != len(removed):
        return None
    if len(found) == len(picked):
        return False
    return True if len(found) in _sizes(len(picked)) and _by_partitions(before, write.where) else None


def _one_group_changed(observation: Observation) -> bool:
    """Whether the rows of one group's files were changed, and all others left."""
    operation, before, found = observation.operation, observation.before, rows_after(observation)
    if not isinstance(operation, Update | Delete) or before is None or found is None:
        return False
    files = files_with_rows(observation, before)
    if not _is_one_group(observation, operation, files):
        return False
    removed = _removed(observation)
    updated = [row for add, rows in files if add.key in removed for row in rows]
    left = [row for add, rows in files if add.key not in removed for row in rows]
    right = result_on(observation, updated, operation)
    return right is not None and bag(found.schema, found.rows) == bag(right.schema, right.rows) + bag(
        before.schema, left
    )


def one_group_of_files_counted(observation: Observation, violation: Violation) -> bool:
    """The metric of updated rows is that of the files of one group."""
    operation, before = observation.operation, observation.before
    if not isinstance(operation, Update) or before is None:
        return False
    files = files_with_rows(observation, before)
    if not _is_one_group(observation, operation, files):
        return False
    removed = _removed(observation)
    counted = sum(len(rows) for add, rows in _picked(files, before, operation.where) if add.key in removed)
    return violation.detail.startswith(f"numupdatedrows is said to be {counted}, ")


def _is_one_group(observation: Observation, operation: Update | Delete, files: Sequence[File]) -> bool:
    """Whether a write by partition columns removed as many of the files with its rows as a group has."""
    before = observation.before
    if before is None or not _by_partitions(before, operation.where):
        return False
    removed = _removed(observation)
    picked = _picked(files, before, operation.where)
    found = [add for add, _ in picked if add.key in removed]
    return len(picked) > 1 and len(found) == len(removed) and len(found) in _sizes(len(picked))


def _sizes(files: int) -> set[int]:
    """How many files a group may have."""
    return {max(1, files // groups) for groups in range(2, MOST_GROUPS + 1)}


def _numbers_of_files(held: Iterable[Counter[Key]], answered: Counter[Key]) -> set[int]:
    """How many files it may be whose rows give an answer together; each file has rows of one kind only."""
    sizes: defaultdict[Key, list[int]] = defaultdict(list)
    for rows in held:
        if len(rows) != 1:
            return set()
        ((key, count),) = rows.items()
        sizes[key].append(count)
    if not set(answered) <= set(sizes):
        return set()
    numbers = {0}
    for key, counts in sizes.items():
        reached = {(0, 0)}  # files, and their rows
        for count in counts:
            reached |= {(files + 1, rows + count) for files, rows in reached}
        fitting = {files for files, rows in reached if rows == answered[key]}
        numbers = {one + other for one in numbers for other in fitting}
    return numbers


def _removed(observation: Observation) -> set[object]:
    return {remove.key for commit in observation.commits for remove in commit.removes}


def _by_partitions(snapshot: Snapshot, where: Expression | None) -> bool:
    """Whether a predicate looks at partition columns alone."""
    return where is None or {column.path[0] for column in columns_of(where)} <= set(snapshot.partition_by)


def _picked(files: Iterable[File], snapshot: Snapshot, where: Expression | None) -> list[File]:
    """The files with rows that a predicate picks, with these rows."""
    picked = [
        (add, tuple(row for row in rows if where is None or evaluate(where, snapshot.schema, row) is True))
        for add, rows in files
    ]
    return [(add, rows) for add, rows in picked if rows]
