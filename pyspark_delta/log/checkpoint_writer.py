"""Write classic checkpoints: the state's columns go into one Parquet file unchanged."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyspark.sql import SparkSession

from pyspark_delta.exceptions import InvalidArgument
from pyspark_delta.features import flag
from pyspark_delta.log import columns
from pyspark_delta.log.file_set import Tombstones
from pyspark_delta.log.last_checkpoint import Hint, read_hint, write_hint
from pyspark_delta.log.names import LOG, classic_checkpoint_name
from pyspark_delta.log.parsed_columns import PARTITION_VALUES, columns_of, parsed_fields
from pyspark_delta.log.snapshot import Snapshot
from pyspark_delta.log.spark_checkpoint import write_parts
from pyspark_delta.log.spark_state import SparkBase
from pyspark_delta.log.state import Base, State

__all__ = ["write_checkpoint"]

_ROWS = 1 << 17  # in a row group, which is in memory twice while it is written

_TEXTS = pa.map_(pa.string(), pa.string())
_TXN = pa.struct([("appId", pa.string()), ("version", pa.int64()), ("lastUpdated", pa.int64())])
_PROTOCOL = pa.struct(
    [
        ("minReaderVersion", pa.int32()),
        ("minWriterVersion", pa.int32()),
        ("readerFeatures", pa.list_(pa.string())),
        ("writerFeatures", pa.list_(pa.string())),
    ]
)
_METADATA = pa.struct(
    [
        ("id", pa.string()),
        ("name", pa.string()),
        ("description", pa.string()),
        ("format", pa.struct([("provider", pa.string()), ("options", _TEXTS)])),
        ("schemaString", pa.string()),
        ("partitionColumns", pa.list_(pa.string())),
        ("configuration", _TEXTS),
        ("createdTime", pa.int64()),
    ]
)
_DOMAIN = pa.struct([("domain", pa.string()), ("configuration", pa.string()), ("removed", pa.bool_())])


def write_checkpoint(snapshot: Snapshot, now_ms: int) -> int:
    """Write the checkpoint of a version, and the hint if it is the newest; return the number of actions."""
    if snapshot.version < 0:
        raise InvalidArgument("a table without a commit has no checkpoint")
    base, cutoff = snapshot.state.base, snapshot.tombstone_cutoff(now_ms)
    far = isinstance(base, SparkBase) and snapshot.store.local_path(LOG) is not None
    # If Spark holds the base, `spark_checkpoint` writes it, and only the overlay is written here.
    state = State(Base(), snapshot.state.overlay) if far else snapshot.state
    adds = state.adds
    removes = Tombstones(state.removes, snapshot.path).newer_than(cutoff).arrow()
    configuration = snapshot.properties
    with_text = flag(configuration, "delta.checkpoint.writeStatsAsJson", default=True)
    add_fields = [field for field in columns.ADD if with_text or field.name != "stats"]
    add_fields += parsed_fields(snapshot)
    # The removes of a checkpoint have no `stats` and `tags`.
    remove_fields = [field for field in columns.REMOVE if field.name not in {"stats", "tags"}]
    schema = pa.schema(
        [
            ("txn", _TXN),
            ("add", pa.struct(add_fields)),
            ("remove", pa.struct(remove_fields)),
            ("metaData", _METADATA),
            ("protocol", _PROTOCOL),
            ("domainMetadata", _DOMAIN),
        ]
    )
    size = 0

    def fill(path: str) -> None:
        nonlocal size
        with pq.ParquetWriter(path, schema, compression="snappy", use_dictionary=False) as writer:
            for batch in _batches(snapshot, adds, removes, schema):
                writer.write_batch(batch, row_group_size=_ROWS)
                size += len(batch)

    parts = None
    if far:
        assert isinstance(base, SparkBase)  # noqa: S101 - as was seen above
        parts, size, written = write_parts(snapshot, base, schema, cutoff, fill)
    else:
        written = snapshot.store.put_with(f"{LOG}/{classic_checkpoint_name(snapshot.version)}", fill)
    hint = read_hint(snapshot.store)
    if hint is None or hint.version <= snapshot.version:
        write_hint(
            snapshot.store,
            Hint(snapshot.version, size, parts, size_in_bytes=written, num_of_add_files=snapshot.num_files),
        )
    return size


def _batches(
    snapshot: Snapshot, adds: pa.Table, removes: pa.Table, schema: pa.Schema
) -> Iterator[pa.RecordBatch]:
    yield _rare(snapshot, schema)
    yield from _files(snapshot, adds, "add", schema)
    yield from _files(snapshot, removes, "remove", schema)


def _files(snapshot: Snapshot, table: pa.Table, kind: str, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    fields = list(schema.field(kind).type)
    zone = _zone(snapshot)
    for start in range(0, len(table), _ROWS):
        part = table.slice(start, _ROWS).combine_chunks()
        children = []
        parsed = columns_of(snapshot, part, zone) if kind == "add" else {}
        for field in fields:
            if field.name in parsed:
                children.append(parsed[field.name])
                continue
            column = part[field.name]
            array = column.chunk(0) if column.num_chunks else pa.nulls(0, field.type)
            if field.name == "dataChange":  # no file of the state is new
                array = pc.fill_null(pc.and_(array, pa.scalar(False)), False)
            if field.name == "partitionValues" and kind == "add" and array.null_count:
                array = _no_nulls(array)
            children.append(array)
        struct = pa.StructArray.from_arrays(children, fields=fields)
        yield _batch(schema, len(part), {kind: struct})


def _zone(snapshot: Snapshot) -> str:
    """The zone of partition values without one, if the checkpoint has these values by their types.

    The JVM is asked only then. A process that was forked shares its connection with its parent and must not use it.
    """
    if not any(field.name == PARTITION_VALUES for field in parsed_fields(snapshot)):
        return "UTC"
    return snapshot.zone(SparkSession.getActiveSession())


def _no_nulls(maps: pa.MapArray) -> pa.Array:
    return pa.array([value or {} for value in maps.to_pylist(maps_as_pydicts="strict")], maps.type)


def _rare(snapshot: Snapshot, schema: pa.Schema) -> pa.RecordBatch:
    """Protocol, metadata, transactions and domains, one row each."""
    rows: list[tuple[str, dict[str, Any]]] = [
        ("protocol", snapshot.protocol.to_json()),
        ("metaData", snapshot.metadata.to_json()),
        *(("txn", txn.to_json()) for txn in snapshot.txns.values()),
        *(("domainMetadata", domain.to_json()) for domain in snapshot.domains.values()),
    ]
    arrays = {
        kind: pa.array(
            [body if row_kind == kind else None for row_kind, body in rows], schema.field(kind).type
        )
        for kind in ("protocol", "metaData", "txn", "domainMetadata")
    }
    return _batch(schema, len(rows), arrays)


def _batch(schema: pa.Schema, count: int, arrays: dict[str, pa.Array]) -> pa.RecordBatch:
    parts: Sequence[pa.Array] = [
        arrays[field.name] if field.name in arrays else pa.nulls(count, field.type) for field in schema
    ]
    return pa.RecordBatch.from_arrays(list(parts), schema=schema)
