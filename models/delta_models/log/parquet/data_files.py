"""Read the columns of a schema from a Parquet data file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from delta_models.log.errors import CorruptFile, MissingFile
from delta_models.log.parquet.arrow_values import ArrowMismatch, by_name, struct_columns
from delta_models.schema import Field, Struct
from delta_models.values import Value

_FIELD_ID = b"PARQUET:field_id"
_PHYSICAL_NAME = "delta.columnMapping.physicalName"
_COLUMN_ID = "delta.columnMapping.id"


@dataclass(frozen=True, slots=True)
class FileColumns:
    """The top-level names of a file, the number of its rows, and the values of the schema's fields."""

    names: tuple[str, ...]
    length: int
    columns: tuple[list[Value], ...]


def read_data_file(path: Path, schema: Struct, mapping: str = "none") -> FileColumns:
    """Return the columns of `schema` in a Parquet file. Raises MissingFile or CorruptFile.

    `mapping` is none, name or id: columns are found by display name, physical name or field id.
    """
    try:
        with pq.ParquetFile(path, coerce_int96_timestamp_unit="us") as file:
            table = file.read(use_threads=False)
    except (FileNotFoundError, NotADirectoryError) as error:
        raise MissingFile(f"no data file {path}") from error
    except (pa.ArrowException, OSError, ValueError) as error:
        raise CorruptFile(f"the data file {path} cannot be read: {error}") from error
    find = {"name": _by_physical_name, "id": _by_id}.get(mapping, by_name)
    if mapping == "id" and not any(_FIELD_ID in (field.metadata or {}) for field in table.schema):
        raise CorruptFile(f"the data file {path} has no field ids, and the table maps columns by id")
    try:
        columns = struct_columns(table.schema, table.columns, table.num_rows, schema, find)
    except ArrowMismatch as error:
        raise CorruptFile(f"the data file {path} does not fit the table: {error}") from error
    return FileColumns(tuple(table.schema.names), table.num_rows, tuple(columns))


@lru_cache(maxsize=4096)
def physical_name(field: Field) -> str:
    """Return the name that a field has in files and in the log of a table with column mapping."""
    return str(field.metadata.get(_PHYSICAL_NAME, field.name))


@lru_cache(maxsize=4096)
def _column_id(field: Field) -> object:
    return field.metadata.get(_COLUMN_ID)


def _by_physical_name(candidates: Sequence[pa.Field], wanted: Field) -> int | None:
    name = physical_name(wanted)
    return next((index for index, candidate in enumerate(candidates) if candidate.name == name), None)


def _by_id(candidates: Sequence[pa.Field], wanted: Field) -> int | None:
    column = _column_id(wanted)
    if column is None:  # a column of change data files, not of the table
        return by_name(candidates, wanted)
    for index, candidate in enumerate(candidates):
        field_id = (candidate.metadata or {}).get(_FIELD_ID)
        if field_id is not None and int(field_id) == column:
            return index
    return None
