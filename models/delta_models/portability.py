"""Decide whether every SQL engine must agree on the rows that a predicate picks.

Predicates on which all engines must agree form the portable core.
"""

from __future__ import annotations

import math

from delta_models.expressions import (
    And,
    Between,
    Call,
    Column,
    Compare,
    Expression,
    In,
    IsNotNull,
    IsNull,
    Literal,
    Not,
    Or,
    type_of,
)  # fmt: skip
from delta_models.requirements.base import Strength
from delta_models.schema import DOUBLE, FLOAT, DataType
from delta_models.values import Rows, Value


def is_strange(data_type: DataType, value: Value) -> bool:
    """Whether a value is NaN or -0.0, on whose order and equality engines disagree."""
    if data_type not in {DOUBLE, FLOAT} or value is None:
        return False
    return math.isnan(value) or (value == 0 and math.copysign(1.0, value) < 0)


def strength_of(predicate: Expression | None, rows: Rows) -> Strength:
    """Return the class of the rule that a predicate picks certain rows.

    It is *must* in the portable core, else *reference*. A comparison of NaN or -0.0 is outside the core: as a literal,
    or in a column that the predicate orders. The class therefore depends on the rows. Functions, arithmetic and casts
    are *reference*.
    """
    return "must" if predicate is None or _is_portable(predicate, rows) else "reference"


def _is_portable(expression: Expression, rows: Rows) -> bool:
    match expression:
        case Column() | Literal():
            return True
        case IsNull(operand=operand) | IsNotNull(operand=operand) | Not(operand=operand):
            return _is_portable(operand, rows)
        case And(operands=operands) | Or(operands=operands):
            return all(_is_portable(argument, rows) for argument in operands)
        case Compare(op=op, left=left, right=right):
            return _agree((left, right), rows, ordered=op not in {"=", "!=", "<=>"})
        case In(operand=operand, options=options):
            return _agree((operand, *options), rows, ordered=False)
        case Between(operand=operand, low=low, high=high):
            return _agree((operand, low, high), rows, ordered=True)
        case Call():
            return False


def _agree(operands: tuple[Expression, ...], rows: Rows, *, ordered: bool) -> bool:
    """Whether engines agree on a comparison: columns and literals of one type, without NaN and -0.0."""
    columns = [operand for operand in operands if isinstance(operand, Column)]
    literals = [operand for operand in operands if isinstance(operand, Literal)]
    if len(columns) + len(literals) < len(operands):
        return False
    if len({type_of(operand, rows.schema) for operand in operands}) > 1:
        return False
    if any(is_strange(literal.type, literal.value) for literal in literals):
        return False
    if any(literal.type in {DOUBLE, FLOAT} and literal.value == 0 for literal in literals):
        ordered = True  # 0.0 may meet -0.0
    if not ordered and len(columns) < 2:
        return True
    return not any(_is_strange_column(column, rows) for column in columns)


def _is_strange_column(column: Column, rows: Rows) -> bool:
    if len(column.path) != 1:
        return type_of(column, rows.schema) in {DOUBLE, FLOAT}
    position = rows.schema.index(column.path[0])
    data_type = rows.schema.fields[position].type
    return data_type in {DOUBLE, FLOAT} and any(is_strange(data_type, row[position]) for row in rows.rows)
