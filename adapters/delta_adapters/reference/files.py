"""Write data files: rows of one partition as Parquet under the table's folder, with the add that names the file."""

from __future__ import annotations

import uuid
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from delta_adapters.arrow_rows import to_arrow
from delta_adapters.reference import actions
from delta_adapters.reference.value_serialization import (
    partition_folder,
    partition_text,
    path_in_log,
    statistics,
)
from delta_models.log.parquet.data_files import physical_name
from delta_models.schema import VOID, Array, DataType, Field, Map, Struct
from delta_models.table.row_conversion import value_converter
from delta_models.values import Row, Rows

COLUMN_ID = "delta.columnMapping.id"


@dataclass(frozen=True, slots=True)
class Layout:
    """How a table's rows become files: its columns, its partition columns, and its columns of row ids."""

    schema: Struct
    partition_by: tuple[str, ...]
    row_columns: tuple[str, ...] = ()

    @property
    def partition_positions(self) -> tuple[int, ...]:
        """The positions of the partition columns in a row."""
        return tuple(map(self.schema.index, self.partition_by))

    @property
    def data_positions(self) -> tuple[int, ...]:
        """The positions of the columns that files hold."""
        partitioning = set(self.partition_positions)
        return tuple(position for position in range(len(self.schema)) if position not in partitioning)

    @property
    def partition_names(self) -> tuple[str, ...]:
        """The physical names of the partition columns, as the log and the folders have them."""
        return tuple(physical_name(self.schema.fields[position]) for position in self.partition_positions)

    @property
    def data_schema(self) -> Struct:
        """The columns that files hold."""
        return Struct(tuple(self.schema.fields[position] for position in self.data_positions))

    def texts(self, row: Row) -> tuple[str | None, ...]:
        """Return the partition values of a row as the log writes them. An empty string is null."""
        return tuple(
            partition_text(self.schema.fields[position].type, row[position]) or None
            for position in self.partition_positions
        )

    def by_partition(self, rows: Sequence[Row]) -> dict[tuple[str | None, ...], list[Row]]:
        """Return the rows, grouped by their partition."""
        partitions: dict[tuple[str | None, ...], list[Row]] = defaultdict(list)
        for row in rows:
            partitions[self.texts(row)].append(row)
        return partitions


def write_rows(
    folder: Path, layout: Layout, rows: Sequence[Row], files: int, *, data_change: bool
) -> list[actions.Form]:
    """Write rows as about `files` files in each partition, and return the adds that name them."""
    return [
        write_file(folder, layout, texts, part, data_change=data_change)
        for texts, members in layout.by_partition(rows).items()
        for part in _parts(members, files)
    ]


def write_file(
    folder: Path, layout: Layout, texts: Sequence[str | None], rows: Sequence[Row], *, data_change: bool
) -> actions.Form:
    """Write one file with rows of one partition, and return the add that names it."""
    data_rows = [tuple(row[position] for position in layout.data_positions) for row in rows]
    schema = layout.data_schema
    name = f"part-{uuid.uuid4()}.parquet"
    relative = f"{partition_folder(layout.partition_names, texts)}/{name}" if layout.partition_by else name
    path = folder / relative
    path.parent.mkdir(parents=True, exist_ok=True)
    table = to_parquet(schema, data_rows)
    for column, part in zip(layout.row_columns, ("id", "version"), strict=False):
        known = [getattr(row, part, None) for row in rows]
        if any(value is not None for value in known):
            table = table.append_column(column, pa.array(known, pa.int64()))
    pq.write_table(table, path)
    values = dict(zip(layout.partition_names, texts, strict=True))
    return actions.add(
        path_in_log(relative),
        values,
        path.stat().st_size,
        statistics(schema, data_rows),
        data_change=data_change,
    )


def to_parquet(schema: Struct, rows: Sequence[Row]) -> pa.Table:
    """Return the rows as a file holds them: under physical names, with the ids of columns that have one."""
    kept = _without_void(schema)
    convert = value_converter(schema, kept)
    table = to_arrow(Rows(_physical(kept), tuple(map(convert, rows))))
    stored = [_stored(field, column) for field, column in zip(table.schema, kept, strict=True)]
    return table.cast(pa.schema(stored))


def _without_void(schema: Struct) -> Struct:
    """Return the schema without columns of type void, also inside structs: files do not hold them."""
    kept = (
        replace(field, type=_without_void(field.type)) if isinstance(field.type, Struct) else field
        for field in schema
        if field.type != VOID
    )
    return Struct(tuple(kept))


def _physical(schema: Struct) -> Struct:
    return Struct(tuple(Field(physical_name(field), _inside(field.type), field.nullable) for field in schema))


def _inside(data_type: DataType) -> DataType:
    match data_type:
        case Struct():
            return _physical(data_type)
        case Array(element=element):
            return replace(data_type, element=_inside(element))
        case Map(key=key, value=value):
            return replace(data_type, key=_inside(key), value=_inside(value))
    return data_type


def _stored(field: pa.Field, column: Field) -> pa.Field:
    stored = field.with_type(_stored_type(field.type, column.type))
    number = column.metadata.get(COLUMN_ID)
    return stored if number is None else stored.with_metadata({b"PARQUET:field_id": str(number).encode()})


def _stored_type(arrow: pa.DataType, data_type: DataType) -> pa.DataType:
    match data_type:
        case Struct(fields=fields):
            return pa.struct([_stored(arrow.field(index), field) for index, field in enumerate(fields)])
        case Array(element=element):
            return pa.list_(arrow.value_field.with_type(_stored_type(arrow.value_type, element)))
        case Map(key=key, value=value):
            item = arrow.item_field.with_type(_stored_type(arrow.item_type, value))
            return pa.map_(arrow.key_field.with_type(_stored_type(arrow.key_type, key)), item)
    return arrow


def _parts(rows: list[Row], files: int) -> Iterator[list[Row]]:
    size = -(-len(rows) // max(1, files))
    for start in range(0, len(rows), size):
        yield rows[start : start + size]
