"""Read checkpoints in every form: one file or many parts, V2 as Parquet or JSON, with or without sidecars.

Columns go from Parquet into the state without becoming Python objects. If a row group's footer shows that it has no
action of a kind, it is not read for that kind.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from pyspark_delta.exceptions import CorruptCheckpoint
from pyspark_delta.log import columns
from pyspark_delta.log.actions import load
from pyspark_delta.log.names import LOG, SIDECARS
from pyspark_delta.log.segment import Checkpoint
from pyspark_delta.log.spark_state import SparkBase, is_too_large
from pyspark_delta.log.state import Base, Overlay, State
from pyspark_delta.log.stats_json import texts_of_parsed
from pyspark_delta.log.store import LogStore
from pyspark_delta.partition_values import decode_path, is_absolute

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["read_checkpoint", "sidecars_of"]

# For each kind of action, a column that is null only if the row has another kind.
_PROBES = {
    "protocol": "minReaderVersion",
    "metaData": "id",
    "txn": "appId",
    "domainMetadata": "domain",
    "sidecar": "path",
    "add": "path",
    "remove": "path",
}
_RARE = ("protocol", "metaData", "txn", "domainMetadata", "sidecar")
_FILES = ("add", "remove")


def read_checkpoint(store: LogStore, checkpoint: Checkpoint, spark: SparkSession | None = None) -> State:
    """Return the state in the checkpoint; CorruptCheckpoint if it can't be read, FileNotFoundError if it is gone.

    With a session, Spark reads the files of a very large checkpoint.
    """
    reader = _CheckpointReader()
    parquet = []
    for file in checkpoint.files:
        name = f"{LOG}/{file.name}"
        if file.json:
            reader.read_json(name, store.read(name))
        else:
            reader.read_parquet(store, name, kinds=_RARE)
            parquet.append(name)
    for path in reader.sidecars:
        decoded = decode_path(path)
        parquet.append(decoded if is_absolute(path) else f"{LOG}/{SIDECARS}/{decoded}")
    remote = spark is not None and is_too_large(store, parquet)
    if not remote:
        for name in parquet:
            reader.read_parquet(store, name, kinds=_FILES)
    if reader.overlay.protocol is None or reader.overlay.metadata is None:
        lacking = "protocol" if reader.overlay.protocol is None else "metadata"
        raise CorruptCheckpoint(
            f"the checkpoint {checkpoint.names[0]} of version {checkpoint.version} has no {lacking}"
        )
    overlay = reader.overlay
    overlay.added, overlay.removed = {}, {}
    overlay.domains = {name: domain for name, domain in overlay.domains.items() if not domain.removed}
    base = SparkBase(spark, store, parquet) if spark is not None and remote else reader.base()
    return State(base, overlay)


class _CheckpointReader:
    """Collects the actions of a checkpoint's files."""

    def __init__(self) -> None:
        self.overlay = Overlay()
        self.sidecars: list[str] = []
        self._adds: list[pa.Table] = []
        self._removes: list[pa.Table] = []

    def base(self) -> Base:
        return Base(_concatenated(self._adds, columns.ADD), _concatenated(self._removes, columns.REMOVE))

    def read_json(self, name: str, content: bytes) -> None:
        try:
            actions = [load(line) for line in content.splitlines() if line.strip()]
            self._apply(actions)
        except (ValueError, KeyError, TypeError, AttributeError) as problem:
            raise CorruptCheckpoint(f"the checkpoint {name} is damaged ({problem})") from problem
        self._adds.append(columns.from_bodies(list(self.overlay.added.values()), columns.ADD))
        self._removes.append(columns.from_bodies(list(self.overlay.removed.values()), columns.REMOVE))
        self.overlay.added, self.overlay.removed = {}, {}

    def read_parquet(self, store: LogStore, name: str, *, kinds: Sequence[str]) -> None:
        try:
            with _open(store, name) as file:
                for group in range(file.num_row_groups):
                    self._read_group(file, group, kinds)
        except FileNotFoundError:
            raise
        except (pa.ArrowException, OSError, ValueError, KeyError, TypeError) as problem:
            raise CorruptCheckpoint(f"the checkpoint {name} can't be read ({problem})") from problem

    def _read_group(self, file: pq.ParquetFile, group: int, kinds: Sequence[str]) -> None:
        present = _present(file, group) & set(kinds)
        rare = [kind for kind in _RARE if kind in present]
        table = file.read_row_group(group, columns=rare) if rare else None
        for kind in rare:
            rows = table.column(kind).combine_chunks()  # type: ignore[union-attr]
            probe = _child(rows, _PROBES[kind])
            for body in rows.filter(pc.is_valid(probe)).to_pylist(maps_as_pydicts="strict"):
                self._apply([{kind: _without_nulls(body)}])
        if "add" in present:
            self._adds.append(_file_actions(file, group, "add", columns.ADD))
        if "remove" in present:
            self._removes.append(_file_actions(file, group, "remove", columns.REMOVE))

    def _apply(self, actions: Iterable[dict[str, Any]]) -> None:
        for action in actions:
            if action.get("sidecar"):
                self.sidecars.append(action["sidecar"]["path"])
            else:
                self.overlay.apply((action,))


