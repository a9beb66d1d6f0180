"""Convert Arrow arrays to the values of `delta_models.values`, a column at a time and without Arrow scalars.

Fixed-width arrays are read directly from their buffers. The Delta type decides what a column means, not the Arrow type.
So views, dictionaries, units, time zones and widened types all give the same values.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, cast

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as kinds

from delta_models.log.parquet.variants import variant_values
from delta_models.schema import Array, DataType, DecimalType, Field, Map, Primitive, Struct
from delta_models.values import Decimal, Rows, Value

MICROS_A_DAY = 86_400_000_000
MILLIS_A_DAY = 86_400_000
_UNITS = {"s": (1_000_000, 1), "ms": (1_000, 1), "us": (1, 1), "ns": (1, 1_000)}
_INTEGER_CODES = {
    pa.int8(): "b", pa.int16(): "h", pa.int32(): "i", pa.int64(): "q",
    pa.uint8(): "B", pa.uint16(): "H", pa.uint32(): "I", pa.uint64(): "Q",
}  # fmt: skip
_SIZES = {"b": 1, "h": 2, "i": 4, "q": 8, "B": 1, "H": 2, "I": 4, "Q": 8, "f": 4, "d": 8}

# Returns the index of the Arrow field that holds a field of the schema; None if there is none, so values are null.
Finder = Callable[[Sequence[pa.Field], Field], int | None]


class ArrowMismatch(ValueError):
    """An Arrow column cannot hold values of its Delta type."""


def by_name(candidates: Sequence[pa.Field], wanted: Field) -> int | None:
    """Return the index of the field of the same name; otherwise of the first whose name differs only in case."""
    folded = None
    for index, candidate in enumerate(candidates):
        if candidate.name == wanted.name:
            return index
        if folded is None and candidate.name.casefold() == wanted.name.casefold():
            folded = index
    return folded


def arrow_to_rows(table: pa.Table, schema: Struct) -> Rows:
    """Return the rows of an Arrow table in a schema. Columns are found by name; missing ones are null.

    Raises ArrowMismatch.
    """
    columns = struct_columns(table.schema, table.columns, table.num_rows, schema, by_name)
    return Rows(schema, tuple(zip(*columns, strict=True)) if columns else ((),) * table.num_rows)


def struct_columns(
    candidates: Sequence[pa.Field], arrays: Sequence[Any], length: int, schema: Struct, find: Finder
) -> list[list[Value]]:
    """Return the values of each field of a schema from the arrays of Arrow fields. Raises ArrowMismatch."""
    listed = list(candidates)
    columns = []
    for field in schema.fields:
        index = find(listed, field)
        if index is None:
            columns.append([None] * length)
            continue
        try:
            columns.append(column_values(arrays[index], field.type, find))
        except ArrowMismatch as error:
            raise ArrowMismatch(f"column {field.name!r}: {error}") from error
    return columns


def column_values(array: Any, data_type: DataType, find: Finder = by_name) -> list[Value]:
    """Return the values of one Arrow array, chunked or not, as values of a Delta type. Raises ArrowMismatch."""
    if isinstance(array, pa.ChunkedArray):
        if array.num_chunks == 1:
            return _values(array.chunk(0), data_type, find)
        return [value for chunk in array.chunks for value in _values(chunk, data_type, find)]
    return _values(array, data_type, find)


def _values(array: pa.Array, data_type: DataType, find: Finder) -> list[Value]:
    array = _unwrap(array)
    if kinds.is_null(array.type):
        return [None] * len(array)
    match data_type:
        case Primitive(name=name):
            values = _primitive_values(array, name)
        case DecimalType(scale=scale):
            values = _decimal_values(array, scale)
        case _:
            values = _nested_values(array, data_type, find)
    if values is None:
        raise ArrowMismatch(f"Arrow's {array.type} does not hold Delta's {data_type}")
    return values


def _primitive_values(array: pa.Array, name: str) -> list[Value] | None:
    """The values of a primitive type; None if the Arrow type cannot hold them."""
    reader = _PRIMITIVE_READERS.get(name)
    if reader is not None:
        return reader(array)
    return _preview_values(array) if name.startswith(("interval ", "time(")) else None


def _decimal_values(array: pa.Array, scale: int) -> list[Value] | None:
    if kinds.is_decimal(array.type):
        return _decimals(array, scale)
    if kinds.is_integer(array.type):
        factor = 10**scale
        return _map_values(lambda whole: Decimal(whole * factor, scale), _integers(array))
    return None


def _nested_values(array: pa.Array, data_type: DataType, find: Finder) -> list[Value] | None:
    arrow_type = array.type
    match data_type:
        case Struct() if kinds.is_struct(arrow_type):
            return _structs(array, data_type, find)
        case Array(element=element):
            if kinds.is_list(arrow_type) or kinds.is_large_list(arrow_type):
                return _lists(array, element, find)
            if kinds.is_list_view(arrow_type) or kinds.is_large_list_view(arrow_type):
                return _list_views(array, element, find)
        case Map() if kinds.is_map(arrow_type):
            return _maps(array, data_type, find)
    return None


def _read_integers(array: pa.Array) -> list[Value] | None:
    return _integers(array) if kinds.is_integer(array.type) else None


def _read_floats(array: pa.Array) -> list[Value] | None:
    if kinds.is_floating(array.type):
        return _floats(array)
    return _map_values(float, _integers(array)) if kinds.is_integer(array.type) else None


def _read_strings(array: pa.Array) -> list[Value] | None:
    return _strings(array) if _is_text(array.type) or _is_bytes(array.type) else None


def _read_bytes(array: pa.Array) -> list[Value] | None:
    return _bytes(array) if _is_text(array.type) or _is_bytes(array.type) else None


def _read_booleans(array: pa.Array) -> list[Value] | None:
    return _booleans(array) if kinds.is_boolean(array.type) else None


def _read_dates(array: pa.Array) -> list[Value] | None:
    if kinds.is_date32(array.type):
        return _fixed(array, "i")
    if kinds.is_date64(array.type):
        return _map_values(lambda millis: millis // MILLIS_A_DAY, _fixed(array, "q"))
    return None


def _read_timestamps(array: pa.Array) -> list[Value] | None:
    return _timestamps(array) if kinds.is_timestamp(array.type) else None


def _read_local_timestamps(array: pa.Array) -> list[Value] | None:
    if kinds.is_date32(array.type):
        return _map_values(lambda days: days * MICROS_A_DAY, _fixed(array, "i"))
    return _read_timestamps(array)


def _read_variants(array: pa.Array) -> list[Value] | None:
    return variant_values(array) if kinds.is_struct(array.type) else None


def _read_voids(array: pa.Array) -> list[Value]:
    return [None] * len(array)


_PRIMITIVE_READERS: dict[str, Callable[[pa.Array], list[Value] | None]] = {
    **dict.fromkeys(("byte", "short", "integer", "long"), _read_integers),
    **dict.fromkeys(("float", "double"), _read_floats),
    "string": _read_strings,
    "binary": _read_bytes,
    "boolean": _read_booleans,
    "date": _read_dates,
    "timestamp": _read_timestamps,
    "timestamp_ntz": _read_local_timestamps,
    "variant": _read_variants,
    "void": _read_voids,
}


def _unwrap(array: pa.Array) -> pa.Array:
    """The same values in an array without extension, dictionary, run ends and views."""
    while True:
        arrow_type = array.type
        if isinstance(arrow_type, pa.BaseExtensionType):
            array = array.storage
        elif kinds.is_dictionary(arrow_type):
            array = array.dictionary_decode()
        elif kinds.is_run_end_encoded(arrow_type):
            array = pc.run_end_decode(array)
        elif kinds.is_string_view(arrow_type):
            array = array.cast(pa.large_string())
        elif kinds.is_binary_view(arrow_type):
            array = array.cast(pa.large_binary())
        elif kinds.is_fixed_size_list(arrow_type):
            array = array.cast(pa.large_list(arrow_type.value_field))
        else:
            return array


def _is_text(arrow_type: pa.DataType) -> bool:
    return bool(kinds.is_string(arrow_type) or kinds.is_large_string(arrow_type))


def _is_bytes(arrow_type: pa.DataType) -> bool:
    return bool(
        kinds.is_binary(arrow_type)
        or kinds.is_large_binary(arrow_type)
        or kinds.is_fixed_size_binary(arrow_type)
    )


def _map_values(change: Callable[[Any], Value], values: list[Any]) -> list[Value]:
    return [None if value is None else change(value) for value in values]


def _with_nulls(array: pa.Array, values: list[Any]) -> list[Value]:
    if not array.null_count:
        return values
    mask = memoryview(array.is_null().cast(pa.uint8()).buffers()[1])[: len(values)]
    return [None if null else value for value, null in zip(values, mask, strict=True)]


def _fixed(array: pa.Array, code: str) -> list[Value]:
    data = array.buffers()[1]
    if data is None or len(array) == 0:
        return [None] * len(array)
    size = _SIZES[code]
    start = array.offset * size
    view = memoryview(data)[start : start + len(array) * size].cast(cast("Any", code))
    return _with_nulls(array, view.tolist())


def _integers(array: pa.Array) -> list[Value]:
    return _fixed(array, _INTEGER_CODES[array.type])


def _floats(array: pa.Array) -> list[Value]:
    if kinds.is_float16(array.type):
        array = array.cast(pa.float32())
    return _fixed(array, "d" if kinds.is_float64(array.type) else "f")


def _booleans(array: pa.Array) -> list[Value]:
    bits = array.cast(pa.uint8())
    return _map_values(bool, _fixed(bits, "B"))


def _timestamps(array: pa.Array) -> list[Value]:
    factor, divisor = _UNITS[array.type.unit]
    values = _fixed(array, "q")
    if factor == divisor:
        return values
    return _map_values(lambda ticks: ticks * factor // divisor, values)


def _preview_values(array: pa.Array) -> list[Value]:
    """Intervals, which Spark stores as plain integers, and times of day in microseconds."""
    if kinds.is_time(array.type):
        factor, divisor = _UNITS[array.type.unit]
        ticks = _fixed(array, "i" if kinds.is_time32(array.type) else "q")
        return _map_values(lambda value: value * factor // divisor, ticks)
    if kinds.is_integer(array.type):
        return _integers(array)
    raise ArrowMismatch(f"Arrow's {array.type} holds neither an interval nor a time of day")


def _decimals(array: pa.Array, scale: int) -> list[Value]:
    arrow_type = array.type
    width = arrow_type.byte_width
    data = array.buffers()[1]
    if data is None or len(array) == 0:
        return [None] * len(array)
    raw = memoryview(data)[array.offset * width : (array.offset + len(array)) * width]
    if width == 16:
        lows, highs = raw.cast("Q")[::2], raw.cast("q")[1::2]
        unscaled = [high << 64 | low for high, low in zip(highs, lows, strict=True)]
    else:
        whole = bytes(raw)
        unscaled = [
            int.from_bytes(whole[start : start + width], "little", signed=True)
            for start in range(0, len(whole), width)
        ]
    if arrow_type.scale == scale:
        return _with_nulls(array, [Decimal(number, scale) for number in unscaled])
    if arrow_type.scale > scale:
        raise ArrowMismatch(f"Arrow's {arrow_type} has more digits after the point than {scale}")
    factor = 10 ** (scale - arrow_type.scale)
    return _with_nulls(array, [Decimal(number * factor, scale) for number in unscaled])


def _offsets(array: pa.Array) -> list[int]:
    wide = (
        kinds.is_large_string(array.type)
        or kinds.is_large_binary(array.type)
        or kinds.is_large_list(array.type)
    )
    size, code = (8, "q") if wide else (4, "i")
    data = array.buffers()[1]
    if data is None:
        return [0] * (len(array) + 1)
    start = array.offset * size
    view = memoryview(data)[start : start + (len(array) + 1) * size].cast(cast("Any", code))
    return view.tolist()


def _bytes(array: pa.Array) -> list[Value]:
    if kinds.is_fixed_size_binary(array.type):
        array = array.cast(pa.binary())
    if len(array) == 0:
        return []
    offsets = _offsets(array)
    data = array.buffers()[2]
    raw = bytes(memoryview(data)[offsets[0] : offsets[-1]]) if data is not None else b""
    first = offsets[0]
    values = [raw[begin - first : end - first] for begin, end in pairwise(offsets)]
    return _with_nulls(array, values)


def _strings(array: pa.Array) -> list[Value]:
    if kinds.is_fixed_size_binary(array.type):
        array = array.cast(pa.binary())
    if len(array) == 0:
        return []
    offsets = _offsets(array)
    data = array.buffers()[2]
    first = offsets[0]
    raw = bytes(memoryview(data)[first : offsets[-1]]) if data is not None else b""
    if raw.isascii():
        text = raw.decode("ascii")
        values = [text[begin - first : end - first] for begin, end in pairwise(offsets)]
    else:
        values = [
            raw[begin - first : end - first].decode("utf-8", "surrogateescape")
            for begin, end in pairwise(offsets)
        ]
    return _with_nulls(array, values)


def _structs(array: pa.Array, schema: Struct, find: Finder) -> list[Value]:
    candidates = [array.type.field(index) for index in range(array.type.num_fields)]
    arrays = [array.field(index) for index in range(array.type.num_fields)]
    columns = struct_columns(candidates, arrays, len(array), schema, find)
    values: list[Value] = list(zip(*columns, strict=True)) if columns else [()] * len(array)
    return _with_nulls(array, values)


def _lists(array: pa.Array, element: DataType, find: Finder) -> list[Value]:
    offsets = _offsets(array)
    first, last = offsets[0], offsets[-1]
    inner = _values(array.values.slice(first, last - first), element, find)
    values = [tuple(inner[begin - first : end - first]) for begin, end in pairwise(offsets)]
    return _with_nulls(array, values)


def _list_views(array: pa.Array, element: DataType, find: Finder) -> list[Value]:
    """The values of list views. pyarrow's cast to plain lists is wrong here: it breaks views with nulls."""
    wide = kinds.is_large_list_view(array.type)
    size, code = (8, "q") if wide else (4, "i")
    part = slice(array.offset * size, (array.offset + len(array)) * size)
    offsets, sizes = (
        memoryview(buffer)[part].cast(cast("Any", code)).tolist() for buffer in array.buffers()[1:3]
    )
    inner = _values(array.values, element, find)
    values = [tuple(inner[begin : begin + count]) for begin, count in zip(offsets, sizes, strict=True)]
    return _with_nulls(array, values)


def _maps(array: pa.Array, data_type: Map, find: Finder) -> list[Value]:
    offsets = _offsets(array)
    first, last = offsets[0], offsets[-1]
    names = _values(array.keys.slice(first, last - first), data_type.key, find)
    parts = _values(array.items.slice(first, last - first), data_type.value, find)
    pairs = list(zip(names, parts, strict=True))
    values = [tuple(pairs[begin - first : end - first]) for begin, end in pairwise(offsets)]
    return _with_nulls(array, values)
