"""Read the footer of a Parquet file and the form of its data pages, but no rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq

from delta_models.log.errors import CorruptFile, MissingFile

_FIELD_ID = b"PARQUET:field_id"
_KINDS = {
    "int8": "byte", "int16": "short", "int32": "integer", "int64": "long", "float": "float", "date32[day]": "date",
}  # fmt: skip
# A page header begins with its type: the field 1, a number of 32 bits, in Thrift's compact protocol.
_PAGE_TYPE_FIELD = 0x15
_PAGE_FORMS = {0: 1, 6: 2}  # DATA_PAGE and DATA_PAGE_V2, zigzag


@dataclass(frozen=True, slots=True)
class FileColumn:
    """A column of a file, or a field of a struct in it.

    `inner` are the field ids of elements, keys and values by their paths, such as `element` and `value.element`.
    `int96`: its timestamps are stored as INT96. `adjusted`: its timestamps are instants. `kind` is the Delta type of
    numbers and dates, else Arrow's name.
    """

    name: str
    field_id: int | None
    fields: tuple[FileColumn, ...] = ()
    int96: bool = False
    kind: str = ""
    is_timestamp: bool = False
    adjusted: bool = False
    inner: tuple[tuple[str, int | None], ...] = ()


@dataclass(frozen=True, slots=True)
class Footer:
    """A file's columns in their order, and the offset of the first data page of each column chunk."""

    columns: tuple[FileColumn, ...]
    pages: tuple[int, ...]


def file_layout(path: Path) -> tuple[FileColumn, ...]:
    """Return the columns of a Parquet file in their order. Raises MissingFile or CorruptFile."""
    return footer(path).columns


def footer(path: Path) -> Footer:
    """Return the footer of a Parquet file, cached until the file changes. Raises MissingFile or CorruptFile."""
    try:
        status = path.stat()
        return _footer(path, status.st_mtime_ns, status.st_size)
    except (FileNotFoundError, NotADirectoryError) as error:
        raise MissingFile(f"no data file {path}") from error
    except (pa.ArrowException, OSError, ValueError) as error:
        raise CorruptFile(f"the data file {path} cannot be read: {error}") from error


def page_forms(path: Path) -> set[int]:
    """Return the versions of the data pages in a file, 1 or 2; none for a file without rows. Raises CorruptFile.

    Columns that begin with another kind of page do not count.
    """
    starts = footer(path).pages
    try:
        with path.open("rb") as data:
            return {form for start in starts if (form := _page_form(data, start)) is not None}
    except OSError as error:
        raise CorruptFile(f"the file {path} cannot be read: {error}") from error


@lru_cache(maxsize=64)
def _footer(path: Path, _changed: int, _size: int) -> Footer:
    with pq.ParquetFile(path) as file:
        stored, arrow, groups = file.schema, file.schema_arrow, file.metadata
    leaves = [stored.column(index) for index in range(len(stored.names))]
    old = {leaf.path.partition(".")[0] for leaf in leaves if leaf.physical_type == "INT96"}
    pages = (
        groups.row_group(group).column(index).data_page_offset
        for group in range(groups.num_row_groups)
        for index in range(groups.num_columns)
    )
    return Footer(tuple(_column(field, field.name in old) for field in arrow), tuple(pages))


def _column(field: pa.Field, int96: bool) -> FileColumn:
    is_timestamp = pa.types.is_timestamp(field.type)
    return FileColumn(
        field.name,
        _id(field),
        tuple(_fields(field.type)),
        int96,
        _kind(field.type),
        is_timestamp,
        is_timestamp and field.type.tz is not None,
        tuple(_inner(field.type)),
    )


def _id(field: pa.Field) -> int | None:
    number = (field.metadata or {}).get(_FIELD_ID)
    return None if number is None else int(number)


def _inner(kind: pa.DataType, way: str = "") -> Iterator[tuple[str, int | None]]:
    parts: dict[str, pa.Field] = {}
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        parts = {"element": kind.value_field}
    elif pa.types.is_map(kind):
        parts = {"key": kind.key_field, "value": kind.item_field}
    for name, field in parts.items():
        yield way + name, _id(field)
        yield from _inner(field.type, f"{way}{name}.")


def _kind(kind: pa.DataType) -> str:
    if pa.types.is_decimal(kind):
        return f"decimal({kind.precision},{kind.scale})"
    return _KINDS.get(str(kind), str(kind))


def _fields(kind: pa.DataType) -> Iterator[FileColumn]:
    if pa.types.is_struct(kind):
        for index in range(kind.num_fields):
            yield _column(kind.field(index), False)


def _page_form(file: BinaryIO, start: int) -> int | None:
    file.seek(start)
    head = file.read(2)
    return _PAGE_FORMS.get(head[1]) if len(head) == 2 and head[0] == _PAGE_TYPE_FIELD else None