def _open(store: LogStore, name: str) -> pq.ParquetFile:
    path = name if name.startswith("/") else store.local_path(name)
    if path is None:
        return pq.ParquetFile(io.BytesIO(store.read(name)), coerce_int96_timestamp_unit="us")
    # Old Spark timestamps in statistics columns can be outside of the years that nanoseconds can represent.
    return pq.ParquetFile(pa.OSFile(path), pre_buffer=False, coerce_int96_timestamp_unit="us")


def _present(file: pq.ParquetFile, group: int) -> set[str]:
    """The kinds of action that this row group may have, according to the footer."""
    metadata = file.metadata.row_group(group)
    present = set()
    for index in range(metadata.num_columns):
        column = metadata.column(index)
        kind, _, rest = column.path_in_schema.partition(".")
        if _PROBES.get(kind) != rest:
            continue
        statistics = column.statistics
        nothing = (
            statistics is not None
            and statistics.has_null_count
            and statistics.null_count == metadata.num_rows
        )
        if not nothing and metadata.num_rows:
            present.add(kind)
    return present


def _file_actions(file: pq.ParquetFile, group: int, kind: str, schema: pa.Schema) -> pa.Table:
    stored = {field.name for field in file.schema_arrow.field(kind).type}
    wanted = [field.name for field in schema if field.name in stored]
    parsed = kind == "add" and "stats" not in stored and "stats_parsed" in stored
    names = [f"{kind}.{name}" for name in [*wanted, *(["stats_parsed"] if parsed else [])]]
    read = file.read_row_group(group, columns=names).column(kind)
    table = _concatenated([_rows(chunk) for chunk in read.chunks], None)
    if parsed:
        table = table.append_column("stats", texts_of_parsed(table["stats_parsed"]))
    return columns.conform(table, schema)


def _rows(chunk: pa.StructArray) -> pa.Table:
    """The rows that have the action; a slice without copying if they are contiguous."""
    probe = _child(chunk, "path")
    absent = probe.null_count
    if absent:
        valid = pc.is_valid(probe)
        first = pc.index(valid, True).as_py()
        if first < 0:
            chunk = chunk.slice(0, 0)
        elif _child(chunk.slice(first, len(chunk) - absent), "path").null_count == 0:
            chunk = chunk.slice(first, len(chunk) - absent)
        else:
            chunk = chunk.filter(valid)
    names = [field.name for field in chunk.type]
    return pa.Table.from_arrays(chunk.flatten(), names=names)


def _child(rows: pa.StructArray, name: str) -> pa.Array:
    return rows.flatten()[[field.name for field in rows.type].index(name)]


def _concatenated(tables: Sequence[pa.Table], schema: pa.Schema | None) -> pa.Table:
    if not tables:
        assert schema is not None  # noqa: S101 - a column that was read has a chunk
        return columns.empty(schema)
    return pa.concat_tables(tables)


def _without_nulls(value: Any) -> Any:
    """The body without null fields, which JSON would leave out; values of maps stay as they are."""
    return {name: part for name, part in value.items() if part is not None}


def sidecars_of(store: LogStore, checkpoint: Checkpoint) -> list[str]:
    """The paths of a checkpoint's sidecars."""
    reader = _CheckpointReader()
    for file in checkpoint.files:
        name = f"{LOG}/{file.name}"
        if file.json:
            reader.read_json(name, store.read(name))
        else:
            reader.read_parquet(store, name, kinds=_RARE)
    return [decode_path(path).rsplit("/", 1)[-1] for path in reader.sidecars]
