"""Wrong rows that an operation leaves: each computed from the rows that the model has, and compared as a whole."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from conformance.findings.predictions.answers import constants_of, is_nan, without_nan
from conformance.findings.predictions.filters import readings
from conformance.findings.predictions.tables import (
    files_with_rows,
    in_columns,
    is_unchanged,
    leaves_rows,
    partition_places,
    result_on,
    rows_after,
    rows_before,
    same_rows,
)
from conformance.observations.observation import Observation
from delta_models.expressions import Column, NotEvaluable, columns_of, evaluate
from delta_models.log import Snapshot, paths
from delta_models.operations import Assignments, Delete, Merge, Operation, Update
from delta_models.outcomes import Committed, NoChange
from delta_models.requirements import Violation
from delta_models.schema import BINARY, DOUBLE, FLOAT, STRING, TIMESTAMP, TIMESTAMP_NTZ, DataType
from delta_models.values import Key, Row, Value, bag, row_key

SAID_AND_HELD = re.compile(r": the log says (?P<said>.*), the file (?P<held>.*)$", re.DOTALL)
NAME_OF_NULL = "__HIVE_DEFAULT_PARTITION__"
REPLACEMENT = "\N{REPLACEMENT CHARACTER}"
YEAR_1 = datetime(1, 1, 1, tzinfo=UTC)
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
DAY = timedelta(days=1) // timedelta(microseconds=1)
YEARS_OF_A_CYCLE, DAYS_OF_A_CYCLE = 400, 146_097


def bytes_as_their_escapes(observation: Observation, _: Violation) -> bool:
    """Bytes in partition columns became the text of their escapes."""
    return leaves_rows(
        observation,
        in_columns(_partition_columns(observation, BINARY), lambda _, value: escaped_bytes(bytes(value))),  # type: ignore[call-overload]  # a binary
    )


def bytes_as_replacement_characters(observation: Observation, _: Violation) -> bool:
    """Bytes in partition columns went through a text, in which those that are no UTF-8 are replaced."""
    places = _partition_columns(observation, BINARY)
    found = rows_after(observation)
    if found is None or not places:
        return False
    replaced = in_columns(places, lambda _, value: replaced_bytes(bytes(value)))  # type: ignore[call-overload]  # a binary
    # Java and Python may count several bytes as one character that is replaced, or as several.
    squeeze = in_columns(places, lambda _, value: squeezed_bytes(bytes(value)))  # type: ignore[call-overload]  # a binary
    expected = observation.model.rows
    schema = observation.model.schema
    return same_rows(
        schema, map(squeeze, map(replaced, expected)), map(squeeze, found.rows)
    ) and not same_rows(schema, expected, found.rows)


def name_of_null_mixed_with_null(observation: Observation, _: Violation) -> bool:
    """Rows differ only in that a partition text is Hive's name of null where null should be, or the reverse."""
    places = _partition_columns(observation, STRING)
    found = rows_after(observation)
    if found is None or not places:
        return False

    def mixed(row: Row) -> Row:
        return tuple(
            None if place in places and value == NAME_OF_NULL else value for place, value in enumerate(row)
        )

    schema, expected = observation.model.schema, observation.model.rows
    return same_rows(schema, map(mixed, expected), map(mixed, found.rows))


def name_of_null_became_null(observation: Observation, _: Violation) -> bool:
    """A partition text that is Hive's name of null became null, wherever it stood."""
    places = _partition_columns(observation, STRING)
    return leaves_rows(
        observation, in_columns(places, lambda _, value: None if value == NAME_OF_NULL else value)
    )


def year_of_the_era(observation: Observation, _: Violation) -> bool:
    """Moments before the year 1 in partition columns became those of the year of the era: the year 0 is 1 again."""
    places = [
        *_partition_columns(observation, TIMESTAMP),
        *_partition_columns(observation, TIMESTAMP_NTZ),
    ]
    return leaves_rows(observation, in_columns(places, lambda _, value: _year_of_the_era(int(str(value)))))


def log_says_null_for_its_name(_: Observation, violation: Violation) -> bool:
    """The log has null where the file has Hive's name of null."""
    return _said_and_held(violation) == (None, NAME_OF_NULL)


def log_says_the_year_of_the_era(_: Observation, violation: Violation) -> bool:
    """The log has the moment of the year of the era where the file has one before the year 1."""
    said, held = _said_and_held(violation)
    return isinstance(held, int) and said != held and said == _year_of_the_era(held)


def log_says_replacement_characters(_: Observation, violation: Violation) -> bool:
    """The log has replaced bytes where the file has bytes that are no UTF-8."""
    said, held = _said_and_held(violation)
    if not isinstance(said, bytes) or not isinstance(held, bytes):
        return False
    return said != held and squeezed_bytes(said) == squeezed_bytes(replaced_bytes(held))


