"""What the footer of a data file says of its columns, without reading a row."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from delta_models.log.errors import CorruptFile, MissingFile

_FIELD_ID = b"PARQUET:field_id"


@dataclass(frozen=True, slots=True)
class FileColumn:
    """A column of a file, or a field of a struct in it. `int96` says that timestamps in it are stored so."""

    name: str
    field_id: int | None
    fields: tuple[FileColumn, ...] = ()
    int96: bool = False


def file_layout(path: Path) -> tuple[FileColumn, ...]:
    """The columns of a Parquet file in their order."""
    try:
        with pq.ParquetFile(path) as file:
            stored = file.schema
            arrow = file.schema_arrow
    except (FileNotFoundError, NotADirectoryError) as error:
        raise MissingFile(f"no data file {path}") from error
    except (pa.ArrowException, OSError, ValueError) as error:
        raise CorruptFile(f"the data file {path} cannot be read: {error}") from error
    leaves = [stored.column(at) for at in range(len(stored.names))]
    old = {each.path.partition(".")[0] for each in leaves if each.physical_type == "INT96"}
    return tuple(_column(each, each.name in old) for each in arrow)


def _column(field: pa.Field, int96: bool) -> FileColumn:
    number = (field.metadata or {}).get(_FIELD_ID)
    return FileColumn(field.name, None if number is None else int(number), tuple(_fields(field.type)), int96)


def _fields(kind: pa.DataType) -> Iterator[FileColumn]:
    if pa.types.is_struct(kind):
        for at in range(kind.num_fields):
            yield _column(kind.field(at), False)
