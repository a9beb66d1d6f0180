"""Draws predicates over the columns of a table, aimed at the values that it holds."""

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
UNORDERED_KINDS = (("=", 6), ("in", 4), ("null", 4), ("!=", 3))  # for doubles that engines order differently
ORDERINGS = ("<", "<=", ">", ">=")
FORMS = (("atom", 10), ("and", 3), ("or", 3), ("not", 2))
PRESENT_OF_FOUR = 3  # how many of four literals are taken from the table
NULL_LITERALS_ONE_IN = 40  # in histories that are not tame: comparisons with null are known to trip engines


def draw_predicate(
    choices: Choices, shape: TableShape, table: Table, columns: tuple[int, ...] | None = None
) -> Expression:
    """Draw a predicate over columns of the table, given by position; over all, unless they are given.

    Columns that engines can't compare are left out. If none is left, the predicate is `IS NOT NULL` of the first one.
    """
    wanted = tuple(range(len(shape.schema))) if columns is None else columns
    comparable = shape.comparable()
    if comparable is not None:
        wanted = tuple(position for position in wanted if position in comparable)
        if not wanted:
            return IsNotNull(Column((shape.schema.names[0],)))
    match choices.weighted(FORMS):
        case "and":
            return And((_atom(choices, shape, table, wanted), _atom(choices, shape, table, wanted)))
        case "or":
            return Or((_atom(choices, shape, table, wanted), _atom(choices, shape, table, wanted)))
        case "not":
            return Not(_atom(choices, shape, table, wanted))
    return _atom(choices, shape, table, wanted)


def _atom(choices: Choices, shape: TableShape, table: Table, columns: tuple[int, ...]) -> Expression:
    position = choices.pick(columns)
    field = shape.schema.fields[position]
    column = Column((field.name,))
    unordered = shape.portable and shape.strange and field.type == DOUBLE

    def literal() -> Literal:
        return _literal(choices, shape, table, position)

    match choices.weighted(UNORDERED_KINDS if unordered else KINDS):
        case "null":
            return IsNotNull(column) if choices.one_in(2) else IsNull(column)
        case "in":
            return In(column, tuple(literal() for _ in range(choices.pick((2, 1, 3)))))
        case "between":
            low, high = literal(), literal()
            if None not in {low.value, high.value} and _greater(field.type, low.value, high.value):
                low, high = high, low
            return Between(column, low, high)
        case "columns":
            others = [
                other.name
                for other in shape.schema
                if other.type == field.type and other.name != field.name and width_of(other) is None
            ]
            operator = choices.pick(("=", *ORDERINGS))
            return Compare(operator, column, Column((choices.pick(others or [field.name]),)))
        case "<":
            return Compare(choices.pick(ORDERINGS), column, literal())
        case operator:
            return Compare(operator, column, literal())


def _literal(choices: Choices, shape: TableShape, table: Table, position: int) -> Literal:
    """Draw a constant for a column: mostly a value that stands in it, seldom null."""
    data_type = shape.schema.fields[position].type
    if not shape.tame and choices.one_in(NULL_LITERALS_ONE_IN):
        return Literal(data_type, None)
    value: Value = None
    if table.rows and choices.below(4) < PRESENT_OF_FOUR:
        value = table.rows[choices.below(len(table.rows))][position]
    if value is None or (shape.portable and is_strange(data_type, value)):
        value = draw_value(choices, shape, position, nulls=False)
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
