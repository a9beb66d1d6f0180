"""What an engine answered to a read, as rows of the schema asked for; or in words why it is none.

The columns are held to the schema by name, order and type before a value is looked at. What Arrow has several
encodings for (views, dictionaries, units of time) is one type here.
"""

from __future__ import annotations

import pyarrow as pa

from delta_models.log.changes import COMMIT_TIMESTAMP, COMMIT_VERSION
from delta_models.log.parquet import ArrowMismatch, arrow_to_rows
from delta_models.schema import Array, DataType, DecimalType, Map, Primitive, Struct
from delta_models.values import Rows

_NAMES = {
    pa.int8(): "byte", pa.int16(): "short", pa.int32(): "integer", pa.int64(): "long",
    pa.float32(): "float", pa.float64(): "double", pa.bool_(): "boolean", pa.date32(): "date", pa.null(): "void",
    pa.string(): "string", pa.large_string(): "string", pa.string_view(): "string",
    pa.binary(): "binary", pa.large_binary(): "binary", pa.binary_view(): "binary",
}  # fmt: skip


def rows_from_arrow(table: pa.Table, columns: Struct) -> Rows | str:
    """The rows, or what is wrong with the columns."""
    wanted = [(column.name, name_of(column.type)) for column in columns]
    got = [(field.name, arrow_name(field.type)) for field in table.schema]
    if wanted != got:
        return f"columns {_listed(got)} instead of {_listed(wanted)}"
    try:
        return arrow_to_rows(table, columns)
    except (ArrowMismatch, pa.ArrowInvalid) as error:
        return str(error)


def changes_of(table: pa.Table, columns: Struct) -> Rows | str:
    """The changes that a feed tells, in the columns asked for, or what is wrong with them. Their times are left out,
    and columns may come in any order."""
    if COMMIT_TIMESTAMP.name in table.column_names:
        table = table.drop_columns([COMMIT_TIMESTAMP.name])
    at = table.column_names.index(COMMIT_VERSION.name) if COMMIT_VERSION.name in table.column_names else -1
    if at >= 0 and pa.types.is_integer(table.schema.field(at).type):
        table = table.set_column(at, COMMIT_VERSION.name, table.column(at).cast(pa.int64()))
    if sorted(table.column_names) == sorted(columns.names):
        table = table.select(list(columns.names))
    return rows_from_arrow(table, columns)


def times_of(table: pa.Table) -> dict[str, list[int | None]] | None:
    """The versions that a feed names and the times that it gives them, in microseconds; None where it names none."""
    names = (COMMIT_VERSION.name, COMMIT_TIMESTAMP.name)
    if names[0] not in table.column_names:
        return None
    versions = table.column(names[0]).to_pylist()
    if names[1] not in table.column_names or not pa.types.is_timestamp(table.schema.field(names[1]).type):
        return {names[0]: versions, names[1]: [None] * len(versions)}
    moments = table.column(names[1])
    micros = moments.cast(pa.timestamp("us", moments.type.tz), safe=False).cast(pa.int64())
    return {names[0]: versions, names[1]: micros.to_pylist()}


def name_of(data_type: DataType) -> str:
    """A Delta type by name; containers by their kind alone, what is in them is compared value by value."""
    match data_type:
        case Struct():
            return "struct"
        case Array():
            return "array"
        case Map():
            return "map"
        case Primitive(name="variant"):
            return "struct"
        case Primitive() | DecimalType():
            return str(data_type)


def arrow_name(arrow_type: pa.DataType) -> str:
    """The Delta type, by name, that an Arrow type stands for; its own name where it stands for none."""
    if pa.types.is_dictionary(arrow_type):
        return arrow_name(arrow_type.value_type)
    if arrow_type in _NAMES:
        return _NAMES[arrow_type]
    if pa.types.is_timestamp(arrow_type):
        return "timestamp_ntz" if arrow_type.tz is None else "timestamp"
    if pa.types.is_decimal(arrow_type):
        return f"decimal({arrow_type.precision},{arrow_type.scale})"
    if pa.types.is_struct(arrow_type):
        return "struct"
    if pa.types.is_map(arrow_type):
        return "map"
    if (
        pa.types.is_list(arrow_type)
        or pa.types.is_large_list(arrow_type)
        or pa.types.is_list_view(arrow_type)
    ):
        return "array"
    return f"Arrow's {arrow_type}"


def _listed(columns: list[tuple[str, str]]) -> str:
    return ", ".join(f"{name} {of}" for name, of in columns) or "none"
