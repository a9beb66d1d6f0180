"""Wrong answers to filters by bounds of decimals that are wrong: files are passed over, or read as their bound."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import combinations, product
from typing import Any

from conformance.findings.predictions.bounds import bounds_are_doubles
from conformance.findings.predictions.filters import parts_of
from conformance.findings.predictions.tables import files_with_rows, projected, snapshot_of, wrong_reads
from conformance.observations.observation import Observation
from delta_models.expressions import And, Column, Compare, Expression, In, Literal, Or, columns_of, evaluate
from delta_models.log.actions import Add, spelling
from delta_models.requirements import Violation
from delta_models.schema import DecimalType, Struct
from delta_models.values import Decimal, Row, bag

MOST_FILES = 10  # that may be passed over: each of their sets is tried
MOST_READ = 6  # that may be read in two or three ways: each choice is tried

Bounds = Mapping[str, tuple[Fraction, Fraction]]


def files_skipped_by_decimal_bounds(observation: Observation, violation: Violation) -> bool:
    """The answer lacks just the rows of files that the bounds of decimals, as the log has them, exclude."""
    for read, look in wrong_reads(observation, violation):
        snapshot = snapshot_of(observation, read)
        if snapshot is None or look.answer is None or read.where is None:
            continue
        certain: list[Row] = []
        skipped: list[list[Row]] = []
        for add, rows in files_with_rows(observation, snapshot):
            picked = [row for row in rows if evaluate(read.where, snapshot.schema, row) is True]
            bounds = _bounds(add, snapshot.schema)
            excluded = not all(_may_hold(part, bounds) for part in parts_of(read.where))
            if picked and excluded and bounds_are_doubles(add, rows, snapshot.schema):
                skipped.append(picked)
            else:
                certain += picked
        answered = bag(look.answer.schema, look.answer.rows)
        # A table object that wrote a file itself may know its right bounds.
        for count in range(len(skipped[:MOST_FILES])):
            for found in combinations(skipped[:MOST_FILES], count):
                rows_found = [*certain, *(row for rows in found for row in rows)]
                if bag(*projected(read, snapshot.schema, rows_found)) == answered:
                    return True
    return False


def decimals_read_as_the_bound(observation: Observation, violation: Violation) -> bool:
    """A file whose bounds of a decimal are equal in the log is read as if it held the bound, or passed over."""
    for read, look in wrong_reads(observation, violation):
        snapshot = snapshot_of(observation, read)
        if snapshot is None or look.answer is None or read.where is None:
            continue
        names = {column.path[0] for column in columns_of(read.where)}
        certain: list[Row] = []
        ways: list[
            list[tuple[bool, list[Row]]]
        ] = []  # of a file: as its bound or not, and the rows that are picked
        for add, rows in files_with_rows(observation, snapshot):
            picked = _picked(read.where, snapshot.schema, rows)
            constants = _constants(add, rows, snapshot.schema, names)
            if not constants or not bounds_are_doubles(add, rows, snapshot.schema):
                certain += picked
                continue
            constant = [_with_constants(row, constants) for row in rows]
            ways.append(
                [(True, _picked(read.where, snapshot.schema, constant)), (False, picked), (False, [])]
            )
        answered = bag(look.answer.schema, look.answer.rows)
        for choice in product(*ways[:MOST_READ]):
            if any(as_bound for as_bound, _ in choice):
                found = [*certain, *(row for _, rows in choice for row in rows)]
                if bag(*projected(read, snapshot.schema, found)) == answered:
                    return True
    return False


def _picked(where: Expression, schema: Struct, rows: Sequence[Row]) -> list[Row]:
    return [row for row in rows if evaluate(where, schema, row) is True]


def _constants(add: Add, rows: Sequence[Row], schema: Struct, names: set[str]) -> Mapping[int, Decimal]:
    """The columns of decimals that the bounds of a file make look constant, each with a bound that no row holds."""
    constants: dict[int, Decimal] = {}
    for name, (low, high) in _bounds(add, schema).items():
        place, data_type = schema.index(name), schema[name].type
        values = [row[place] for row in rows]
        if low != high or name not in names or None in values or not isinstance(data_type, DecimalType):
            continue
        unscaled = low * 10**data_type.scale
        if unscaled.denominator == 1:
            bound = Decimal(int(unscaled), data_type.scale)
            if any(value.at_scale(data_type.scale) != bound for value in values):
                constants[place] = bound
    return constants


def _with_constants(row: Row, constants: Mapping[int, Decimal]) -> Row:
    return tuple(constants.get(place, value) for place, value in enumerate(row))


def _bounds(add: Add, schema: Struct) -> Bounds:
    """The bounds of the decimals of a file as the log has them."""
    stats = add.statistics or {}
    low, high = stats.get("minValues") or {}, stats.get("maxValues") or {}
    return {
        field.name: (_number(low[field.name]), _number(high[field.name]))
        for field in schema
        if isinstance(field.type, DecimalType)
        and low.get(field.name) is not None
        and high.get(field.name) is not None
    }


def _number(said: Any) -> Fraction:
    return Fraction(spelling(said)) if isinstance(said, float) else Fraction(said)


def _may_hold(part: Expression, bounds: Bounds) -> bool:
    """Whether a part of a filter may hold for a row within the bounds."""
    match part:
        case And(operands=operands):
            return all(_may_hold(operand, bounds) for operand in operands)
        case Or(operands=operands):
            return any(_may_hold(operand, bounds) for operand in operands)
        case Compare(op=op, left=Column(path=(name,)), right=Literal() as literal) if name in bounds:
            return _may_compare(op, literal, *bounds[name])
        case In(operand=Column(path=(name,)), options=options) if name in bounds:
            return any(
                not isinstance(option, Literal) or _may_compare("=", option, *bounds[name])
                for option in options
            )
    return True


def _may_compare(op: str, literal: Literal, low: Fraction, high: Fraction) -> bool:
    if literal.value is None or not isinstance(literal.type, DecimalType):
        return True
    value = Fraction(literal.value.unscaled, 10**literal.value.scale)
    match op:
        case "=":
            return low <= value <= high
        case "!=":
            return not low == value == high
        case "<":
            return low < value
        case "<=":
            return low <= value
        case ">":
            return high > value
        case ">=":
            return high >= value
    return True
