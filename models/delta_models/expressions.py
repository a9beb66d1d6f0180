"""Expressions as trees: what a predicate or an assignment says, and what it evaluates to, with SQL's
three-valued logic.

A literal carries its type. The portable core is comparisons, null tests, `In`, `Between`, and/or/not over
columns and literals of one type; the order of NaN, `Like`, calls, arithmetic and casts are of class
*reference*.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from delta_models.schema import BOOLEAN, DataType, Struct
from delta_models.values import Row, Value, order_key, sql_equal, sql_key


@dataclass(frozen=True, slots=True)
class Column:
    """A column, or a field inside one, by its path of names."""

    path: tuple[str, ...]

    @property
    def name(self) -> str:
        """The path with points between its parts, for people."""
        return ".".join(self.path)


@dataclass(frozen=True, slots=True)
class Literal:
    """A constant of a type."""

    type: DataType
    value: Value


@dataclass(frozen=True, slots=True)
class Compare:
    """`left op right`; op is one of = != < <= > >= and <=> (null-safe equality). Both sides are of one type."""

    op: str
    left: Expression
    right: Expression


@dataclass(frozen=True, slots=True)
class IsNull:
    """Whether the operand is null: never unknown."""

    operand: Expression


@dataclass(frozen=True, slots=True)
class IsNotNull:
    """Whether the operand is not null: never unknown."""

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
    """All operands."""

    operands: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Or:
    """Any operand."""

    operands: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Not:
    """The operand's opposite; unknown stays unknown."""

    operand: Expression


@dataclass(frozen=True, slots=True)
class Call:
    """A function or an operator such as `+`, `like`, `cast`, by its lower-case Spark name; `type` is the result's."""

    function: str
    arguments: tuple[Expression, ...]
    type: DataType


Expression = Column | Literal | Compare | IsNull | IsNotNull | In | Between | And | Or | Not | Call

COMPARISONS = ("=", "!=", "<", "<=", ">", ">=", "<=>")


class NotEvaluable(LookupError):
    """The expression uses a function that the model does not know."""


def type_of(expression: Expression, schema: Struct) -> DataType:
    """The type of an expression over rows of a schema."""
    match expression:
        case Column(path=path):
            found: DataType = schema
            for name in path:
                if not isinstance(found, Struct):
                    message = f"{found} has no field {name!r}"
                    raise KeyError(message)
                found = found[name].type
            return found
        case Literal(type=literal_type):
            return literal_type
        case Call(type=result):
            return result
    return BOOLEAN


def evaluate(expression: Expression, schema: Struct, row: Row) -> Value:
    """The value of an expression for a row; for predicates True, False or None (unknown)."""
    match expression:
        case Column(path=path):
            return _field(schema, row, path)
        case Literal(value=value):
            return value
        case Compare(op=op, left=left, right=right):
            data_type = type_of(left, schema)
            return compare(op, data_type, evaluate(left, schema, row), evaluate(right, schema, row))
        case IsNull(operand=operand):
            return evaluate(operand, schema, row) is None
        case IsNotNull(operand=operand):
            return evaluate(operand, schema, row) is not None
        case In(operand=operand, options=options):
            data_type = type_of(operand, schema)
            value = evaluate(operand, schema, row)
            return any_of(sql_equal(data_type, value, evaluate(each, schema, row)) for each in options)
        case Between(operand=operand, low=low, high=high):
            return evaluate(And((Compare(">=", operand, low), Compare("<=", operand, high))), schema, row)
        case And(operands=operands):
            return all_of(evaluate(each, schema, row) for each in operands)
        case Or(operands=operands):
            return any_of(evaluate(each, schema, row) for each in operands)
        case Not(operand=operand):
            return negate(evaluate(operand, schema, row))
        case Call(function=function):
            message = f"the model does not know the function {function!r}"
            raise NotEvaluable(message)


def holds(expression: Expression | None, schema: Struct, row: Row) -> bool:
    """Whether a row is picked: true, neither false nor unknown. No predicate picks every row."""
    return expression is None or evaluate(expression, schema, row) is True


def compare(op: str, data_type: DataType, left: Value, right: Value) -> bool | None:
    """`left op right` for two values of a type."""
    if op == "<=>":
        if left is None or right is None:
            return left is None and right is None
        return sql_key(data_type, left) == sql_key(data_type, right)
    if left is None or right is None:
        return None
    if op == "=":
        return sql_key(data_type, left) == sql_key(data_type, right)
    if op == "!=":
        return sql_key(data_type, left) != sql_key(data_type, right)
    first, second = order_key(data_type, left), order_key(data_type, right)
    outcome: bool = {
        "<": first < second, "<=": first <= second, ">": first > second, ">=": first >= second,
    }[op]  # fmt: skip
    return outcome


def all_of(truths: Iterator[bool | None]) -> bool | None:
    """SQL's AND."""
    seen = list(truths)
    if False in seen:
        return False
    return None if None in seen else True


def any_of(truths: Iterator[bool | None]) -> bool | None:
    """SQL's OR."""
    seen = list(truths)
    if True in seen:
        return True
    return None if None in seen else False


def negate(truth: bool | None) -> bool | None:
    """SQL's NOT."""
    return None if truth is None else not truth


def columns_of(expression: Expression | None) -> tuple[Column, ...]:
    """Every column that an expression mentions, in order, repeated as often as it stands there."""
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
    return tuple(found for part in parts for found in columns_of(part))


def _field(schema: Struct, row: Row, path: tuple[str, ...]) -> Value:
    value: Value = row
    data_type: DataType = schema
    for name in path:
        if value is None:
            return None
        if not isinstance(data_type, Struct):
            message = f"{data_type} has no field {name!r}"
            raise KeyError(message)
        position = data_type.index(name)
        value = value[position]
        data_type = data_type.fields[position].type
    return value
