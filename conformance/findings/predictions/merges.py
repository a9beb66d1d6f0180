"""Wrong merges of an older deltalake: files that it adds anew and does not remove, and rows that match several times.

It looks for the files that it has to remove by their paths, escaped once, in a list where they are escaped twice. So it
does not find those whose path has an escaped character.

It has no check for several source rows that match one row of the table: each such pair is a row of its own.

The change data tell what the merge was meant to do: the rows that it left as gone, and each such pair by itself.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations

from conformance.findings.predictions.commits import OLD_IMAGES
from conformance.findings.predictions.contents import merges_that_fill_too
from conformance.findings.predictions.tables import (
    files_with_rows,
    is_unchanged,
    result_on,
    rows_after,
    rows_before,
)
from conformance.observations.observation import Observation
from delta_models.log import Snapshot
from delta_models.log.actions import Add
from delta_models.log.changes import commit_changes
from delta_models.operations import Merge, MergeClause
from delta_models.outcomes import Committed, NoChange
from delta_models.requirements import Violation
from delta_models.schema import Struct
from delta_models.values import Key, Row, Rows, bag, row_key

MOST_FILES = 10  # that may have stayed: each of their sets is tried

File = tuple[Add, tuple[Row, ...]]


def merged_files_stay(observation: Observation, _: Violation) -> bool:
    """The table is right but for the rows of files with escaped paths, which the merge should have removed."""
    before, after, found = observation.before, observation.after, rows_after(observation)
    if not isinstance(observation.operation, Merge) or before is None or after is None or found is None:
        return False
    schema = observation.model.schema
    if schema.names != found.schema.names:
        return False
    right, there = bag(schema, observation.model.rows), bag(schema, found.rows)
    if there == right:
        return False
    return any(there == right + bag(schema, rows) for rows in _sets_of(_stayed(observation)))


def merge_finds_no_file_to_remove(observation: Observation, _: Violation) -> bool:
    """A merge that only deletes did nothing, since each file with a row that goes has an escaped path."""
    before, operation = observation.before, observation.operation
    if not isinstance(operation, Merge) or before is None or not is_unchanged(observation):
        return False
    if not isinstance(observation.outcome, NoChange):
        return False
    right = bag(before.schema, observation.expectation.ordinary.table.rows)
    files = files_with_rows(observation, before)
    rest = [row for file in files if file not in _escaped(files) for row in file[1]]
    held = bag(before.schema, [row for _, rows in files for row in rows])
    plain = bag(before.schema, rest)
    return right <= held and plain <= right and right != held


def merged_files_told(observation: Observation, violation: Violation) -> bool:
    """Files with escaped paths stayed, and the change data tell the merge as if they had been removed."""
    before, after, rows = observation.before, observation.after, rows_before(observation)
    if before is None or after is None or rows is None:
        return False
    right = observation.model
    if before.schema.names != right.schema.names or after.schema.names != right.schema.names:
        return False
    stayed = merged_files_stay(observation, violation)
    return stayed and _told(observation, after) == _minus(
        bag(right.schema, right.rows), bag(right.schema, rows)
    )


def each_match_by_itself(observation: Observation, _: Violation) -> bool:
    """Of each row that several source rows match, the merge made a row for each match, by the clause that fits it.

    Files with escaped paths may have stayed as well, and new columns may be filled as `new_columns_filled_too` says.
    """
    operation, before = observation.operation, observation.before
    if not isinstance(operation, Merge) or before is None or not isinstance(observation.outcome, Committed):
        return False
    return any(
        _leaves_each_match(observation, merge)
        for merge in (operation, *merges_that_fill_too(operation, before))
    )


def _leaves_each_match(observation: Observation, merge: Merge) -> bool:
    found, made = rows_after(observation), _made_by_each_match(observation, merge)
    if found is None or made is None:
        return False
    right, there = bag(found.schema, made), bag(found.schema, found.rows)
    return there == right or any(
        there == right + bag(found.schema, rows) for rows in _sets_of(_stayed(observation))
    )


def each_match_told(observation: Observation, violation: Violation) -> bool:
    """The change data tell each match by itself, and the table is what these matches make of it."""
    before, after, rows = observation.before, observation.after, rows_before(observation)
    operation = observation.operation
    if not isinstance(operation, Merge) or before is None or after is None or rows is None:
        return False
    made = _made_by_each_match(observation, operation)
    if made is None or not each_match_by_itself(observation, violation):
        return False
    told = Counter[Key]()
    old = _widened(before.schema, after.schema, rows)
    for row, numbers in zip(old, _matches(observation, operation, rows), strict=True):
        told[row_key(after.schema, row)] -= max(1, len(numbers))
    for row in made:
        told[row_key(after.schema, row)] += 1
    return _told(observation, after) == _without_zeros(told)


def each_match_counted(observation: Observation, violation: Violation) -> bool:
    """The metric of deleted rows counts a row as often as source rows delete it."""
    operation, rows = observation.operation, rows_before(observation)
    if not isinstance(operation, Merge) or rows is None:
        return False
    deleted = 0
    for target, numbers in zip(rows, _matches(observation, operation, rows), strict=True):
        for some in [[number] for number in numbers] or [[]]:
            result = result_on(observation, [target], _with_sources(operation, some))
            if result is None:
                return False
            deleted += not result.rows
    return violation.detail.startswith(f"numtargetrowsdeleted is said to be {deleted}, ")


def _made_by_each_match(observation: Observation, operation: Merge) -> list[Row] | None:
    """The rows that a merge makes of all matches, each by itself; None if no row matches twice, or it can't be said."""
    after, rows = observation.after, rows_before(observation)
    if after is None or rows is None:
        return None
    matches = _matches(observation, operation, rows)
    if not any(len(numbers) > 1 for numbers in matches):
        return None
    matched = {number for numbers in matches for number in numbers}
    parts: list[tuple[list[Row], list[int]]] = [
        ([target], some)
        for target, numbers in zip(rows, matches, strict=True)
        for some in [[number] for number in numbers] or [[]]
    ]
    parts.append(([], [number for number in range(len(operation.source.rows)) if number not in matched]))
    made: list[Row] = []
    for targets, some in parts:
        result = result_on(observation, targets, _with_sources(operation, some))
        if result is None or not set(result.schema.names) <= set(after.schema.names):
            return None
        made += _widened(result.schema, after.schema, result.rows)
    return made


