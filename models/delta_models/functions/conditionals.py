"""Functions that choose between values, and those that test for null."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import tzinfo
from functools import partial

from delta_models.functions.base import Apply, Function, simple
from delta_models.schema import BOOLEAN, VOID, DataType
from delta_models.values import Value, order_key, sql_equal

Thunk = Callable[[], Value]


def known_type(types: Sequence[DataType]) -> DataType:
    """Return the first type that is not void; all other arguments have been cast to it."""
    return next((data_type for data_type in types if data_type != VOID), VOID)


def _coalesce(*thunks: Thunk) -> Value:
    return next((value for thunk in thunks if (value := thunk()) is not None), None)


def _if(condition: Thunk, yes: Thunk, no: Thunk) -> Value:
    return yes() if condition() is True else no()


def _case(*thunks: Thunk) -> Value:
    """The arguments alternate between conditions and values; the last one is the value for all other rows."""
    for condition, value in zip(thunks[:-1:2], thunks[1::2], strict=False):
        if condition() is True:
            return value()
    return thunks[-1]() if len(thunks) % 2 else None


def _nvl2(value: Thunk, some: Thunk, none: Thunk) -> Value:
    return some() if value() is not None else none()


def _nullif(types: Sequence[DataType], _result: DataType, _zone: tzinfo) -> Apply:
    def apply(left: Value, right: Value) -> Value:
        return None if sql_equal(types[0], left, right) is True else left

    return apply


def _extreme(pick: Callable[..., Value]) -> Function:
    def make(types: Sequence[DataType], _result: DataType, _zone: tzinfo) -> Apply:
        key = partial(order_key, known_type(types))

        def apply(*values: Value) -> Value:
            present = [value for value in values if value is not None]
            return pick(present, key=key) if present else None

        return apply

    return Function((None, None), known_type, make, strict=False, variadic=True)


def _after_first(types: Sequence[DataType]) -> DataType:
    return known_type(types[1:])


def _case_type(types: Sequence[DataType]) -> DataType:
    return known_type([*types[1::2], *(types[-1:] if len(types) % 2 else ())])


FUNCTIONS: dict[str, Function] = {
    "coalesce": simple((None,), known_type, _coalesce, lazy=True, variadic=True),
    "nvl": simple((None, None), known_type, _coalesce, lazy=True),
    "ifnull": simple((None, None), known_type, _coalesce, lazy=True),
    "nvl2": simple((None, None, None), _after_first, _nvl2, lazy=True),
    "if": simple((BOOLEAN, None, None), _after_first, _if, lazy=True),
    "iff": simple((BOOLEAN, None, None), _after_first, _if, lazy=True),
    "case": simple((None,), _case_type, _case, lazy=True, variadic=True),
    "nullif": Function((None, None), known_type, _nullif, strict=False),
    "greatest": _extreme(max),
    "least": _extreme(min),
    "isnull": simple((None,), BOOLEAN, lambda value: value is None, strict=False),
    "isnotnull": simple((None,), BOOLEAN, lambda value: value is not None, strict=False),
}
