"""Read Parquet files of checkpoints: file actions stay columns, the few other actions become objects."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from delta_models.casts.assignment import date_text, timestamp_text
from delta_models.log.errors import CorruptLog, MissingFile
from delta_models.log.parquet.arrow_values import column_values
from delta_models.log.paths import logical_path
from delta_models.schema import BOOLEAN, DATE, INTEGER, LONG, STRING, TIMESTAMP, TIMESTAMP_NTZ, Map

_BATCH = 1024
STRINGS = Map(STRING, STRING)


class FileActions:
    """The add or remove actions of one checkpoint file, as columns. `form` makes one of them an object."""

    def __init__(self, array: Any) -> None:
        self._array = array

    def __len__(self) -> int:
        return len(self._array)

    def has(self, name: str) -> bool:
        """Whether one of the actions has a value in a field."""
        column = _field(self._array, name)
        return column is not None and column.null_count < len(column)

    def keys(self) -> list[tuple[str, str | None]]:
        """Return path and deletion vector id of each action, in order."""
        paths = self._paths()
        vectors = self._vector_ids()
        if vectors is None:
            return [(path, None) for path in paths]
        return list(zip(paths, vectors, strict=True))

    def positions(self) -> dict[str, int]:
        """Return the position of each action by its flat key.

        The key is its path, followed by a zero byte and the id of its deletion vector if it has one.
        """
        paths = self._paths()
        vectors = self._vector_ids()
        if vectors is not None:
            paths = [
                path if vector is None else f"{path}\0{vector}"
                for path, vector in zip(paths, vectors, strict=True)
            ]
        return dict(zip(paths, range(len(paths)), strict=True))

    def form(self, index: int) -> dict[str, Any]:
        """Return one action as the object that a line of JSON would hold."""
        return _objects(self._array.slice(index, 1))[0]

    def forms(self) -> Iterator[dict[str, Any]]:
        """Yield all actions as objects, in order."""
        for start in range(0, len(self._array), _BATCH):
            yield from _objects(self._array.slice(start, _BATCH))

    def _paths(self) -> list[str]:
        """The logical path of each file."""
        column = _field(self._array, "path")
        paths: list[str] = column_values(column, STRING)
        if len(paths) and pc.any(pc.starts_with(column, "file:")).as_py():
            return [logical_path(path) for path in paths]
        return paths

    def _vector_ids(self) -> list[str | None] | None:
        vectors = _field(self._array, "deletionVector")
        if vectors is None or vectors.null_count == len(vectors):
            return None
        storage = column_values(_field(vectors, "storageType"), STRING)
        where = column_values(_field(vectors, "pathOrInlineDv"), STRING)
        offset_column = _field(vectors, "offset")
        offsets = [None] * len(vectors) if offset_column is None else column_values(offset_column, INTEGER)
        return [
            None if kind is None else f"{kind}{place}" if offset is None else f"{kind}{place}@{offset}"
            for kind, place, offset in zip(storage, where, offsets, strict=True)
        ]


@dataclass(frozen=True, slots=True)
class CheckpointPart:
    """The actions in one file of a checkpoint. `others` are pairs of an action's name and its object."""

    adds: FileActions
    removes: FileActions
    others: tuple[tuple[str, dict[str, Any]], ...]
    columns: tuple[str, ...]
    rows: int


def read_checkpoint_file(path: Path) -> CheckpointPart:
    """Return the actions in one Parquet file of a checkpoint: classic, part, V2 top level or sidecar.

    Raises MissingFile or CorruptLog.
    """
    try:
        with pq.ParquetFile(path, coerce_int96_timestamp_unit="us") as file:
            table = file.read(use_threads=False)
    except (FileNotFoundError, NotADirectoryError) as error:
        raise MissingFile(f"no checkpoint file {path}") from error
    except (pa.ArrowException, OSError, ValueError) as error:
        raise CorruptLog(f"the checkpoint file {path} cannot be read: {error}") from error
    others: list[tuple[str, dict[str, Any]]] = []
    files = {}
    for name in table.schema.names:
        present = _present(table.column(name).combine_chunks())
        if name in {"add", "remove"}:
            files[name] = FileActions(present)
        else:
            others.extend((name, form) for form in _objects(present))
    nothing = FileActions(pa.array([], pa.struct([("path", pa.string())])))
    adds, removes = files.get("add", nothing), files.get("remove", nothing)
    return CheckpointPart(adds, removes, tuple(others), tuple(table.schema.names), table.num_rows)


def _present(column: Any) -> Any:
    """The rows that are not null. They are mostly adjacent, and then nothing is copied."""
    count = len(column) - column.null_count
    if count == len(column):
        return column
    valid = column.is_valid()
    together = column.slice(pc.index(valid, True).as_py(), count) if count else column.slice(0, 0)
    return column.filter(valid) if together.null_count else together


def _field(array: Any, name: str) -> Any:
    index = array.type.get_field_index(name)
    if index < 0:
        return None
    child = array.field(index)
    # A child of a null struct may hold anything, so it has to become null as well.
    return (
        child if array.null_count == 0 else pc.if_else(array.is_valid(), child, pa.scalar(None, child.type))
    )


def _objects(array: Any) -> list[dict[str, Any]]:
    """The values of a struct array as objects, without their null fields."""
    if not pa.types.is_struct(array.type):
        return []
    names = [array.type.field(index).name for index in range(array.type.num_fields)]
    columns = [_plain(array.field(index)) for index in range(array.type.num_fields)]
    return [
        {name: value for name, value in zip(names, values, strict=True) if value is not None}
        for values in (zip(*columns, strict=True) if columns else [()] * len(array))
    ]


def _times(array: Any) -> list[str | None]:
    """Dates and timestamps as statistics spell them, also outside the years of Python's calendar."""
    if pa.types.is_date(array.type):
        return [
            None if column_value is None else date_text(column_value)
            for column_value in column_values(array, DATE)
        ]
    ending = "Z" if array.type.tz is not None else ""
    micros = column_values(array, TIMESTAMP if ending else TIMESTAMP_NTZ)
    return [None if micro is None else f"{timestamp_text(micro)}{ending}" for micro in micros]


def _plain(array: Any) -> list[Any]:
    """The values of any array as JSON would hold them."""
    kind = array.type
    if pa.types.is_string(kind):
        return column_values(array, STRING)
    if pa.types.is_int64(kind) or pa.types.is_int32(kind):
        return column_values(array, LONG)
    if pa.types.is_boolean(kind):
        return column_values(array, BOOLEAN)
    if pa.types.is_map(kind) and pa.types.is_string(kind.key_type) and pa.types.is_string(kind.item_type):
        return [None if pairs is None else dict(pairs) for pairs in column_values(array, STRINGS)]
    if pa.types.is_struct(kind):
        valid = array.is_valid().to_pylist() if array.null_count else [True] * len(array)
        return [form if present else None for form, present in zip(_objects(array), valid, strict=True)]
    if pa.types.is_date(kind) or pa.types.is_timestamp(kind):
        return _times(array)
    values: list[Any] = array.to_pylist(maps_as_pydicts="lossy")
    return values
