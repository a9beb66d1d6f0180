"""Compute the functions and operators that `Call` names, as Spark SQL does: `date_add`, `hex`, `size`, `+`, `cast`.

They follow Spark's documentation of its ANSI mode, so rules about them are of class *reference*. A function that has no
value for its arguments raises `EvaluationError`; it never returns null instead.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, tzinfo
from functools import partial

from delta_models.casts.assignment import Overflow
from delta_models.casts.explicit import NotConvertible, Unreadable, converter
from delta_models.functions import collections, conditionals, dates, numbers, strings, variants
from delta_models.functions.base import Apply, BadCall, Function
from delta_models.schema import DataType
from delta_models.values import Value

__all__ = ["FUNCTIONS", "BadCall", "EvaluationError", "Function", "application", "call", "signature"]


class EvaluationError(ValueError):
    """An expression has no value for a row: an overflow, a division by zero, a text that is not a number."""


FUNCTIONS: dict[str, Function] = {
    **numbers.FUNCTIONS,
    **strings.FUNCTIONS,
    **dates.FUNCTIONS,
    **conditionals.FUNCTIONS,
    **collections.FUNCTIONS,
    **variants.FUNCTIONS,
}


def signature(name: str) -> Function | None:
    """Return the function of this lower-case name; None if the model does not know it."""
    return FUNCTIONS.get(name)


def application(
    name: str, types: Sequence[DataType], result: DataType, zone: tzinfo
) -> tuple[Apply, bool] | None:
    """Return what computes a call on arguments of these types, and whether it takes its arguments lazily.

    Returns None for a function that the model does not know. Raises BadCall.
    """
    if name in {"cast", "try_cast"}:
        return _with_evaluation_errors(_cast(name, types[0], result, zone)), False
    function = FUNCTIONS.get(name)
    if function is None:
        return None
    if not function.takes(len(types)):
        raise BadCall(f"{name} does not take {len(types)} arguments")
    apply = _with_evaluation_errors(function.make(types, result, zone))
    return (_propagate_null(apply) if function.strict and not function.lazy else apply), function.lazy


def call(
    name: str, values: Sequence[Value], types: Sequence[DataType], result: DataType, zone: tzinfo = UTC
) -> Value:
    """Return the value of one call. Raises KeyError for an unknown function, EvaluationError if it has no value."""
    applied = application(name, types, result, zone)
    if applied is None:
        raise KeyError(name)
    apply, lazy = applied
    return apply(*(partial(_itself, value) for value in values)) if lazy else apply(*values)


def _itself(value: Value) -> Value:
    return value


def _with_evaluation_errors(apply: Apply) -> Apply:
    def wrapped(*values: Value) -> Value:
        try:
            return apply(*values)
        except (Overflow, Unreadable) as error:
            raise EvaluationError(str(error)) from error

    return wrapped


def _propagate_null(apply: Apply) -> Apply:
    def wrapped(*values: Value) -> Value:
        return None if None in values else apply(*values)

    return wrapped


def _cast(name: str, source: DataType, target: DataType, zone: tzinfo) -> Apply:
    try:
        convert = converter(source, target, zone)
    except NotConvertible as error:
        raise BadCall(str(error)) from error
    if name == "cast":
        return convert

    def attempt(value: Value) -> Value:
        try:
            return convert(value)
        except ValueError:
            return None

    return attempt
