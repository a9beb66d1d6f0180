"""What the log says, by our own reading: the yardstick that tells a wrong writer from a wrong reader.

The writer is measured against the model; a reader against the log in front of it. So an engine that reads a wrong table
rightly is not blamed twice, nor for another's mistake.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from pathlib import Path

from conformance.observations.observation import Observation, ReadObservation
from delta_models.expressions import (
    And,
    Column,
    Compare,
    Expression,
    In,
    IsNotNull,
    IsNull,
    Literal,
    Not,
    NotEvaluable,
    Or,
    columns_of,
    holds,
)
from delta_models.log import CorruptFile, DeletionVector, LogError, MissingFile, Snapshot, paths
from delta_models.log.reader import live_adds
from delta_models.operations import AtState, AtTime, AtVersion, Latest, Read
from delta_models.portability import strength_of
from delta_models.schema import Primitive, Struct
from delta_models.values import Rows, Value


class NotKnown(Exception):
    """Our own reading has no answer, for a reason that another check judges."""


def rows_after(observation: Observation) -> Rows:
    """The rows of the newest version."""
    if observation.after is None:
        raise NotKnown
    return _rows(observation, observation.after)


def rows_before(observation: Observation) -> Rows:
    """The rows of the version before the step."""
    if observation.before is None:
        raise NotKnown
    return _rows(observation, observation.before)


def expected_answer(observation: Observation, check: ReadObservation) -> Rows:
    """What a read of this log must answer."""
    if not isinstance(check.operation, Read):
        raise NotKnown
    return select_rows(check.operation, _rows(observation, snapshot_for(observation, check.operation)))


def unfiltered_rows(observation: Observation, check: ReadObservation) -> Rows:
    """The rows of the version that a read asks for, before its predicate."""
    if not isinstance(check.operation, Read):
        raise NotKnown
    return _rows(observation, snapshot_for(observation, check.operation))


def select_rows(read: Read, rows: Rows) -> Rows:
    """The rows and columns of `rows` that a read asks for."""
    try:
        picked = tuple(row for row in rows.rows if holds(read.where, rows.schema, row))
    except NotEvaluable as error:
        raise NotKnown from error
    if read.columns is None:
        return Rows(rows.schema, picked)
    positions = [rows.schema.index(name) for name in read.columns]
    schema = Struct(tuple(rows.schema.fields[position] for position in positions))
    return Rows(schema, tuple(tuple(row[position] for position in positions) for row in picked))


def require_files(observation: Observation, snapshot: Snapshot) -> None:
    """Raise MissingFile unless every live file and its vector are still there: what was read once is remembered."""
    for add in live_adds(snapshot):
        if not paths.resolve(observation.folder, add.path).exists():
            raise MissingFile(f"no data file {add.path}")
        vector = (
            None if add.deletion_vector is None else _vector_file(add.deletion_vector, observation.folder)
        )
        if vector is not None and not vector.exists():
            raise MissingFile(f"{add.path}: no deletion vector file {vector.name}")


def _vector_file(vector: DeletionVector, folder: Path) -> Path | None:
    try:
        return vector.file(folder)
    except CorruptFile:
        return None  # what is wrong with a descriptor is for the rules of the log to say


def snapshot_for(observation: Observation, read: Read) -> Snapshot:
    """The state that a read asks for."""
    match read.at:
        case Latest():
            wanted = observation.after.version if observation.after else None
        case AtState(step=step) | AtTime(step=step):
            wanted = observation.versions.get(step)
        case AtVersion(version=version):
            wanted = version
        case _:
            wanted = None
    if wanted is None:
        raise NotKnown
    if observation.after is not None and wanted == observation.after.version:
        return observation.after
    try:
        return observation.reader.snapshot(wanted)
    except LogError as error:
        raise NotKnown from error


def nan_matters(expressions: Iterable[Expression | None], *tables: Rows) -> bool:
    """Whether expressions ask what NaN equals or exceeds, which is of class reference. That it is not null, and equals
    no other number, is SQL's own."""
    strange = frozenset(
        field.name.casefold()
        for rows in tables
        for at, field in enumerate(rows.schema)
        if isinstance(field.type, Primitive)
        and field.type.name in {"float", "double"}
        and any(_is_nan(row[at]) for row in rows.rows)
    )
    return any(expression is not None and _asks_of_nan(expression, strange) for expression in expressions)


def is_beyond_core(expression: Expression | None, schema: Struct) -> bool:
    """Whether a predicate is none of the portable core by what it is made of: functions, arithmetic, casts, operands of
    two types. Whom NaN concerns, `nan_matters` tells."""
    try:
        return strength_of(expression, Rows(schema, ())) == "reference"
    except KeyError:
        return False


def _asks_of_nan(expression: Expression, strange: frozenset[str]) -> bool:
    match expression:
        case IsNull(operand=operand) | IsNotNull(operand=operand) if isinstance(operand, Column):
            return False
        case IsNull(operand=operand) | IsNotNull(operand=operand) | Not(operand=operand):
            return _asks_of_nan(operand, strange)
        case And(operands=operands) | Or(operands=operands):
            return any(_asks_of_nan(argument, strange) for argument in operands)
        case Compare(op="=" | "!=" | "<=>", left=left, right=right):
            return _may_equal_nan((left, right), strange)
        case In(operand=operand, options=options):
            return _may_equal_nan((operand, *options), strange)
    return any(column.path[-1].casefold() in strange for column in columns_of(expression)) or _is_nan_literal(
        expression
    )


def _may_equal_nan(operands: tuple[Expression, ...], strange: frozenset[str]) -> bool:
    """Whether there is a NaN on one side and something on the other that could be one as well."""
    if all(isinstance(operand, Column | Literal) for operand in operands):
        literals = [operand for operand in operands if isinstance(operand, Literal)]
        if len(literals) == len(operands) - 1 and not any(map(_is_nan_literal, literals)):
            return False
    return any(_asks_of_nan(operand, strange) for operand in operands)


def _is_nan_literal(expression: Expression) -> bool:
    return (
        isinstance(expression, Literal)
        and isinstance(expression.value, float)
        and math.isnan(expression.value)
    )


def _is_nan(value: Value) -> bool:
    return value is not None and math.isnan(value)


def _rows(observation: Observation, snapshot: Snapshot) -> Rows:
    try:
        return observation.reader.rows(snapshot)
    except LogError as error:
        raise NotKnown from error
