"""Rules of a table that an engine keeps otherwise than it was told, or holds against rows that nobody writes."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from math import isfinite

from conformance.findings.predictions.tables import (
    is_unchanged,
    message_of,
    result_on,
    rows_after,
    rows_before,
    with_literals,
)
from conformance.observations.observation import Observation
from delta_models.casts.assignment import shortest_digits
from delta_models.expressions import Expression, Literal, NotEvaluable, evaluate
from delta_models.log import Snapshot
from delta_models.operations import AddConstraint, Merge, MergeClause
from delta_models.outcomes import Committed, Rejected
from delta_models.requirements import Violation
from delta_models.schema import DOUBLE, FLOAT, DecimalType, Struct
from delta_models.table.row_conversion import BrokenRule, check_rules
from delta_models.values import Decimal, Row, Rows, bag, row_key, to_single

INVALID = re.compile(r"Invalid data found: (?P<rows>\d+) rows failed validation check")
RECORDS_CHANGES = "delta.enableChangeDataFeed"

Change = Callable[[Expression], Expression]


def constraint_without_the_point(observation: Observation, _: Violation) -> bool:
    """The engine decides as it must by constraints whose decimals have lost their point."""
    outcome, operation = observation.outcome, observation.operation
    if isinstance(operation, AddConstraint) and isinstance(outcome, Rejected) and outcome.kind == "overflow":
        return not _fits(without_point(operation.check))
    return _decides_by(observation, without_point)


def constraint_of_doubles(observation: Observation, _: Violation) -> bool:
    """The engine decides by constraints whose floats are the doubles of the same shortest digits."""
    return _decides_by(observation, of_doubles)


def rows_of_nulls_validated(observation: Observation, _: Violation) -> bool:
    """A merge is refused for rows of nulls that break a rule: one for each source row that no clause inserts."""
    operation, before, rows = observation.operation, observation.before, rows_before(observation)
    told = INVALID.search(message_of(observation.outcome))
    if not isinstance(operation, Merge) or before is None or rows is None or told is None:
        return False
    if before.properties.get(RECORDS_CHANGES, "").lower() != "true" or not is_unchanged(observation):
        return False
    shown = [line for line in message_of(observation.outcome).splitlines() if line.startswith("|")]
    if not shown or any(line.strip("| ") for line in shown[1:]) or "_change_type" not in shown[0]:
        return False
    left = _left_out(observation, operation, rows)
    return left == int(told["rows"]) and _is_broken_by_nulls(observation)


def _left_out(observation: Observation, operation: Merge, rows: tuple[Row, ...]) -> int | None:
    """How many source rows match no row of the table, and are not inserted."""
    if all(clause.when != "not-matched" for clause in operation.clauses):
        return None
    unmatched = []
    for source in operation.source.rows:
        alone = replace(
            operation,
            source=Rows(operation.source.schema, (source,)),
            clauses=(MergeClause("matched", "delete"),),
            schema_evolution=False,
        )
        result = result_on(observation, rows, alone)
        if result is None:
            return None
        if len(result.rows) == len(rows):
            unmatched.append(source)
    inserted = result_on(
        observation, [], replace(operation, source=Rows(operation.source.schema, tuple(unmatched)))
    )
    return None if inserted is None else len(unmatched) - len(inserted.rows)


def _is_broken_by_nulls(observation: Observation) -> bool:
    table = observation.model
    try:
        check_rules(table, [(None,) * len(table.schema)])
    except BrokenRule:
        return True
    return False


def _decides_by(observation: Observation, change: Change) -> bool:
    """Whether a constraint is added, or rows are let in, by changed constraints and by no others."""
    before, rows = observation.before, rows_before(observation)
    if before is None or rows is None:
        return False
    operation, outcome = observation.operation, observation.outcome
    if isinstance(operation, AddConstraint):
        check = change(operation.check)
        if check == operation.check:
            return False
        refused = isinstance(outcome, Rejected) and outcome.kind == "constraint"
        return refused == any(_breaks(check, before.schema, row) for row in rows) and is_unchanged(
            observation
        ) == isinstance(outcome, Rejected)
    return _lets_in_by(observation, change, before, rows)


def _lets_in_by(observation: Observation, change: Change, before: Snapshot, rows: tuple[Row, ...]) -> bool:
    known = [check for _, check in observation.model.constraints]
    wrong = [change(check) for check in known]
    if wrong == known:
        return False
    if isinstance(observation.outcome, Committed):
        found = rows_after(observation)
        if found is None or found.schema.names != before.schema.names:
            return False
        written = bag(found.schema, found.rows) - bag(before.schema, rows)
        new = [row for row in found.rows if row_key(found.schema, row) in written]
        return not any(_breaks(check, before.schema, row) for check in wrong for row in new)
    refused = observation.outcome
    if not isinstance(refused, Rejected) or refused.kind != "constraint" or not is_unchanged(observation):
        return False
    right = observation.expectation.ordinary.table
    return any(_breaks(check, right.schema, row) for check in wrong for row in right.rows)


def of_doubles(check: Expression) -> Expression:
    """The constraint with its floats as the doubles of the same shortest digits."""

    def change(literal: Literal) -> Literal:
        if literal.type != FLOAT or literal.value is None or not isfinite(value := to_single(literal.value)):
            return literal
        digits, exponent = shortest_digits(abs(value), single=True)
        double = float(f"{digits}e{exponent}")
        return Literal(DOUBLE, -double if value < 0 else double)

    return with_literals(check, change)


def without_point(check: Expression) -> Expression:
    """The constraint with decimals that have lost their point."""

    def change(literal: Literal) -> Literal:
        if not isinstance(literal.type, DecimalType) or literal.value is None:
            return literal
        scale = literal.type.scale
        return Literal(literal.type, Decimal(literal.value.at_scale(scale).unscaled * 10**scale, scale))

    return with_literals(check, change)


def _fits(check: Expression) -> bool:
    """Whether each decimal of a constraint has as many digits as its type allows."""
    fitting = True

    def look(literal: Literal) -> Literal:
        nonlocal fitting
        if isinstance(literal.type, DecimalType) and literal.value is not None:
            fitting = fitting and abs(literal.value.unscaled) < 10**literal.type.precision
        return literal

    with_literals(check, look)
    return fitting


def _breaks(check: Expression, schema: Struct, row: Row) -> bool:
    """Whether a check is not true of a row; floats are the doubles that they are."""
    doubles = Struct(tuple(replace(field, type=DOUBLE) if field.type == FLOAT else field for field in schema))
    try:
        return evaluate(check, doubles, row) is not True
    except NotEvaluable:
        return False
