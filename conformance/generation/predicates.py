"""Predicates over the columns of a shape, aimed at the values that the table holds."""

from __future__ import annotations

from conformance.generation.choices import Choices
from conformance.generation.rows import draw_value
from conformance.generation.table_shapes import TableShape
from delta_models.expressions import (
    And,
    Between,
    Column,
    Compare,
    Expression,
    In,
    IsNotNull,
    IsNull,
    Literal,
    Not,
    Or,
)
from delta_models.portability import is_strange
from delta_models.schema import DOUBLE, DataType, width_of
from delta_models.table import Table
from delta_models.values import Value, order_key

KINDS = (("=", 6), ("<", 8), ("in", 4), ("null", 3), ("between", 3), ("!=", 3), ("columns", 1))
DISORDERLY = (("=", 6), ("in", 4), ("null", 4), ("!=", 3))  # for doubles whose order engines see differently
ORDERINGS = ("<", "<=", ">", ">=")
FORMS = (("atom", 10), ("and", 3), ("or", 3), ("not", 2))
PRESENT_OF_FOUR = 3  # how many of four literals are taken from the table
NULL_LITERALS_ONE_IN = 40  # in histories that are not tame: comparisons with null are known to trip engines


def draw_predicate(
    dice: Choices, shape: TableShape, table: Table, columns: tuple[int, ...] | None = None
) -> Expression:
    """A predicate over some columns of the table (all, unless they are given by position)."""
    columns = tuple(range(len(shape.schema))) if columns is None else columns
    match dice.weighted(FORMS):
        case "and":
            return And((_atom(dice, shape, table, columns), _atom(dice, shape, table, columns)))
        case "or":
            return Or((_atom(dice, shape, table, columns), _atom(dice, shape, table, columns)))
        case "not":
            return Not(_atom(dice, shape, table, columns))
    return _atom(dice, shape, table, columns)


def _atom(dice: Choices, shape: TableShape, table: Table, columns: tuple[int, ...]) -> Expression:
    at = dice.pick(columns)
    each = shape.schema.fields[at]
    column = Column((each.name,))
    disorderly = shape.portable and shape.strange and each.type == DOUBLE
    match dice.weighted(DISORDERLY if disorderly else KINDS):
        case "null":
            return IsNotNull(column) if dice.one_in(2) else IsNull(column)
        case "in":
            return In(column, tuple(_literal(dice, shape, table, at) for _ in range(dice.pick((2, 1, 3)))))
        case "between":
            low, high = _literal(dice, shape, table, at), _literal(dice, shape, table, at)
            if None not in {low.value, high.value} and _greater(each.type, low.value, high.value):
                low, high = high, low
            return Between(column, low, high)
        case "columns":
            others = [
                other.name
                for other in shape.schema
                if other.type == each.type and other.name != each.name and width_of(other) is None
            ]
            return Compare(dice.pick(("=", *ORDERINGS)), column, Column((dice.pick(others or [each.name]),)))
        case "<":
            return Compare(dice.pick(ORDERINGS), column, _literal(dice, shape, table, at))
        case op:
            return Compare(op, column, _literal(dice, shape, table, at))


def _literal(dice: Choices, shape: TableShape, table: Table, at: int) -> Literal:
    """A constant for a column: mostly a value that stands in it, seldom null."""
    data_type = shape.schema.fields[at].type
    if not shape.tame and dice.one_in(NULL_LITERALS_ONE_IN):
        return Literal(data_type, None)
    value: Value = None
    if table.rows and dice.below(4) < PRESENT_OF_FOUR:
        value = table.rows[dice.below(len(table.rows))][at]
    if value is None or (shape.portable and is_strange(data_type, value)):
        value = draw_value(dice, shape, at, nulls=False)
    if (
        shape.portable
        and shape.strange
        and data_type == DOUBLE
        and (value == 0 or is_strange(data_type, value))
    ):
        value = 1.0
    return Literal(data_type, value)


def _greater(data_type: DataType, left: Value, right: Value) -> bool:
    return bool(order_key(data_type, left) > order_key(data_type, right))
