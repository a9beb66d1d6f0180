"""The oracle: how long our log reader takes beside deltalake's, on logs that this module writes."""

from __future__ import annotations

import gc
import json
import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from deltalake import DeltaTable, write_deltalake

from benchmarks.pairs import Pairs, measure
from benchmarks.results import Result, Row
from delta_models.log import LogReader, Snapshot, validity

COMMITS = 10_000
ADDS = 1_000_000
STEPS = 40
SCHEMA = {
    "type": "struct",
    "fields": [
        {"name": "id", "type": "long", "nullable": True, "metadata": {}},
        {"name": "p", "type": "string", "nullable": True, "metadata": {}},
    ],
}
PROTOCOL = {"minReaderVersion": 1, "minWriterVersion": 2}
METADATA = {
    "id": "5fba94ed-9794-4965-ba6e-6ee3c0d22af9",
    "format": {"provider": "parquet", "options": {}},
    "schemaString": json.dumps(SCHEMA),
    "partitionColumns": ["p"],
    "configuration": {},
    "createdTime": 1_700_000_000_000,
}
STRINGS = pa.map_(pa.string(), pa.string())


def main() -> Result:
    """Measure all rows."""
    home = Path(tempfile.mkdtemp(prefix="oracle-"))
    try:
        many = commits(home / "commits")
        large = checkpoint(home / "checkpoint")
        rows = (
            _row(f"load {COMMITS} commits", _loading(many), 0.5),
            _row(f"load a checkpoint of {ADDS} adds", _loading(large), 4.0),
            _row("read and judge the log of an append", _stepping(home), 0.1),
        )
    finally:
        shutil.rmtree(home, ignore_errors=True)
    return Result("oracle", rows, ("a step of the peer is an append and a full read",))


def _row(work: str, pairs: Pairs, bar: float) -> Row:
    return Row(
        work, "seconds", median(pairs.ours), "deltalake", median(pairs.peer), pairs.ratio, pairs.interval, bar,
        pairs=len(pairs.ours), more_is_better=False,
    )  # fmt: skip


def _loading(folder: Path) -> Pairs:
    def ours(_: int) -> float:
        return _timed(lambda: LogReader(folder).snapshot())

    def peer(_: int) -> float:
        return _timed(lambda: DeltaTable(folder))

    assert len(LogReader(folder).snapshot().live) == len(DeltaTable(folder).file_uris())
    return measure(ours, peer)


def _timed(work: Callable[[], object]) -> float:
    gc.collect()
    began = time.perf_counter()
    kept = work()
    seconds = time.perf_counter() - began
    del kept
    return seconds


def _stepping(home: Path) -> Pairs:
    """Measure the same appends each turn: the peer writes and reads them back, our oracle reads and judges its log."""
    batch = pa.table({"id": [1, 2, 3], "p": ["a", "b", None], "price": [0.5, None, 2.0]})
    spent: dict[int, float] = {}

    def peer(turn: int) -> float:
        folder, reader, before = home / f"steps-{turn}", LogReader(home / f"steps-{turn}"), None
        theirs = mine = 0.0
        for _ in range(STEPS):
            began = time.perf_counter()
            write_deltalake(folder, batch, mode="append")
            DeltaTable(folder).to_pyarrow_table()
            between = time.perf_counter()
            before = _judged(reader, before)
            theirs += between - began
            mine += time.perf_counter() - between
        spent[turn] = mine / STEPS
        return theirs / STEPS

    turns = [(peer(turn), spent[turn]) for turn in range(15)]
    return Pairs(tuple(mine for _, mine in turns), tuple(theirs for theirs, _ in turns))


def _judged(reader: LogReader, before: Snapshot | None) -> Snapshot:
    after = reader.snapshot()
    commit = reader.commit(after.version)
    reader.rows(after)
    assert not validity.violations(before, commit)
    assert not validity.data_breaches(reader, after, commit)
    assert not validity.folder_breaches(reader)
    return after


def commits(folder: Path) -> Path:
    """Write a table of many commits, with an add and its statistics in each."""
    log = folder / "_delta_log"
    log.mkdir(parents=True)
    for version in range(COMMITS):
        actions: list[dict[str, object]] = [
            {"commitInfo": {"timestamp": 1_700_000_000_000, "operation": "WRITE", "engineInfo": "nobody"}}
        ]
        if version == 0:
            actions += [{"protocol": PROTOCOL}, {"metaData": METADATA}]
        actions.append({"add": _add(version)})
        (log / f"{version:020d}.json").write_text("".join(json.dumps(action) + "\n" for action in actions))
    return folder


def checkpoint(folder: Path) -> Path:
    """Write a table with many adds in a checkpoint and one commit after it."""
    log = folder / "_delta_log"
    log.mkdir(parents=True)
    (log / f"{0:020d}.json").write_text(
        json.dumps({"protocol": PROTOCOL}) + "\n" + json.dumps({"metaData": METADATA}) + "\n"
    )
    (log / f"{1:020d}.json").write_text(json.dumps({"add": _add(ADDS)}) + "\n")
    protocol = pa.array(
        [PROTOCOL], pa.struct([("minReaderVersion", pa.int32()), ("minWriterVersion", pa.int32())])
    )
    stored = METADATA | {"format": {"provider": "parquet", "options": []}, "configuration": []}
    format_type = pa.struct([("provider", pa.string()), ("options", STRINGS)])
    metadata_type = pa.struct([
        ("id", pa.string()), ("format", format_type), ("schemaString", pa.string()),
        ("partitionColumns", pa.list_(pa.string())), ("configuration", STRINGS), ("createdTime", pa.int64()),
    ])  # fmt: skip
    metadata = pa.array([stored], metadata_type)
    adds = [_add(number) for number in range(ADDS)]
    columns: dict[str, pa.Array] = {
        "path": pa.array([file["path"] for file in adds]),
        "partitionValues": pa.array([list(file["partitionValues"].items()) for file in adds], STRINGS),
        "size": pa.array([file["size"] for file in adds]),
        "modificationTime": pa.array([file["modificationTime"] for file in adds]),
        "dataChange": pa.array([True] * ADDS),
        "stats": pa.array([file["stats"] for file in adds]),
    }
    add = pa.StructArray.from_arrays(list(columns.values()), list(columns))
    table = pa.table({
        "protocol": pa.concat_arrays([protocol, pa.nulls(ADDS + 1, protocol.type)]),
        "metaData": pa.concat_arrays([pa.nulls(1, metadata_type), metadata, pa.nulls(ADDS, metadata_type)]),
        "add": pa.concat_arrays([pa.nulls(2, add.type), add]),
    })  # fmt: skip
    pq.write_table(table, log / f"{0:020d}.checkpoint.parquet")
    (log / "_last_checkpoint").write_text(json.dumps({"version": 0, "size": ADDS + 2}))
    return folder


def _add(number: int) -> dict[str, Any]:
    stats = {
        "numRecords": 10,
        "minValues": {"id": number},
        "maxValues": {"id": number + 9},
        "nullCount": {"id": 0},
    }
    return {
        "path": f"p={number % 100}/part-{number:07d}-5fba94ed-9794-4965-ba6e-6ee3c0d22af9.c000.snappy.parquet",
        "partitionValues": {"p": str(number % 100)},
        "size": 1000 + number,
        "modificationTime": 1_700_000_000_000,
        "dataChange": True,
        "stats": json.dumps(stats),
    }
