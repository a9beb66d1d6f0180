"""Functions of arrays, maps and structs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import tzinfo
from functools import partial

from delta_models.casts.assignment import Overflow
from delta_models.functions.base import Apply, BadCall, Function, simple
from delta_models.functions.conditionals import known_type
from delta_models.schema import BOOLEAN, INTEGER, LONG, STRING, VOID, Array, DataType, Field, Map, Struct
from delta_models.values import Value, order_key, sql_equal


def _element(types: Sequence[DataType]) -> DataType:
    match types[0]:
        case Array(element=element):
            return element
        case Map(value=value):
            return value
    raise BadCall(f"{types[0]} has no elements")


def _item(*, from_zero: bool, strict_index: bool) -> Function:
    """An element of an array by its index, a value of a map by its key."""

    def make(types: Sequence[DataType], _result: DataType, _zone: tzinfo) -> Apply:
        source = types[0]
        if isinstance(source, Map):
            return partial(_value_of, source.key)
        if not isinstance(source, Array):
            raise BadCall(f"{source} has no elements")

        def apply(values: Sequence[Value], index: int) -> Value:
            if index == 0 and not from_zero:
                raise Overflow("elements are counted from 1")
            position = index if from_zero else index - 1 if index > 0 else len(values) + index
            if 0 <= position < len(values):
                return values[position]
            if strict_index:
                raise Overflow(f"there is no element {index} in an array of {len(values)}")
            return None

        return apply

    return Function((None, None), _element, make)


def _value_of(key_type: DataType, pairs: Sequence[tuple[Value, Value]], key: Value) -> Value:
    return next((value for candidate, value in pairs if sql_equal(key_type, candidate, key)), None)


def _contains(types: Sequence[DataType], _result: DataType, _zone: tzinfo) -> Apply:
    element = _element(types)

    def apply(values: Sequence[Value], wanted: Value) -> bool | None:
        if any(sql_equal(element, value, wanted) for value in values):
            return True
        return None if None in values else False

    return apply


def _position(types: Sequence[DataType], _result: DataType, _zone: tzinfo) -> Apply:
    element = _element(types)

    def apply(values: Sequence[Value], wanted: Value) -> int:
        return next(
            (position for position, value in enumerate(values, 1) if sql_equal(element, value, wanted)), 0
        )

    return apply


def _has_key(types: Sequence[DataType], _result: DataType, _zone: tzinfo) -> Apply:
    source = types[0]
    if not isinstance(source, Map):
        raise BadCall(f"{source} is no map")
    key_type = source.key
    return lambda pairs, key: any(sql_equal(key_type, candidate, key) for candidate, _ in pairs)


def _extreme(pick: Callable[..., Value]) -> Function:
    def make(types: Sequence[DataType], _result: DataType, _zone: tzinfo) -> Apply:
        key = partial(order_key, _element(types))
        return lambda values: pick((value for value in values if value is not None), key=key, default=None)

    return Function((None,), _element, make)


def _map_part(position: int) -> Function:
    def result(types: Sequence[DataType]) -> DataType:
        source = types[0]
        if not isinstance(source, Map):
            raise BadCall(f"{source} is no map")
        return Array(source.value if position else source.key)

    return simple((None,), result, lambda pairs: tuple(pair[position] for pair in pairs))


def _sort(types: Sequence[DataType], _result: DataType, _zone: tzinfo) -> Apply:
    key = partial(order_key, _element(types))

    def apply(values: Sequence[Value], ascending: bool = True) -> tuple[Value, ...]:
        present = sorted((value for value in values if value is not None), key=key, reverse=not ascending)
        nulls = [None] * (len(values) - len(present))
        return tuple([*nulls, *present] if ascending else [*present, *nulls])

    return apply


def _distinct(types: Sequence[DataType], _result: DataType, _zone: tzinfo) -> Apply:
    element = _element(types)

    def apply(values: Sequence[Value]) -> tuple[Value, ...]:
        kept: list[Value] = []
        for value in values:
            if not any(value is other is None or sql_equal(element, value, other) for other in kept):
                kept.append(value)
        return tuple(kept)

    return apply


def _join(values: Sequence[str | None], separator: str, null: str | None = None) -> str:
    shown = (null if value is None else value for value in values)
    return separator.join(text for text in shown if text is not None)


def _field(types: Sequence[DataType]) -> Struct:
    if isinstance(types[0], Array) and isinstance(types[0].element, Struct):
        return types[0].element
    if isinstance(types[0], Struct):
        return types[0]
    raise BadCall(f"{types[0]} has no fields")


def _fields_of(types: Sequence[DataType], result: DataType, _zone: tzinfo) -> Apply:
    """A field of a struct, or of every struct in an array."""
    struct = _field(types)

    def apply(value: Value, name: str) -> Value:
        position = struct.index(name)
        if isinstance(result, Array) and isinstance(types[0], Array):
            return tuple(None if element is None else element[position] for element in value)
        return value[position]

    return apply


def _struct_type(types: Sequence[DataType]) -> DataType:
    return Struct(tuple(Field(f"col{number}", data_type) for number, data_type in enumerate(types, 1)))


def _flat_type(types: Sequence[DataType]) -> DataType:
    inner = _element(types)
    if not isinstance(inner, Array):
        raise BadCall(f"{types[0]} is no array of arrays")
    return inner


FUNCTIONS: dict[str, Function] = {
    "size": simple((None,), INTEGER, len),
    "cardinality": simple((None,), INTEGER, len),
    "array_size": simple((None,), INTEGER, len),
    "element_at": _item(from_zero=False, strict_index=True),
    "try_element_at": _item(from_zero=False, strict_index=False),
    "get": _item(from_zero=True, strict_index=False),
    "[]": _item(from_zero=True, strict_index=True),
    "field": Function((None, STRING), lambda _: VOID, _fields_of),
    "array_contains": Function((None, None), lambda _: BOOLEAN, _contains),
    "array_position": Function((None, None), lambda _: LONG, _position),
    "array_max": _extreme(max),
    "array_min": _extreme(min),
    "array_distinct": Function((None,), lambda types: types[0], _distinct),
    "sort_array": Function((None, BOOLEAN), lambda types: types[0], _sort, optional=1),
    "array_join": simple((None, STRING, STRING), STRING, _join, optional=1),
    "flatten": simple((None,), _flat_type, lambda values: tuple(part for inner in values for part in inner)),
    "map_keys": _map_part(0),
    "map_values": _map_part(1),
    "map_contains_key": Function((None, None), lambda _: BOOLEAN, _has_key),
    "array": simple(
        (None,),
        lambda types: Array(known_type(types)),
        lambda *values: values,
        strict=False,
        variadic=True,
        optional=1,
    ),
    "struct": simple((None,), _struct_type, lambda *values: values, strict=False, variadic=True),
}
