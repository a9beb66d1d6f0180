"""Expressions as trees, and how to evaluate them with SQL's three-valued logic.

Predicates and assignments are expressions. A literal carries its type. The portable core is comparisons, null tests,
`In`, `Between` and and/or/not over columns and literals of one type. The order of NaN, calls, arithmetic and casts are
rules of class *reference*.
"""

from __future__ import annotations

import importlib
import operator
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, tzinfo
from functools import partial
from typing import Any

from delta_models.schema import BOOLEAN, DataType, Struct
from delta_models.values import Row, Value, order_keyer, sql_keyer


@dataclass(frozen=True, slots=True)
class Column:
    """A column, or a field inside one, by its path of names."""

    path: tuple[str, ...]

    @property
    def name(self) -> str:
        """The path with points between its parts, for messages."""
        return ".".join(self.path)


@dataclass(frozen=True, slots=True)
class Literal:
    """A constant of a type."""

    type: DataType
    value: Value


@dataclass(frozen=True, slots=True)
class Compare:
    """`left op right`, where both sides have one type.

    `op` is one of = != < <= > >= and <=> (null-safe equality).
    """

    op: str
    left: Expression
    right: Expression


@dataclass(frozen=True, slots=True)
class IsNull:
    """Whether the operand is null; never unknown."""

    operand: Expression


@dataclass(frozen=True, slots=True)
class IsNotNull:
    """Whether the operand is not null; never unknown."""

    operand: Expression


@dataclass(frozen=True, slots=True)
class In:
    """Whether the operand equals one of the options."""

    operand: Expression
    options: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Between:
    """`low <= operand and operand <= high`."""

    operand: Expression
    low: Expression
    high: Expression


@dataclass(frozen=True, slots=True)
class And:
    """Whether all operands are true."""

    operands: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Or:
    """Whether any operand is true."""

    operands: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Not:
    """The opposite of the operand; unknown stays unknown."""

    operand: Expression


@dataclass(frozen=True, slots=True)
class Call:
    """A call of a function or an operator such as `+`, `like`, `cast`.

    `function` is its Spark name in lower case, `type` the type of the result.
    """

    function: str
    arguments: tuple[Expression, ...]
    type: DataType


Expression = Column | Literal | Compare | IsNull | IsNotNull | In | Between | And | Or | Not | Call


class NotEvaluable(NotImplementedError):
    """The expression uses a function that the model does not know."""


def type_of(expression: Expression, schema: Struct) -> DataType:
    """Return the type of an expression over rows of a schema. Raises KeyError for an unknown column."""
    match expression:
        case Column(path=path):
            data_type: DataType = schema
            for name in path:
                if not isinstance(data_type, Struct):
                    message = f"{data_type} has no field {name!r}"
                    raise KeyError(message)
                data_type = data_type[name].type
            return data_type
        case Literal(type=literal_type):
            return literal_type
        case Call(type=result):
            return result
    return BOOLEAN


def evaluate(expression: Expression, schema: Struct, row: Row) -> Value:
    """Return the value of an expression for a row; for a predicate True, False or None (unknown)."""
    return compile_expression(expression, schema)(row)


def compile_expression(expression: Expression, schema: Struct, zone: tzinfo = UTC) -> Callable[[Row], Value]:
    """Return the expression as a function of a row, for many rows of one schema.

    `zone` is the session's time zone, which calls use for the calendar of a timestamp. Raises KeyError for an unknown
    column, NotEvaluable for an unknown function.
    """
    match expression:
        case Column(path=path):
            return _field_getter(schema, path)
        case Literal(value=value):
            return lambda _: value
        case Compare(op=op, left=left, right=right):
            decide = comparator(op, type_of(left, schema))
            first, second = compile_expression(left, schema, zone), compile_expression(right, schema, zone)
            return lambda row: decide(first(row), second(row))
        case IsNull(operand=operand):
            inner = compile_expression(operand, schema, zone)
            return lambda row: inner(row) is None
        case IsNotNull(operand=operand):
            inner = compile_expression(operand, schema, zone)
            return lambda row: inner(row) is not None
        case In(operand=operand, options=options):
            return compile_expression(
                Or(tuple(Compare("=", operand, option) for option in options)), schema, zone
            )
        case Between(operand=operand, low=low, high=high):
            return compile_expression(
                And((Compare(">=", operand, low), Compare("<=", operand, high))), schema, zone
            )
        case And(operands=operands):
            parts = tuple(compile_expression(argument, schema, zone) for argument in operands)
            return lambda row: all_of(part(row) for part in parts)
        case Or(operands=operands):
            parts = tuple(compile_expression(argument, schema, zone) for argument in operands)
            return lambda row: any_of(part(row) for part in parts)
        case Not(operand=operand):
            inner = compile_expression(operand, schema, zone)
            return lambda row: negate(inner(row))
        case Call():
            return _compiled_call(expression, schema, zone)


