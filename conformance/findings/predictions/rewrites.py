"""Files that are rewritten, and rows that are told as deleted, by a predicate that no row meets.

A part of it became a constant without columns. deltalake applies no such part, and looks for rows by the parts that
are left. It does apply the whole predicate to the rows that it then writes, so that all of them stay.

One such part is a comparison with null. Another is a contradiction: the optimizer turns `a IN (-1, -1)` into
`a = -1`, finds it beside `a = 7`, and puts a false in their place.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator

from conformance.findings.predictions.filters import UNKNOWN, parts_of
from conformance.findings.predictions.tables import rows_after, rows_before, same_rows
from conformance.observations.observation import Observation
from delta_models.expressions import Column, Compare, Expression, In, Literal, Not, evaluate
from delta_models.log import Snapshot
from delta_models.log.changes import commit_changes
from delta_models.operations import Delete, Overwrite, Update
from delta_models.requirements import Violation
from delta_models.values import Key, Row, Value, bag, row_key

SHORT = 3  # options of a list that becomes comparisons; a longer one stays a list

Rest = tuple[Expression, ...]


def files_rewritten_by_what_is_left(observation: Observation, _: Violation) -> bool:
    """Beside a contradiction, each file that was rewritten has a row that the rest picks, and all rows stay."""
    return _files_rewritten(observation, _beside_contradictions)


def rows_told_by_what_is_left(observation: Observation, _: Violation) -> bool:
    """The feed tells that the rows were deleted which the parts beside a contradiction pick in rewritten files."""
    return _rows_told(observation, _beside_contradictions)


def files_rewritten_beside_null(observation: Observation, _: Violation) -> bool:
    """Beside a comparison with null, each file that was rewritten has a row that the rest picks, and all rows stay."""
    return _files_rewritten(observation, _beside_null)


def rows_told_beside_null(observation: Observation, _: Violation) -> bool:
    """The feed tells that the rows were deleted which the parts beside a null pick in rewritten files."""
    return _rows_told(observation, _beside_null)


def _files_rewritten(observation: Observation, left_of: Callable[[Expression], Rest | None]) -> bool:
    files = list(_rewritten(observation, left_of))
    held = [row for _, rows in files for row in rows]
    return files != [] and all(picked for picked, _ in files) and _all_rows_stay(observation, held)


def _rows_told(observation: Observation, left_of: Callable[[Expression], Rest | None]) -> bool:
    before, after = observation.before, observation.after
    if before is None or after is None or not isinstance(observation.operation, Delete | Overwrite):
        return False
    expected: Counter[tuple[Key, str]] = Counter()
    for picked, _ in _rewritten(observation, left_of):
        expected.update((row_key(before.schema, row), "delete") for row in picked)
    told = Counter(
        (row_key(after.schema, row), kind)
        for commit in observation.commits
        for row, kind in commit_changes(observation.reader, after, commit)
    )
    return told == expected and _files_rewritten(observation, left_of)


def _rewritten(
    observation: Observation, left_of: Callable[[Expression], Rest | None]
) -> Iterator[tuple[list[Row], tuple[Row, ...]]]:
    """For each file that was rewritten, the rows that the rest of the predicate picks, and all of its rows."""
    before, operation = observation.before, observation.operation
    if before is None or not isinstance(operation, Delete | Update | Overwrite) or operation.where is None:
        return
    rest = left_of(operation.where)
    if rest is None:
        return
    for commit in observation.commits:
        for remove in commit.removes:
            rows = observation.reader.file_rows(before, before.live[remove.key])
            yield [row for row in rows if _picks(rest, before, row)], rows


def _all_rows_stay(observation: Observation, removed: list[Row]) -> bool:
    before, rows, found = observation.before, rows_before(observation), rows_after(observation)
    if before is None or rows is None or found is None or found.schema.names != before.schema.names:
        return False
    added = [
        row
        for commit in observation.commits
        for add in commit.adds
        if observation.after is not None
        for row in observation.reader.file_rows(observation.after, add)
    ]
    return same_rows(before.schema, rows, found.rows) and bag(before.schema, removed) == bag(
        before.schema, added
    )


def _beside_null(where: Expression) -> Rest | None:
    """The parts that are left of a predicate if one of its parts is null; None if there is none."""
    parts = parts_of(where)
    rest = tuple(part for part in parts if part != UNKNOWN)
    return rest if len(rest) < len(parts) else None


def _beside_contradictions(where: Expression) -> Rest | None:
    """The parts that are left of a predicate if it contradicts itself as described; None if it does not."""
    parts = parts_of(where)
    points, listed = _points(parts), _listed(parts)
    columns = {
        column
        for column, values in points.items()
        if any(value != other for other in listed[column] for value in values)
    }
    if not columns:
        return None
    return tuple(part for part in parts if not _goes(part, columns, points))


def _points(parts: tuple[Expression, ...]) -> dict[Column, list[Value]]:
    """The values that each column has to equal, by `=` or as the lower and upper limit at once."""
    points: defaultdict[Column, list[Value]] = defaultdict(list)
    limits: dict[str, list[tuple[Column, Value]]] = {">=": [], "<=": []}
    for part in parts:
        match part:
            case Compare(op="=", left=Column() as column, right=Literal(value=value)):
                points[column].append(value)
            case Compare(op=">=" | "<=" as op, left=Column() as column, right=Literal(value=value)):
                limits[op].append((column, value))
    for column, value in limits[">="]:
        if (column, value) in limits["<="]:
            points[column].append(value)
    return points


def _listed(parts: tuple[Expression, ...]) -> defaultdict[Column, list[Value]]:
    """The values that short lists of equal options name."""
    listed: defaultdict[Column, list[Value]] = defaultdict(list)
    for part in parts:
        match part:
            case In(operand=Column() as column, options=options) if _are_equal(options):
                listed[column] += [option.value for option in options[:1] if isinstance(option, Literal)]
    return listed


def _are_equal(options: tuple[Expression, ...]) -> bool:
    return 1 < len(options) <= SHORT and isinstance(options[0], Literal) and len(set(options)) == 1


def _goes(part: Expression, columns: set[Column], points: dict[Column, list[Value]]) -> bool:
    """Whether a part goes: an equality of such a column, a limit that is one of its points, or what differs from it."""
    match part:
        case Compare(op="=" | "!=", left=Column() as column, right=Literal()):
            return column in columns
        case Compare(op=">=" | "<=", left=Column() as column, right=Literal(value=value)):
            return column in columns and value in points[column]
        case In(operand=Column() as column, options=options) | Not(
            In(operand=Column() as column, options=options)
        ):
            return column in columns and _are_equal(options)
    return False


def _picks(rest: Rest, before: Snapshot, row: Row) -> bool:
    return all(evaluate(part, before.schema, row) is True for part in rest)
