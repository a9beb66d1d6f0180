"""Arithmetic and the functions of numbers. The operands of arithmetic already have one type."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from datetime import tzinfo
from typing import Any

from delta_models.casts.assignment import BITS, Overflow, assigner, decimal_of_double, round_decimal
from delta_models.functions.base import Apply, BadCall, Function, first_type, simple
from delta_models.schema import (
    BOOLEAN,
    DOUBLE,
    FLOAT,
    INTEGER,
    INTEGRALS,
    LONG,
    DataType,
    DecimalType,
    Primitive,
)
from delta_models.values import Decimal, Value, to_single

_MOST_DIGITS = 38


class DivisionByZero(Overflow):
    """A number is divided by zero."""


def limit_precision(precision: int, scale: int) -> DecimalType:
    """Return the decimal type of a result with so many digits.

    If it has more than 38, the scale shrinks, but not below six.
    """
    if precision <= _MOST_DIGITS:
        return DecimalType(precision, scale)
    kept = max(_MOST_DIGITS - (precision - scale), min(scale, 6))
    return DecimalType(_MOST_DIGITS, kept)


def arithmetic_result(op: str, left: DataType, right: DataType) -> DataType:
    """Return the type of `left op right`."""
    if not isinstance(left, DecimalType) or not isinstance(right, DecimalType):
        return DOUBLE if op == "/" else LONG if op == "div" else left
    whole = max(left.precision - left.scale, right.precision - right.scale)
    scale = max(left.scale, right.scale)
    match op:
        case "+" | "-":
            return limit_precision(whole + scale + 1, scale)
        case "*":
            return limit_precision(left.precision + right.precision + 1, left.scale + right.scale)
        case "/":
            places = max(6, left.scale + right.precision + 1)
            return limit_precision(left.precision - left.scale + right.scale + places, places)
        case "div":
            return LONG
    return limit_precision(min(left.precision - left.scale, right.precision - right.scale) + scale, scale)


def _arithmetic(op: str) -> Function:
    def make(types: Sequence[DataType], result: DataType, _zone: tzinfo) -> Apply:
        if isinstance(types[0], DecimalType):
            return _decimal_arithmetic(op, result)
        if types[0] in INTEGRALS and op != "/":
            return _whole_arithmetic(op, result)
        if types[0] in {*INTEGRALS, FLOAT, DOUBLE}:
            return _floating_arithmetic(op, single=result == FLOAT)
        raise BadCall(f"{op} is for numbers, not for {types[0]}")

    return Function((None, None), lambda types: arithmetic_result(op, types[0], types[1]), make)


def _whole_arithmetic(op: str, result: DataType) -> Apply:
    half = 1 << (BITS.get(result, 64) - 1) if isinstance(result, Primitive) else 1 << 63

    def apply(left: int, right: int) -> int:
        if right == 0 and op in {"%", "div"}:
            raise DivisionByZero("division by zero")
        value = _WHOLE[op](left, right)
        if not -half <= value < half:
            raise Overflow(f"{left} {op} {right} does not fit {result}")
        return value

    return apply


def _quotient(left: int, right: int) -> int:
    quotient = abs(left) // abs(right)
    return -quotient if (left < 0) != (right < 0) else quotient


_WHOLE: dict[str, Callable[[int, int], int]] = {
    "+": lambda left, right: left + right,
    "-": lambda left, right: left - right,
    "*": lambda left, right: left * right,
    "%": lambda left, right: left - right * _quotient(left, right),
    "div": _quotient,
}


def _floating_arithmetic(op: str, *, single: bool) -> Apply:
    def apply(left: float, right: float) -> float:
        left, right = float(left), float(right)
        if op in {"/", "%", "div"}:
            if right == 0:
                raise DivisionByZero("division by zero")
            value = left / right if op != "%" else math.fmod(left, right) if math.isfinite(left) else math.nan
        else:
            value = {"+": left + right, "-": left - right, "*": left * right}[op]
        return to_single(value) if single else value

    return apply


def _decimal_arithmetic(op: str, result: DataType) -> Apply:
    def apply(left: Decimal, right: Decimal) -> Value:
        scale = max(left[1], right[1])
        mine, its = Decimal(*left).at_scale(scale).unscaled, Decimal(*right).at_scale(scale).unscaled
        if op in {"/", "%", "div"} and its == 0:
            raise DivisionByZero("division by zero")
        match op:
            case "+":
                exact = Decimal(mine + its, scale)
            case "-":
                exact = Decimal(mine - its, scale)
            case "*":
                exact = Decimal(left[0] * right[0], left[1] + right[1])
            case "%":
                exact = Decimal(_WHOLE["%"](mine, its), scale)
            case "div":
                return _quotient(mine, its)
            case _:
                places = (result.scale if isinstance(result, DecimalType) else 6) + 1
                exact = Decimal(_quotient(mine * 10**places, its), places)
        return round_decimal(exact, result) if isinstance(result, DecimalType) else exact

    return apply


def _number(value: Value) -> Any:
    return value[0] if isinstance(value, Decimal) else value


def _absolute(value: Value) -> Value:
    return Decimal(abs(value[0]), value[1]) if isinstance(value, Decimal) else abs(value)


def _negative(value: Value) -> Value:
    return Decimal(-value[0], value[1]) if isinstance(value, Decimal) else -value


def _towards(direction: Callable[[int, int], int], whole: Callable[[float], int]) -> Apply:
    def apply(value: Value) -> Value:
        if isinstance(value, Decimal):
            return Decimal(direction(value.unscaled, 10**value.scale), 0)
        return whole(value)

    return apply


def _whole_type(types: Sequence[DataType]) -> DataType:
    match types[0]:
        case DecimalType(precision=precision, scale=scale):
            return DecimalType(min(precision - scale + 1, _MOST_DIGITS), 0)
    return LONG


def _round(value: Value, places: int = 0) -> Value:
    if isinstance(value, float):
        if not math.isfinite(value):
            return value
        digits = round_decimal(decimal_of_double(value), DecimalType(400, max(places, 0)))
        return float(str(_at_places(digits, places)))
    if isinstance(value, Decimal):
        return _at_places(round_decimal(value, DecimalType(400, max(min(places, value.scale), 0))), places)
    return _at_places(Decimal(value, 0), places).unscaled


def _at_places(value: Decimal, places: int) -> Decimal:
    if places >= 0:
        return value
    unit = 10 ** (-places + value.scale)
    half_up = (abs(value.unscaled) * 2 + unit) // (2 * unit) * unit
    return Decimal(-half_up if value.unscaled < 0 else half_up, value.scale)


def _rounded_type(types: Sequence[DataType]) -> DataType:
    return types[0]


def _pmod(left: int, right: int) -> int:
    if right == 0:
        raise DivisionByZero("division by zero")
    return left % abs(right)


def _sign(value: Value) -> float:
    number = _number(value)
    return float((number > 0) - (number < 0))


def _root(value: float) -> float:
    return math.sqrt(value) if value >= 0 else math.nan


def _logarithm(apply: Callable[[float], float]) -> Apply:
    return lambda value: apply(value) if value > 0 else None


def _power(base: float, exponent: float) -> float:
    try:
        return math.pow(base, exponent)
    except OverflowError:
        return math.inf
    except ValueError:
        return math.nan


def _unary_double(apply: Callable[[float], Any]) -> Function:
    return simple((DOUBLE,), DOUBLE, apply)


def _as_double(types: Sequence[DataType], _result: DataType, _zone: tzinfo) -> Apply:
    convert = assigner(types[0], DOUBLE)
    return lambda value: _sign(convert(value))


_CEIL = _towards(lambda number, unit: -(-number // unit), math.ceil)
_FLOOR = _towards(lambda number, unit: number // unit, math.floor)

FUNCTIONS: dict[str, Function] = {
    **{op: _arithmetic(op) for op in ("+", "-", "*", "/", "%", "div")},
    "mod": _arithmetic("%"),
    "pmod": simple((LONG, LONG), LONG, _pmod),
    "abs": simple((None,), first_type, _absolute),
    "negative": simple((None,), first_type, _negative),
    "positive": simple((None,), first_type, lambda value: value),
    "ceil": simple((None,), _whole_type, _CEIL),
    "ceiling": simple((None,), _whole_type, _CEIL),
    "floor": simple((None,), _whole_type, _FLOOR),
    "round": simple((None, INTEGER), _rounded_type, _round, optional=1),
    "sign": Function((None,), lambda _: DOUBLE, _as_double),
    "signum": Function((None,), lambda _: DOUBLE, _as_double),
    "sqrt": _unary_double(_root),
    "exp": _unary_double(math.exp),
    "ln": _unary_double(_logarithm(math.log)),
    "log10": _unary_double(_logarithm(math.log10)),
    "log2": _unary_double(_logarithm(math.log2)),
    "pow": simple((DOUBLE, DOUBLE), DOUBLE, _power),
    "power": simple((DOUBLE, DOUBLE), DOUBLE, _power),
    "isnan": simple((DOUBLE,), BOOLEAN, lambda value: value is not None and math.isnan(value), strict=False),
    "&": simple((None, None), first_type, lambda left, right: left & right),
    "|": simple((None, None), first_type, lambda left, right: left | right),
    "^": simple((None, None), first_type, lambda left, right: left ^ right),
    "~": simple((None,), first_type, lambda value: ~value),
}
