"""Parquet files of checkpoints: the small actions as plain objects, the many adds as columns read on demand."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from delta_models.log.errors import CorruptLog, MissingFile
from delta_models.log.parquet.arrow_values import column_values
from delta_models.schema import INTEGER, STRING

_BATCH = 1024


class FileActions:
    """The add or remove actions of one checkpoint file, as columns. `keys` names them, `form` makes one an object."""

    def __init__(self, array: Any) -> None:
        self._array = array

    def __len__(self) -> int:
        return len(self._array)

    def keys(self) -> list[tuple[str, str | None]]:
        """Path and deletion vector id of each, in order."""
        paths = self.paths()
        vectors = self._vector_ids()
        if vectors is None:
            return [(path, None) for path in paths]
        return list(zip(paths, vectors, strict=True))

    def paths(self) -> list[str]:
        """The path of each, in order."""
        return column_values(_field(self._array, "path"), STRING)

    def form(self, index: int) -> dict[str, Any]:
        """One action as the object that a line of JSON would hold."""
        return _clean(self._array[index].as_py(maps_as_pydicts="lossy"))

    def forms(self) -> Iterator[dict[str, Any]]:
        """All actions as objects, in order."""
        for start in range(0, len(self._array), _BATCH):
            for each in self._array.slice(start, _BATCH).to_pylist(maps_as_pydicts="lossy"):
                yield _clean(each)

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
    """One Parquet file of a checkpoint. `others` are (name of the action, its object) pairs."""

    adds: FileActions
    removes: FileActions
    others: tuple[tuple[str, dict[str, Any]], ...]
    columns: tuple[str, ...]
    rows: int


def read_checkpoint_file(path: Path) -> CheckpointPart:
    """The actions in one Parquet file of a checkpoint, classic, part, V2 top level or sidecar."""
    try:
        with pq.ParquetFile(path) as file:
            table = file.read(use_threads=False)
    except (FileNotFoundError, NotADirectoryError) as error:
        raise MissingFile(f"no checkpoint file {path}") from error
    except (pa.ArrowException, OSError) as error:
        raise CorruptLog(f"the checkpoint file {path} cannot be read: {error}") from error
    others: list[tuple[str, dict[str, Any]]] = []
    files = {}
    for name in table.schema.names:
        column = table.column(name).combine_chunks()
        present = column if column.null_count == 0 else column.filter(column.is_valid())
        if isinstance(present, pa.ChunkedArray):
            present = present.combine_chunks()
        if name in {"add", "remove"}:
            files[name] = FileActions(present)
        else:
            others.extend((name, _clean(each)) for each in present.to_pylist(maps_as_pydicts="lossy") if each)
    nothing = FileActions(pa.array([], pa.struct([("path", pa.string())])))
    adds, removes = files.get("add", nothing), files.get("remove", nothing)
    return CheckpointPart(adds, removes, tuple(others), tuple(table.schema.names), table.num_rows)


def _field(array: Any, name: str) -> Any:
    index = array.type.get_field_index(name)
    if index < 0:
        return None
    found = array.field(index)
    # A child of a null struct may hold anything; its own validity has to be that of the struct as well.
    return (
        found if array.null_count == 0 else pc.if_else(array.is_valid(), found, pa.scalar(None, found.type))
    )


def _clean(form: dict[str, Any]) -> dict[str, Any]:
    """Without the columns that are null: a column of a checkpoint is there for all actions or for none."""
    return {
        key: _clean(value) if key in _NESTED and value else value
        for key, value in form.items()
        if value is not None
    }


_NESTED = {"deletionVector", "format"}
