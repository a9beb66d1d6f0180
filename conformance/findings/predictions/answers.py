"""Wrong answers to reads: what the engine answers if it takes some values for others, or a filter for another one.

Several causes may be at work in one read, such as an empty partition text and a NaN. So an answer is computed for sets
of mechanisms, and a mechanism explains an answer only if the answer is the computed one with it, and not without it.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from itertools import combinations, product

from conformance.findings.predictions.filters import readings
from conformance.findings.predictions.moments import old_timestamps, overflowing
from conformance.findings.predictions.tables import (
    files_with_rows,
    in_columns,
    partition_places,
    projected,
    snapshot_of,
    wrong_reads,
)
from conformance.observations.observation import Observation
from delta_models.expressions import (
    Between,
    Compare,
    Expression,
    In,
    Literal,
    NotEvaluable,
    columns_of,
    evaluate,
    holds,
)
from delta_models.log import Snapshot
from delta_models.log.actions import Add
from delta_models.operations import Read
from delta_models.requirements import Violation
from delta_models.schema import DATE, DOUBLE, FLOAT, STRING, DataType, Struct
from delta_models.values import Key, Row, Value, bag

EMPTY_TEXT, NAN, NULLS, PARTITIONS, ASTRAL, MOMENTS = (
    "empty",
    "nan",
    "nulls",
    "partitions",
    "astral",
    "moments",
)
MECHANISMS = (EMPTY_TEXT, NAN, NULLS, PARTITIONS, ASTRAL, MOMENTS)
ASTRAL_BIT = 0x10000
MOST_PASSED_OVER = 6  # files that a filter may pass over or not: each of their sets is tried
GAP = range(-141_437, -141_427)  # 1582-10-05 to 1582-10-14, days since 1970
DAYS_OF_THE_GAP = 10

File = tuple[Add, tuple[Row, ...]]


def filter_sees_empty_text(observation: Observation, violation: Violation) -> bool:
    """A filter finds an empty text in a partition column, and answers it, where null is."""
    return _explained_by(EMPTY_TEXT, observation, violation)


def nan_read_as_the_bound(observation: Observation, violation: Violation) -> bool:
    """NaN is read as the one other value of its file, or is in no file that the bounds let a filter look into."""
    return _explained_by(NAN, observation, violation)


def null_taken_for_true(observation: Observation, violation: Violation) -> bool:
    """Parts of a filter that compare with null do not count."""
    return _explained_by(NULLS, observation, violation)


def partition_columns_not_compared(observation: Observation, violation: Violation) -> bool:
    """Parts of a filter that compare partition columns with each other do not count."""
    return _explained_by(PARTITIONS, observation, violation)


def astral_characters_too_low(observation: Observation, violation: Violation) -> bool:
    """Characters of partition texts are read as those that lie 0x10000 below."""
    return _explained_by(ASTRAL, observation, violation)


def moment_wraps_around(observation: Observation, violation: Violation) -> bool:
    """Timestamps that a file holds as INT96 are read as a count of nanoseconds modulo 2^64."""
    return _explained_by(MOMENTS, observation, violation)


def partition_columns_answered_last(observation: Observation, violation: Violation) -> bool:
    """The columns of an answer are those of the data files, and then those of the partitions."""
    for read, _ in wrong_reads(observation, violation):
        snapshot = snapshot_of(observation, read)
        if snapshot is None or read.columns is not None:
            continue
        last = [name for name in snapshot.partition_by if name in snapshot.schema.names]
        first = [name for name in snapshot.schema.names if name not in last]
        answered, right = (
            [snapshot.schema[name] for name in names] for names in ((*first, *last), snapshot.schema.names)
        )
        told, wanted = (
            ", ".join(f"{field.name} {field.type}" for field in some) for some in (answered, right)
        )
        if told != wanted and violation.detail == f"columns {told} instead of {wanted}":
            return True
    return False


def gap_dates_not_found(observation: Observation, violation: Violation) -> bool:
    """A filter with a day of the gap passes over whole files with days near it, and finds the rows of all others."""
    for read, look in wrong_reads(observation, violation):
        snapshot = snapshot_of(observation, read)
        if snapshot is None or look.answer is None or read.where is None:
            continue
        places = _compared_with_the_gap(read.where, snapshot.schema)
        certain: list[Row] = []
        passed_over: list[list[Row]] = []
        for _, held in files_with_rows(observation, snapshot):
            picked = [row for row in held if evaluate(read.where, snapshot.schema, row) is True]
            near = any(_is_near_the_gap(row[place]) for row in held for place in places)
            if near and picked:
                passed_over.append(picked)
            else:
                certain += picked
        answered = bag(look.answer.schema, look.answer.rows)
        for count in range(len(passed_over)):
            for kept in combinations(passed_over, count):
                rows = [*certain, *(row for part in kept for row in part)]
                if bag(*projected(read, snapshot.schema, rows)) == answered:
                    return True
    return False


def _explained_by(mechanism: str, observation: Observation, violation: Violation) -> bool:
    for read, look in wrong_reads(observation, violation):
        snapshot = snapshot_of(observation, read)
        if snapshot is None or look.answer is None:
            continue
        simulation = _Simulation(observation, read, snapshot)
        answered = bag(look.answer.schema, look.answer.rows)
        others = [other for other in MECHANISMS if other != mechanism and simulation.concerns(other)]
        if not simulation.concerns(mechanism):
            continue
        for count in range(len(others) + 1):
            for beside in combinations(others, count):
                if simulation.gives(answered, {mechanism, *beside}):
                    return not simulation.gives(answered, set(beside))
    return False


class _Simulation:
    """The answers that a read may have if some mechanisms are at work."""

    def __init__(self, observation: Observation, read: Read, snapshot: Snapshot) -> None:
        self._read = read
        self._schema = snapshot.schema
        self._partition_by = tuple(snapshot.partition_by)
        self._partitions = partition_places(snapshot.schema, snapshot.partition_by)
        self._files = files_with_rows(observation, snapshot)
        self._old = {add.key: old_timestamps(observation, snapshot, add) for add, _ in self._files}
        names = {column.path[0] for column in columns_of(read.where)}
        self._filtered = tuple(place for place, name in enumerate(snapshot.schema.names) if name in names)

    def concerns(self, mechanism: str) -> bool:
        """Whether a mechanism may have an effect at all."""
        where = self._read.where
        if mechanism in {EMPTY_TEXT, NAN, NULLS, PARTITIONS} and where is None:
            return False
        match mechanism:
            case "empty":
                return any("" in add.partition_values.values() for add, _ in self._files)
            case "nan":
                return any(self._has_nan(row) for _, rows in self._files for row in rows)
            case "astral":
                return any(self._astral(row) != row for _, rows in self._files for row in rows)
            case "moments":
                return any(self._overflows(add, rows) for add, rows in self._files)
        return True

    def gives(self, answered: Counter[Key], mechanisms: set[str]) -> bool:
        """Whether this is an answer that these mechanisms, all at work, may give."""
        try:
            answers = list(self._answers(mechanisms))
        except NotEvaluable:
            return False
        for certain, possible in answers:
            least = bag(*projected(self._read, self._schema, certain))
            most = least + bag(*projected(self._read, self._schema, possible))
            if least <= answered <= most:
                return True
        return False

    def _answers(self, mechanisms: set[str]) -> Iterator[tuple[list[Row], list[Row]]]:
        """The rows that are answered, and those that may be."""
        read = [self._read_rows(add, rows, mechanisms) for add, rows in self._files]
        passed_over = self._passed_over(mechanisms)
        for picks, without in product(self._pickers(mechanisms), passed_over):
            files = (rows for number, rows in enumerate(read) if number not in without)
            certain: list[Row] = []
            possible: list[Row] = []
            for row in (row for rows in files for row in filter(picks, rows)):
                skipped = NAN in mechanisms and self._has_nan(row)
                (possible if skipped else certain).append(row)
            yield certain, possible

    def _passed_over(self, mechanisms: set[str]) -> list[tuple[int, ...]]:
        """The sets of files, by number, that are passed over because of their statistics.

        The statistics say what the moments of a file are, not what they are read as. So they may rule out a file in
        which the filter would find overflowed moments, and no others.
        """
        where = self._read.where
        if MOMENTS not in mechanisms or where is None:
            return [()]
        may_be = [
            number
            for number, (add, rows) in enumerate(self._files)
            if add.stats is not None
            and self._overflows(add, rows)
            and not any(holds(where, self._schema, row) for row in rows)
        ]
        sizes = range(len(may_be[:MOST_PASSED_OVER]) + 1)
        return [some for size in sizes for some in combinations(may_be[:MOST_PASSED_OVER], size)]

    def _pickers(self, mechanisms: set[str]) -> Iterator[Callable[[Row], bool]]:
        """The ways in which the filter may be applied."""
        where = self._read.where
        if where is None:
            yield lambda _: True
        elif mechanisms & {NULLS, PARTITIONS}:
            for reading in readings(nulls=NULLS in mechanisms, partitions=PARTITIONS in mechanisms):
                yield partial(reading.picks, where, self._schema, self._partition_by)
        else:
            yield partial(holds, where, self._schema)

    def _read_rows(self, add: Add, rows: tuple[Row, ...], mechanisms: set[str]) -> list[Row]:
        """The rows of a file as the engine reads them."""
        read = list(rows)
        if EMPTY_TEXT in mechanisms:
            read = [self._with_empty_texts(add, row) for row in read]
        if ASTRAL in mechanisms:
            read = list(map(self._astral, read))
        if MOMENTS in mechanisms:
            read = list(map(overflowing(self._old[add.key]), read))
        if NAN in mechanisms:
            constants = constants_of(add, rows, self._schema, self._filtered)
            read = [without_nan(row, constants) for row in read]
        return read

    def _with_empty_texts(self, add: Add, row: Row) -> Row:
        values = list(row)
        for place in self._partitions:
            field = self._schema.fields[place]
            if field.type == STRING and add.partition_values.get(field.name) == "":
                values[place] = ""
        return tuple(values)

    def _astral(self, row: Row) -> Row:
        texts = [place for place in self._partitions if self._schema.fields[place].type == STRING]
        return in_columns(texts, lambda _, value: "".join(map(_lowered, str(value))))(row)

    def _overflows(self, add: Add, rows: tuple[Row, ...]) -> bool:
        overflow = overflowing(self._old[add.key])
        return any(overflow(row) != row for row in rows)

    def _has_nan(self, row: Row) -> bool:
        return any(is_nan(self._schema.fields[place].type, row[place]) for place in self._filtered)


def constants_of(add: Add, rows: Iterable[Row], schema: Struct, places: Iterable[int]) -> Mapping[int, Value]:
    """The columns with NaN that a file's statistics make look constant, each with its value."""
    kept = list(rows)
    constants: dict[int, Value] = {}
    for place in places:
        data_type = schema.fields[place].type
        values = [row[place] for row in kept]
        numbers = {value for value in values if value is not None and not is_nan(data_type, value)}
        if any(is_nan(data_type, value) for value in values) and len(numbers) == 1 and None not in values:
            constants[place] = numbers.pop()
    return constants if add.stats is not None else {}


