"""Read tables as our own log reader sees them, to tell a wrong writer from a wrong reader.

A check measures a writer against the model, and a reader against the log. So an engine that reads a wrong table
correctly is not blamed a second time, nor for the mistake of another engine.
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
    """Our own reader has no answer, for a reason that another check judges."""


def rows_after(observation: Observation) -> Rows:
    """Return the rows of the newest version; raise NotKnown if our reader has none."""
    if observation.after is None:
        raise NotKnown
    return _rows(observation, observation.after)


def rows_before(observation: Observation) -> Rows:
    """Return the rows of the version before the step; raise NotKnown if our reader has none."""
    if observation.before is None:
        raise NotKnown
    return _rows(observation, observation.before)


def expected_answer(observation: Observation, read_observation: ReadObservation) -> Rows:
    """Return what a read of this log must answer; raise NotKnown if our reader has no answer."""
    if not isinstance(read_observation.operation, Read):
        raise NotKnown
    return select_rows(
        read_observation.operation, _rows(observation, snapshot_for(observation, read_observation.operation))
    )


def unfiltered_rows(observation: Observation, read_observation: ReadObservation) -> Rows:
    """Return the rows of the version that a read names, without its predicate and its columns."""
    if not isinstance(read_observation.operation, Read):
        raise NotKnown
    return _rows(observation, snapshot_for(observation, read_observation.operation))


def select_rows(read: Read, rows: Rows) -> Rows:
    """Return the rows and columns that a read selects; raise NotKnown if our model cannot evaluate its predicate."""
    try:
        selected = tuple(row for row in rows.rows if holds(read.where, rows.schema, row))
    except NotEvaluable as error:
        raise NotKnown from error
    if read.columns is None:
        return Rows(rows.schema, selected)
    positions = [rows.schema.index(name) for name in read.columns]
    schema = Struct(tuple(rows.schema.fields[position] for position in positions))
    return Rows(schema, tuple(tuple(row[position] for position in positions) for row in selected))


def require_files(observation: Observation, snapshot: Snapshot) -> None:
    """Raise MissingFile unless every live file and its deletion vector exist. Our reader caches rows, so it may not."""
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
        return None  # the rules of the log report a corrupt descriptor


def snapshot_for(observation: Observation, read: Read) -> Snapshot:
    """Return the state that a read names; raise NotKnown if the table has none."""
    match read.at:
        case Latest():
            version = observation.after.version if observation.after else None
        case AtState(step=step) | AtTime(step=step):
            version = observation.versions.get(step)
        case AtVersion(version=named):
            version = named
        case _:
            version = None
    if version is None:
        raise NotKnown
    if observation.after is not None and version == observation.after.version:
        return observation.after
    try:
        return observation.reader.snapshot(version)
    except LogError as error:
        raise NotKnown from error


def nan_matters(expressions: Iterable[Expression | None], *tables: Rows) -> bool:
    """Return whether expressions depend on what NaN equals or exceeds, which only delta-spark defines.

    SQL itself says that NaN is not null, and that it equals no other number.
    """
    with_nan = frozenset(
        field.name.casefold()
        for rows in tables
        for index, field in enumerate(rows.schema)
        if isinstance(field.type, Primitive)
        and field.type.name in {"float", "double"}
        and any(_is_nan(row[index]) for row in rows.rows)
    )
    return any(expression is not None and _depends_on_nan(expression, with_nan) for expression in expressions)


def is_beyond_core(expression: Expression | None, schema: Struct) -> bool:
    """Return whether a predicate is outside the portable core: functions, arithmetic, casts, operands of two types.

    `nan_matters` says whether NaN takes a predicate out of it.
    """
    try:
        return strength_of(expression, Rows(schema, ())) == "reference"
    except KeyError:
        return False


def _depends_on_nan(expression: Expression, with_nan: frozenset[str]) -> bool:
    match expression:
        case IsNull(operand=operand) | IsNotNull(operand=operand) if isinstance(operand, Column):
            return False
        case IsNull(operand=operand) | IsNotNull(operand=operand) | Not(operand=operand):
            return _depends_on_nan(operand, with_nan)
        case And(operands=operands) | Or(operands=operands):
            return any(_depends_on_nan(argument, with_nan) for argument in operands)
        case Compare(op="=" | "!=" | "<=>", left=left, right=right):
            return _may_equal_nan((left, right), with_nan)
        case In(operand=operand, options=options):
            return _may_equal_nan((operand, *options), with_nan)
    return any(
        column.path[-1].casefold() in with_nan for column in columns_of(expression)
    ) or _is_nan_literal(expression)


def _may_equal_nan(operands: tuple[Expression, ...], with_nan: frozenset[str]) -> bool:
    """Return whether one operand may be NaN while another may be NaN as well."""
    if all(isinstance(operand, Column | Literal) for operand in operands):
        literals = [operand for operand in operands if isinstance(operand, Literal)]
        if len(literals) == len(operands) - 1 and not any(map(_is_nan_literal, literals)):
            return False
    return any(_depends_on_nan(operand, with_nan) for operand in operands)


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
