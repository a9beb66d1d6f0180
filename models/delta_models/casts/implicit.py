"""Find the common type of operands and cast expressions to it, as Spark's ANSI mode does.

A literal that fits exactly is converted at once, so that a comparison of a column with a literal does not need a cast
of the column.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import tzinfo

from delta_models.casts.explicit import NotConvertible, converter, is_time
from delta_models.expressions import Call, Expression, Literal, type_of
from delta_models.schema import (
    BINARY,
    BOOLEAN,
    BYTE,
    DATE,
    DOUBLE,
    FLOAT,
    INTEGER,
    INTEGRALS,
    LONG,
    SHORT,
    STRING,
    TIMESTAMP,
    TIMESTAMP_NTZ,
    VOID,
    Array,
    DataType,
    DecimalType,
    Map,
    Primitive,
    Struct,
)

_DIGITS = {BYTE: 3, SHORT: 5, INTEGER: 10, LONG: 20}
_MOMENTS = (DATE, TIMESTAMP_NTZ, TIMESTAMP)


class Mismatch(TypeError):
    """Operands of these types have no common type."""


def is_number(data_type: DataType) -> bool:
    """Whether a type is one of numbers."""
    return data_type in {*INTEGRALS, FLOAT, DOUBLE} or isinstance(data_type, DecimalType)


def as_decimal_type(data_type: DataType) -> DecimalType:
    """Return the decimal type that holds every value of an integral type; a decimal type stays as it is."""
    if isinstance(data_type, DecimalType):
        return data_type
    return DecimalType(_DIGITS.get(data_type, 20) if isinstance(data_type, Primitive) else 20, 0)


def common_type(left: DataType, right: DataType) -> DataType:
    """Return the common type of two operands. Raises Mismatch if there is none."""
    if right in {left, VOID}:
        return left
    if left == VOID:
        return right
    if is_number(left) and is_number(right):
        return _common_number(left, right)
    if left in _MOMENTS and right in _MOMENTS:
        return max(left, right, key=_MOMENTS.index)
    if STRING in {left, right}:
        return _common_with_string(right if left == STRING else left)
    match left, right:
        case Array(), Array():
            nullable = left.contains_null or right.contains_null
            return Array(common_type(left.element, right.element), nullable)
        case Map(), Map():
            return Map(common_type(left.key, right.key), common_type(left.value, right.value))
        case Struct(), Struct() if len(left) == len(right):
            return left
    raise Mismatch(f"{left} and {right} do not go together")


def _common_number(left: DataType, right: DataType) -> DataType:
    if left in INTEGRALS and right in INTEGRALS:
        return max(left, right, key=INTEGRALS.index)
    if isinstance(left, DecimalType) or isinstance(right, DecimalType):
        if {left, right} & {FLOAT, DOUBLE}:
            return DOUBLE
        mine, its = as_decimal_type(left), as_decimal_type(right)
        scale = max(mine.scale, its.scale)
        # More than 38 digits are exact here, where Spark would have to round.
        return DecimalType(max(mine.precision - mine.scale, its.precision - its.scale) + scale, scale)
    return FLOAT if left == right else DOUBLE


def _common_with_string(other: DataType) -> DataType:
    """The type to which a string and another operand are cast: long or double for numbers, else the other type."""
    if other in INTEGRALS:
        return LONG
    if is_number(other):
        return DOUBLE
    if other in {*_MOMENTS, BOOLEAN, BINARY} or is_time(other):
        return other
    raise Mismatch(f"a string and {other} do not go together")


def cast_expression(expression: Expression, source: DataType, target: DataType, zone: tzinfo) -> Expression:
    """Return the expression as one of another type: a converted literal, or else a cast."""
    if source == target:
        return expression
    if isinstance(expression, Literal):
        try:
            return Literal(target, converter(source, target, zone)(expression.value))
        except (NotConvertible, ValueError):
            if source == VOID:
                raise
    return Call("cast", (expression,), target)


def unify_operands(operands: Sequence[Expression], schema: Struct, zone: tzinfo) -> tuple[Expression, ...]:
    """Return the operands of a comparison, all cast to one type: the column's if the literals fit it exactly."""
    types = [type_of(operand, schema) for operand in operands]
    wanted = types[0]
    for data_type in types[1:]:
        wanted = common_type(wanted, data_type)
    column_types = {
        source for operand, source in zip(operands, types, strict=True) if not isinstance(operand, Literal)
    }
    if len(column_types) == 1:
        column_type = next(iter(column_types))
        if (
            column_type != wanted
            and (converted := _convert_literals(operands, types, column_type, wanted, zone)) is not None
        ):
            return converted
    return tuple(
        cast_expression(operand, source, wanted, zone)
        for operand, source in zip(operands, types, strict=True)
    )


def _convert_literals(
    operands: Sequence[Expression],
    types: Sequence[DataType],
    column_type: DataType,
    wanted: DataType,
    zone: tzinfo,
) -> tuple[Expression, ...] | None:
    """The operands with the literals in the columns' type; None if a literal would change its value there."""
    converted: list[Expression] = []
    for operand, source in zip(operands, types, strict=True):
        if not isinstance(operand, Literal):
            converted.append(operand)
            continue
        try:
            expected = converter(source, wanted, zone)(operand.value)
            literal = converter(source, column_type, zone)(operand.value)
            if converter(column_type, wanted, zone)(literal) != expected:
                return None
        except (NotConvertible, ValueError):
            return None
        converted.append(Literal(column_type, literal))
    return tuple(converted)