def without_nan(row: Row, constants: Mapping[int, Value]) -> Row:
    """A row as it is read from a file with columns that look constant."""
    return tuple(
        constants[place] if place in constants and value is not None and math.isnan(value) else value
        for place, value in enumerate(row)
    )


def is_nan(data_type: DataType, value: Value) -> bool:
    """Whether a value is NaN."""
    return data_type in {DOUBLE, FLOAT} and value is not None and math.isnan(value)


def _lowered(character: str) -> str:
    number = ord(character)
    return (
        chr(number - ASTRAL_BIT) if number >= ASTRAL_BIT and (number - ASTRAL_BIT) & ASTRAL_BIT else character
    )


def _compared_with_the_gap(where: Expression, schema: Struct) -> list[int]:
    """The columns that a filter compares with a day of the gap."""
    names = set()
    for part in _comparisons(where):
        literals = [one for one in _operands(part) if isinstance(one, Literal) and one.type == DATE]
        if any(literal.value in GAP for literal in literals):
            names |= {column.path[0] for column in columns_of(part)}
    return [place for place, name in enumerate(schema.names) if name in names]


def _comparisons(expression: Expression) -> Iterator[Expression]:
    if isinstance(expression, Compare | In | Between):
        yield expression
        return
    for operand in getattr(expression, "operands", None) or filter(
        None, [getattr(expression, "operand", None)]
    ):
        yield from _comparisons(operand)


def _operands(comparison: Expression) -> tuple[Expression, ...]:
    match comparison:
        case Compare(left=left, right=right):
            return (left, right)
        case In(operand=operand, options=options):
            return (operand, *options)
        case Between(operand=operand, low=low, high=high):
            return (operand, low, high)
    return ()


def _is_near_the_gap(day: Value) -> bool:
    return day is not None and GAP.start - DAYS_OF_THE_GAP <= day < GAP.stop + DAYS_OF_THE_GAP
