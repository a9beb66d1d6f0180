"""Walk an expression and render it; the dialect of an engine renders names, literals and operators."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

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
)
from delta_models.schema import DataType, Struct
from delta_models.values import Value

ARITHMETIC = ("+", "-", "*", "/", "%")


class Inexpressible(ValueError):
    """The dialect can't express it. The adapter answers `Unsupported` with this message."""


class Dialect(ABC):
    """One engine's SQL.

    The portable core is rendered here. `call` renders functions; a dialect that has more of them than arithmetic,
    `cast` and `like` overrides it.
    """

    name: ClassVar[str]
    null_safe_equal: ClassVar[str] = "IS NOT DISTINCT FROM"

    @abstractmethod
    def quote(self, name: str) -> str:
        """Return a name, quoted whatever it contains."""

    @abstractmethod
    def literal(self, data_type: DataType, value: Value) -> str:
        """Return a constant of exactly this type and value. Raises Inexpressible if the dialect has none."""

    @abstractmethod
    def type_name(self, data_type: DataType) -> str:
        """Return the name of a type as a CAST takes it."""

    def column(self, path: tuple[str, ...]) -> str:
        """Return a column, or a field inside one."""
        return ".".join(map(self.quote, path))

    def cast(self, text: str, data_type: DataType) -> str:
        """Return a rendered expression, cast to a type."""
        return f"CAST({text} AS {self.type_name(data_type)})"

    def call(self, function: str, arguments: tuple[str, ...], result: DataType) -> str:
        """Return the call of a function or an operator."""
        if function in ARITHMETIC and len(arguments) == 2:
            return f"({arguments[0]} {function} {arguments[1]})"
        if function == "cast" and len(arguments) == 1:
            return self.cast(arguments[0], result)
        if function == "like" and len(arguments) == 2:
            return f"({arguments[0]} LIKE {arguments[1]})"
        raise Inexpressible(f"{self.name} has no words for the function {function!r}")


def render_sql(expression: Expression, schema: Struct | None, dialect: Dialect) -> str:
    """Return the expression as SQL over a table of this schema. Raises Inexpressible if the dialect can't express it.

    Without a schema, the two sides of a comparison are assumed to be of one type, as the vocabulary promises.
    """
    match expression:
        case Column(path=path):
            return dialect.column(path)
        case Literal(type=data_type, value=value):
            return dialect.literal(data_type, value)
        case Call(function=function, arguments=arguments, type=result):
            return dialect.call(
                function, tuple(render_sql(argument, schema, dialect) for argument in arguments), result
            )
        case Compare(op=op, left=left, right=right):
            word = dialect.null_safe_equal if op == "<=>" else "<>" if op == "!=" else op
            first, second = _of_one_type((left, right), schema, dialect)
            return f"({first} {word} {second})"
        case IsNull(operand=operand):
            return f"({render_sql(operand, schema, dialect)} IS NULL)"
        case IsNotNull(operand=operand):
            return f"({render_sql(operand, schema, dialect)} IS NOT NULL)"
        case In(operand=operand, options=options):
            if not options:
                raise Inexpressible("SQL has no IN with an empty list")
            first, *rest = _of_one_type((operand, *options), schema, dialect)
            return f"({first} IN ({', '.join(rest)}))"
        case Between(operand=operand, low=low, high=high):
            first, second, third = _of_one_type((operand, low, high), schema, dialect)
            return f"({first} BETWEEN {second} AND {third})"
        case And(operands=operands):
            return _joined(" AND ", operands, schema, dialect, empty="TRUE")
        case Or(operands=operands):
            return _joined(" OR ", operands, schema, dialect, empty="FALSE")
        case Not(operand=operand):
            return f"(NOT {render_sql(operand, schema, dialect)})"


def _of_one_type(operands: tuple[Expression, ...], schema: Struct | None, dialect: Dialect) -> list[str]:
    """Return the operands, each cast to the type of the first column among them, so that no engine has to choose."""
    types = [_type_of(operand, schema) for operand in operands]
    target = next(
        (own for operand, own in zip(operands, types, strict=True) if isinstance(operand, Column)),
        types[0],
    )
    return [
        text if target in {own, None} or own is None else dialect.cast(text, target)
        for text, own in zip(
            (render_sql(operand, schema, dialect) for operand in operands), types, strict=True
        )
    ]


def _type_of(expression: Expression, schema: Struct | None) -> DataType | None:
    """Return its type. None without a schema, and for a column that does not exist: the engine has to refuse that."""
    try:
        return None if schema is None else type_of(expression, schema)
    except KeyError:
        return None


def _joined(
    word: str, operands: tuple[Expression, ...], schema: Struct | None, dialect: Dialect, *, empty: str
) -> str:
    return (
        f"({word.join(render_sql(operand, schema, dialect) for operand in operands)})" if operands else empty
    )