def new_columns_filled_too(observation: Observation, _: Violation) -> bool:
    """Clauses that list their columns have filled those that the merge has just added, from the source."""
    operation, before, rows = observation.operation, observation.before, rows_before(observation)
    if not isinstance(operation, Merge) or before is None or rows is None or not operation.schema_evolution:
        return False
    return any(_leaves(observation, merge, rows) for merge in merges_that_fill_too(operation, before))


def merges_that_fill_too(merge: Merge, before: Snapshot) -> Iterator[Merge]:
    """The merge, with clauses that list their columns and fill those as well that it adds to the table."""
    known = {name.casefold() for name in before.schema.names}
    new = tuple(
        (name, Column(("source", name)))
        for name in merge.source.schema.names
        if name.casefold() not in known and merge.schema_evolution
    )
    if new:
        for actions in (("insert",), ("update",), ("insert", "update")):
            yield _with_more_assigned(merge, new, actions)


def unknown_rows_deleted(observation: Observation, _: Violation) -> bool:
    """The delete took all rows that its predicate picks if parts that compare with null do not count."""
    operation, before, rows = observation.operation, observation.before, rows_before(observation)
    found = rows_after(observation)
    if (
        not isinstance(operation, Delete)
        or operation.where is None
        or before is None
        or rows is None
        or found is None
    ):
        return False
    partition_by = tuple(before.partition_by)
    for reading in readings(nulls=True, partitions=False):
        try:
            left = [
                row for row in rows if not reading.picks(operation.where, before.schema, partition_by, row)
            ]
        except NotEvaluable:
            return False
        if same_rows(before.schema, left, found.rows):
            return True
    return False


def nan_written_as_the_bound(observation: Observation, _: Violation) -> bool:
    """Rows without NaN are right. Each NaN was passed over, or read as the one other value of its file, or left."""
    operation, before, found = observation.operation, observation.before, rows_after(observation)
    if not isinstance(operation, Delete | Update) or before is None or found is None:
        return False
    schema = before.schema
    names = {column.path[0] for column in columns_of(operation.where)}
    places = [place for place, name in enumerate(schema.names) if name in names]
    plain: list[Row] = []
    fates: list[set[Key | None]] = []
    for add, rows in files_with_rows(observation, before):
        constants = constants_of(add, rows, schema, places)
        for row in rows:
            if not any(is_nan(schema.fields[place].type, row[place]) for place in places):
                plain.append(row)
                continue
            read = without_nan(row, constants)
            fates.append({
                row_key(schema, row), *_fates(observation, row), *_fates(observation, read), row_key(schema, read)
            })  # fmt: skip
    right = result_on(observation, plain, operation)
    if right is None or not fates:
        return False
    left = bag(schema, found.rows)
    certain = bag(schema, right.rows)
    return certain <= left and _matched(list((left - certain).elements()), fates)


def nan_not_found(observation: Observation, _: Violation) -> bool:
    """Nothing was done, since each row to be written holds NaN, and lies in a file with other numbers."""
    operation, before = observation.operation, observation.before
    if not isinstance(operation, Delete | Update) or operation.where is None or before is None:
        return False
    if not isinstance(observation.outcome, NoChange) or not is_unchanged(observation):
        return False
    schema = before.schema
    names = {column.path[0] for column in columns_of(operation.where)}
    places = [place for place, name in enumerate(schema.names) if name in names]
    numeric = [place for place in places if schema.fields[place].type in {DOUBLE, FLOAT}]
    found = False
    for add, rows in files_with_rows(observation, before):
        constants = constants_of(add, rows, schema, places)
        nan = [
            place for place in numeric if any(is_nan(schema.fields[place].type, row[place]) for row in rows)
        ]
        bounded = [
            place for place in nan if any(_is_number(schema.fields[place].type, row[place]) for row in rows)
        ]
        for row in rows:
            picked = evaluate(operation.where, schema, row) is True
            hidden = any(is_nan(schema.fields[place].type, row[place]) for place in bounded)
            if picked and not hidden:
                return False
            if constants and evaluate(operation.where, schema, without_nan(row, constants)) is True:
                return False
            found = found or picked
    return found


def _is_number(data_type: DataType, value: Value) -> bool:
    return value is not None and not is_nan(data_type, value)


def rows_of_respelt_files_stay(observation: Observation, _: Violation) -> bool:
    """The table is right but for the rows of files whose removes are spelt otherwise than their adds."""
    after, before, found = observation.after, observation.before, rows_after(observation)
    if after is None or before is None or found is None:
        return False
    removed = {
        paths.decode(remove.path)
        for commit in observation.commits
        for remove in commit.removes
        if remove.key not in before.live
    }
    stayed = [
        row
        for add, rows in files_with_rows(observation, after)
        if paths.decode(add.path) in removed and add.key in before.live
        for row in rows
    ]
    schema = observation.model.schema
    if not stayed or schema.names != found.schema.names:
        return False
    return bag(schema, found.rows) == bag(schema, observation.model.rows) + bag(schema, stayed)


