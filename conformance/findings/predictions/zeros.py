"""Filters that tell 0.0 and -0.0 apart: floating point numbers are compared by their total order."""

from __future__ import annotations

import math
from dataclasses import replace

from conformance.findings.predictions.tables import (
    files_with_rows,
    in_columns,
    projected,
    result_on,
    rows_after,
    rows_before,
    same_rows,
    snapshot_of,
    with_literals,
    wrong_reads,
)
from conformance.observations.observation import Observation
from delta_models.expressions import Expression, Literal, evaluate
from delta_models.operations import Delete, Update
from delta_models.requirements import Violation
from delta_models.schema import DOUBLE, FLOAT, Struct
from delta_models.values import Row, bag

BELOW = {DOUBLE: -5e-324, FLOAT: -1.401298464324817e-45}  # the greatest numbers below zero stand for -0.0


def zeros_told_apart(observation: Observation, violation: Violation) -> bool:
    """The answer has the rows that the filter picks if -0.0 lies below 0.0."""
    for read, look in wrong_reads(observation, violation):
        snapshot = snapshot_of(observation, read)
        if snapshot is None or look.answer is None or read.where is None:
            continue
        rows = [row for _, held in files_with_rows(observation, snapshot) for row in held]
        picked = [row for row in rows if _picks(read.where, snapshot.schema, row)]
        if bag(*projected(read, snapshot.schema, picked)) == bag(look.answer.schema, look.answer.rows):
            return True
    return False


def zeros_told_apart_in_a_write(observation: Observation, _: Violation) -> bool:
    """The delete or the update acted on the rows that its predicate picks if -0.0 lies below 0.0, and on no other."""
    operation, before, found = observation.operation, observation.before, rows_after(observation)
    rows = rows_before(observation)
    if not isinstance(operation, Delete | Update) or operation.where is None or before is None:
        return False
    if rows is None or found is None:
        return False
    where = operation.where
    met = [row for row in rows if _picks(where, before.schema, row)]
    left = [row for row in rows if not _picks(where, before.schema, row)]
    changed = result_on(observation, met, replace(operation, where=None))
    return changed is not None and same_rows(before.schema, [*left, *changed.rows], found.rows)


def _picks(where: Expression, schema: Struct, row: Row) -> bool:
    places = [place for place, field in enumerate(schema) if field.type in BELOW]
    lowered = in_columns(places, lambda place, value: _lowered(schema.fields[place].type, value))
    return evaluate(with_literals(where, _lowered_literal), schema, lowered(row)) is True


def _lowered_literal(literal: Literal) -> Literal:
    if literal.type not in BELOW or literal.value is None:
        return literal
    return replace(literal, value=_lowered(literal.type, literal.value))


def _lowered(data_type: object, value: object) -> object:
    is_negative_zero = isinstance(value, float) and value == 0 and math.copysign(1, value) < 0
    return next(low for kind, low in BELOW.items() if kind == data_type) if is_negative_zero else value