def holds(expression: Expression | None, schema: Struct, row: Row) -> bool:
    """Whether a predicate picks a row: it is true, neither false nor unknown. None picks every row."""
    return expression is None or evaluate(expression, schema, row) is True


def compare(op: str, data_type: DataType, left: Value, right: Value) -> bool | None:
    """Return `left op right` for two values of a type."""
    return comparator(op, data_type)(left, right)


def comparator(op: str, data_type: DataType) -> Callable[[Value, Value], bool | None]:
    """Return `op` as a function of two values of a type."""
    as_key, as_order = sql_keyer(data_type), order_keyer(data_type)
    match op:
        case "<=>":

            def decide(left: Value, right: Value) -> bool | None:
                if left is None or right is None:
                    return left is right
                return as_key(left) == as_key(right)

        case "=":

            def decide(left: Value, right: Value) -> bool | None:
                return None if left is None or right is None else as_key(left) == as_key(right)

        case "!=":

            def decide(left: Value, right: Value) -> bool | None:
                return None if left is None or right is None else as_key(left) != as_key(right)

        case _:
            ordered = _ORDERINGS[op]

            def decide(left: Value, right: Value) -> bool | None:
                return None if left is None or right is None else ordered(as_order(left), as_order(right))

    return decide


def all_of(truths: Iterator[bool | None]) -> bool | None:
    """Return SQL's AND of some truth values."""
    values = list(truths)
    if False in values:
        return False
    return None if None in values else True


def any_of(truths: Iterator[bool | None]) -> bool | None:
    """Return SQL's OR of some truth values."""
    values = list(truths)
    if True in values:
        return True
    return None if None in values else False


def negate(truth: bool | None) -> bool | None:
    """Return SQL's NOT of a truth value."""
    return None if truth is None else not truth


def columns_of(expression: Expression | None) -> tuple[Column, ...]:
    """Return the columns that an expression mentions, in order and with repetitions."""
    match expression:
        case None | Literal():
            return ()
        case Column():
            return (expression,)
        case Compare(left=left, right=right):
            parts: tuple[Expression, ...] = (left, right)
        case In(operand=operand, options=options):
            parts = (operand, *options)
        case Between(operand=operand, low=low, high=high):
            parts = (operand, low, high)
        case And(operands=operands) | Or(operands=operands):
            parts = operands
        case Call(arguments=arguments):
            parts = arguments
        case _:
            parts = (expression.operand,)
    return tuple(column for part in parts for column in columns_of(part))


_ORDERINGS: dict[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip


def _compiled_call(call: Call, schema: Struct, zone: tzinfo) -> Callable[[Row], Value]:
    # Imported late: the environment of an adapter has only the vocabulary, and evaluates nothing.
    functions: Any = importlib.import_module("delta_models.functions")
    types = tuple(type_of(argument, schema) for argument in call.arguments)
    application = functions.application(call.function, types, call.type, zone)
    if application is None:
        message = f"the model does not know the function {call.function!r}"
        raise NotEvaluable(message)
    apply, lazy = application
    parts = tuple(compile_expression(argument, schema, zone) for argument in call.arguments)
    if lazy:
        return lambda row: apply(*(partial(part, row) for part in parts))
    return lambda row: apply(*(part(row) for part in parts))


def _field_getter(schema: Struct, path: tuple[str, ...]) -> Callable[[Row], Value]:
    positions: list[int] = []
    data_type: DataType = schema
    for name in path:
        if not isinstance(data_type, Struct):
            message = f"{data_type} has no field {name!r}"
            raise KeyError(message)
        positions.append(data_type.index(name))
        data_type = data_type.fields[positions[-1]].type
    if len(positions) == 1:
        return operator.itemgetter(positions[0])

    def get(row: Row) -> Value:
        value: Value = row
        for position in positions:
            if value is None:
                return None
            value = value[position]
        return value

    return get