def long_texts_written(observation: Observation, violation: Violation) -> bool:
    """The texts that are too long stand in the table as they are, and all other rows too."""
    found, branch = rows_after(observation), observation.branch
    if found is None or branch is None or branch.breaks != violation.requirement:
        return False
    return isinstance(observation.outcome, Committed) and same_rows(
        branch.table.schema, branch.table.rows, found.rows
    )


def not_null_beside_old_rows(observation: Observation, _: Violation) -> bool:
    """The new column is null in each old row, and nothing else differs."""
    before, rows, found = observation.before, rows_before(observation), rows_after(observation)
    added = getattr(observation.operation, "field", None)
    if before is None or not rows or found is None or added is None or added.nullable:
        return False
    if found.schema.names != (*before.schema.names, added.name):
        return False
    return same_rows(found.schema, [(*row, None) for row in rows], found.rows)


def _said_and_held(violation: Violation) -> tuple[object, object]:
    """The partition value that the log says, and the one that the file holds."""
    told = SAID_AND_HELD.search(violation.detail)
    if told is None:
        return None, None
    return ast.literal_eval(told["said"]), ast.literal_eval(told["held"])


def _partition_columns(observation: Observation, data_type: DataType) -> list[int]:
    schema = observation.model.schema
    places = partition_places(schema, observation.model.partition_by)
    return [place for place in places if schema.fields[place].type == data_type]


def _leaves(observation: Observation, operation: Operation, rows: Iterable[Row]) -> bool:
    """Whether an operation on these rows leaves those that are there, and the right one on the right rows does not."""
    found = rows_after(observation)
    try:
        wrong = result_on(observation, rows, operation)
    except NotEvaluable:
        return False
    if found is None or wrong is None or wrong.schema.names != found.schema.names:
        return False
    return same_rows(wrong.schema, wrong.stored(wrong.rows), found.rows)


def _with_more_assigned(merge: Merge, new: Assignments, actions: tuple[str, ...]) -> Merge:
    """The merge with further assignments in clauses that list theirs and meet a row of the source."""
    clauses = tuple(
        replace(clause, assignments=(*clause.assignments, *_not_in(new, clause.assignments)))
        if clause.action in actions and not clause.everything and clause.when != "not-matched-by-source"
        else clause
        for clause in merge.clauses
    )
    return replace(merge, clauses=clauses)


def _not_in(new: Assignments, listed: Assignments) -> Assignments:
    return tuple(pair for pair in new if pair[0] not in dict(listed))


def _fates(observation: Observation, row: Row) -> set[Key | None]:
    """What becomes of a row if the operation finds it: its key afterwards, or None if it is gone."""
    result = result_on(observation, [row], observation.operation)
    if result is None:
        return set()
    return {row_key(result.schema, left) for left in result.rows} or {None}


def _matched(keys: list[Key], fates: list[set[Key | None]]) -> bool:
    """Whether each of these rows is the fate of another row, and every other row may be gone."""
    taken: dict[int, int] = {}

    def assign(number: int, tried: set[int]) -> bool:
        for place, fate in enumerate(fates):
            if keys[number] in fate and place not in tried:
                tried.add(place)
                if place not in taken or assign(taken[place], tried):
                    taken[place] = number
                    return True
        return False

    if not all(assign(number, set()) for number in range(len(keys))):
        return False
    return all(place in taken or None in fate for place, fate in enumerate(fates))


def escaped_bytes(value: bytes) -> bytes:
    """Bytes as the text of their escapes."""
    return "".join(f"\\u{byte:04X}" for byte in value).encode()


def replaced_bytes(value: bytes) -> bytes:
    """Bytes after a way through a text, in which those that are no UTF-8 are replaced."""
    return value.decode("utf-8", "replace").encode()


def squeezed_bytes(value: bytes) -> bytes:
    """Bytes with one replacement character in place of several in a row."""
    mark = REPLACEMENT.encode()
    while mark + mark in value:
        value = value.replace(mark + mark, mark)
    return value


def _year_of_the_era(micros: int) -> int:
    """The moment of the same day and time in the year of the era, of which there is no year 0."""
    days, rest = divmod(micros, DAY)
    cycles = 0
    while days < (YEAR_1 - EPOCH).days:  # Python has no years before 1: count in whole cycles of the calendar
        days += DAYS_OF_A_CYCLE
        cycles += 1
    if not cycles:
        return micros
    moment = EPOCH + timedelta(days=days)
    year = moment.year - cycles * YEARS_OF_A_CYCLE
    return _days_of(1 - year, moment.month, moment.day) * DAY + rest


def _days_of(year: int, month: int, day: int) -> int:
    cycles = 0
    while year > 9_999:
        year -= YEARS_OF_A_CYCLE
        cycles += 1
    leap = month == 2 and day == 29 and not (year % 4 == 0 and (year % 100 != 0 or year % 400 == 0))
    moment = datetime(year, month, 28 if leap else day, tzinfo=UTC)
    return (moment - EPOCH).days + cycles * DAYS_OF_A_CYCLE + (1 if leap else 0)
