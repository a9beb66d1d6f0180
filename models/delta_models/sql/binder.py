"""Build typed expressions over a schema: resolve names and add implicit casts."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import tzinfo

from delta_models import functions
from delta_models.casts.explicit import converter, read_decimal
from delta_models.casts.implicit import as_decimal_type, cast_expression, common_type, is_number
from delta_models.expressions import Call, Column, Expression, Literal, type_of
from delta_models.functions.numbers import arithmetic_result
from delta_models.schema import (
    BINARY,
    DATE,
    DOUBLE,
    INTEGER,
    INTEGRALS,
    LONG,
    STRING,
    VARIANT,
    VOID,
    Array,
    DataType,
    DecimalType,
    Map,
    Struct,
)
from delta_models.sql.errors import NoSuchColumn, NotUnderstood, TypeMismatch

_LONGEST = 1 << 63


class Binder:
    """Builds the expressions of one text over one schema, in a session of one zone."""

    def __init__(self, schema: Struct, zone: tzinfo) -> None:
        self.schema = schema
        self.zone = zone

    def type(self, expression: Expression) -> DataType:
        """Return the type of an expression over the schema."""
        return type_of(expression, self.schema)

    def path(self, names: Sequence[str]) -> Expression:
        """Return a column, or a part of one, by its names. Raises NoSuchColumn."""
        expression: Expression = Column(())
        data_type: DataType = self.schema
        path: tuple[str, ...] = ()
        for position, name in enumerate(names):
            if isinstance(data_type, Struct):
                try:
                    field = data_type[name]
                except KeyError as error:
                    raise NoSuchColumn(f"there is no {'.'.join(names)}: {error.args[0]}") from error
                path = (*path, field.name)
                expression, data_type = Column(path), field.type
                continue
            return self.steps(expression, names[position:])
        return expression

    def steps(self, expression: Expression, names: Sequence[str]) -> Expression:
        """Return the part of an expression to which names lead, through arrays of structs and maps."""
        for name in names:
            source = self.type(expression)
            if isinstance(source, Array) and isinstance(source.element, Struct):
                result: DataType = Array(self._field(source.element, name))
                expression = Call("field", (expression, Literal(STRING, name)), result)
            elif isinstance(source, Map):
                expression = self.call("[]", [expression, Literal(STRING, name)])
            elif isinstance(source, Struct):
                expression = Call("field", (expression, Literal(STRING, name)), self._field(source, name))
            else:
                raise NoSuchColumn(f"{source} has no field {name!r}")
        return expression

    def _field(self, struct: Struct, name: str) -> DataType:
        try:
            return struct[name].type
        except KeyError as error:
            raise NoSuchColumn(str(error.args[0])) from error

    def arithmetic(self, op: str, left: Expression, right: Expression) -> Expression:
        """Return two operands under an arithmetic operator."""
        types = [self.type(left), self.type(right)]
        if types[0] == DATE and op in {"+", "-"}:
            if types[1] in INTEGRALS:
                return self.call("date_add" if op == "+" else "date_sub", [left, right])
            if types[1] == DATE and op == "-":
                return self.call("datediff", [left, right])
        if types[1] == DATE and types[0] in INTEGRALS and op == "+":
            return self.call("date_add", [right, left])
        left, right = (
            cast_expression(operand, STRING, DOUBLE, self.zone) if source == STRING else operand
            for operand, source in zip((left, right), types, strict=True)
        )
        types = [self.type(left), self.type(right)]
        if not all(is_number(data_type) or data_type == VOID for data_type in types):
            raise TypeMismatch(f"{types[0]} {op} {types[1]}")
        wanted = common_type(types[0], types[1])
        if isinstance(wanted, DecimalType):
            mine, its = as_decimal_type(types[0]), as_decimal_type(types[1])
            result = arithmetic_result(op, _literal_type(left, mine), _literal_type(right, its))
            return Call(op, tuple(self._as_decimal(operand) for operand in (left, right)), result)
        if op == "/":
            wanted = DOUBLE
        elif op == "div":
            wanted = LONG
        arguments = tuple(
            cast_expression(operand, source, wanted, self.zone)
            for operand, source in zip((left, right), types, strict=True)
        )
        return Call(op, arguments, arithmetic_result(op, wanted, wanted))

    def _as_decimal(self, operand: Expression) -> Expression:
        source = self.type(operand)
        return cast_expression(operand, source, _literal_type(operand, as_decimal_type(source)), self.zone)

    def concatenation(self, name: str, arguments: Sequence[Expression]) -> Expression:
        """Return a concatenation of texts, arrays or bytes."""
        types = [self.type(argument) for argument in arguments]
        if not all(data_type == BINARY or isinstance(data_type, Array) for data_type in types):
            arguments = [
                cast_expression(argument, source, STRING, self.zone)
                for argument, source in zip(arguments, types, strict=True)
            ]
        return self.call(name, arguments)

    def variant(self, name: str, arguments: Sequence[Expression]) -> Expression:
        """Return a call that reads a part of a variant as a type."""
        from delta_models.sql import parse_type  # noqa: PLC0415 - only here is a type written in a literal

        result: DataType = VARIANT
        if len(arguments) > 2 and isinstance(arguments[2], Literal):
            result = parse_type(str(arguments[2].value))
        return Call(name, tuple(arguments), result)

    def one_type(self, arguments: Sequence[Expression]) -> list[Expression]:
        """Return the expressions, all cast to their common type."""
        wanted: DataType = VOID
        for argument in arguments:
            wanted = common_type(wanted, self.type(argument))
        return [cast_expression(argument, self.type(argument), wanted, self.zone) for argument in arguments]

    def call_on_one_type(self, name: str, arguments: Sequence[Expression]) -> Expression:
        """Return a call of a function whose arguments have one type."""
        return self.call(name, self.one_type(arguments))

    def call(self, name: str, arguments: Sequence[Expression]) -> Expression:
        """Return a call of a function, its arguments cast to its parameters. Raises SqlError."""
        function = functions.signature(name)
        if function is None:
            raise NotUnderstood(f"the model does not know the function {name!r}")
        if not function.takes(len(arguments)):
            raise TypeMismatch(f"{name} does not take {len(arguments)} arguments")
        given = []
        for position, argument in enumerate(arguments):
            source, wanted = self.type(argument), function.parameter(position)
            if wanted is not None and source != wanted:
                if not isinstance(argument, Literal):
                    converter(source, wanted, self.zone)
                given.append(cast_expression(argument, source, wanted, self.zone))
            else:
                given.append(argument)
        types = [self.type(part) for part in given]
        result = function.result(types)
        functions.application(name, types, result, self.zone)  # raises at once for wrong types
        return Call(name, tuple(given), result)


def number(text: str) -> Literal:
    """Return the literal of a number: int, long or decimal by its size, double if it has an exponent."""
    plain = text.lstrip("+-")
    if plain.isdigit():
        whole = int(text)
        if -(1 << 31) <= whole < 1 << 31:
            return Literal(INTEGER, whole)
        if -_LONGEST <= whole < _LONGEST:
            return Literal(LONG, whole)
    elif "e" in plain.lower():
        return Literal(DOUBLE, float(text))
    value = read_decimal(text)
    digits = max(len(str(abs(value.unscaled))), value.scale)
    return Literal(DecimalType(digits, value.scale), value)


def _literal_type(operand: Expression, otherwise: DecimalType) -> DecimalType:
    """The decimal type of an operand of decimal arithmetic; a whole literal has no more digits than it shows."""
    if isinstance(operand, Literal) and operand.type in INTEGRALS and operand.value is not None:
        return DecimalType(len(str(abs(operand.value))), 0)
    return otherwise