def _widened(narrow: Struct, wide: Struct, rows: Iterable[Row]) -> list[Row]:
    """Rows with the columns of another schema; a column that they lack is null."""
    places = [narrow.index(name) if name in narrow.names else None for name in wide.names]
    return [tuple(None if place is None else row[place] for place in places) for row in rows]


def _told(observation: Observation, after: Snapshot) -> dict[Key, int]:
    """How often the change data tell each row as new, less how often they tell it as old. Zeros are left out."""
    told = Counter[Key]()
    for commit in observation.commits:
        for row, kind in commit_changes(observation.reader, after, commit):
            told[row_key(after.schema, row)] += -1 if kind in OLD_IMAGES else 1
    return _without_zeros(told)


def _minus(more: Counter[Key], less: Counter[Key]) -> dict[Key, int]:
    return _without_zeros({key: more[key] - less[key] for key in {*more, *less}})


def _without_zeros(counts: Mapping[Key, int]) -> dict[Key, int]:
    return {key: count for key, count in counts.items() if count}


def _matches(observation: Observation, operation: Merge, rows: Sequence[Row]) -> list[list[int]]:
    """For each row of the table, the numbers of the source rows that match it."""
    return [
        [
            number
            for number, row in enumerate(operation.source.rows)
            if _match(observation, operation, row, target)
        ]
        for target in rows
    ]


def _with_sources(operation: Merge, numbers: Sequence[int]) -> Merge:
    """The merge with some of its source rows."""
    rows = tuple(operation.source.rows[number] for number in numbers)
    return replace(operation, source=Rows(operation.source.schema, rows))


def _match(observation: Observation, operation: Merge, source: Row, target: Row) -> bool:
    """Whether a source row matches a row of the table: a merge that deletes what matches would delete it."""
    probe = replace(
        operation,
        source=Rows(operation.source.schema, (source,)),
        clauses=(MergeClause("matched", "delete"),),
        schema_evolution=False,
    )
    result = result_on(observation, [target], probe)
    return result is not None and not result.rows


def _stayed(observation: Observation) -> list[tuple[Row, ...]]:
    """The rows of each file with an escaped path that was live before and is live still."""
    before, after = observation.before, observation.after
    if before is None or after is None:
        return []
    return [rows for add, rows in _escaped(files_with_rows(observation, after)) if add.key in before.live]


def _escaped(files: Sequence[File]) -> list[File]:
    """The files whose paths have an escaped character."""
    return [(add, rows) for add, rows in files if "%" in add.path]


def _sets_of(stayed: Sequence[Sequence[Row]]) -> Iterator[list[Row]]:
    for count in range(1, len(stayed[:MOST_FILES]) + 1):
        for some in combinations(stayed[:MOST_FILES], count):
            yield [row for rows in some for row in rows]
