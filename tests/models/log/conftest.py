"""A small Delta table that a test writes itself, action by action, with pyarrow and json alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from delta_models.log import LogReader, validity
from delta_models.log.deletion_vectors import encode_bitmap, encode_file, z85_encode
from delta_models.log.errors import LogError
from delta_models.requirements import Checked

FIELDS = [
    {"name": "id", "type": "long", "nullable": True, "metadata": {}},
    {"name": "name", "type": "string", "nullable": True, "metadata": {}},
    {"name": "price", "type": "double", "nullable": True, "metadata": {}},
    {"name": "at", "type": "timestamp", "nullable": True, "metadata": {}},
    {"name": "part", "type": "string", "nullable": True, "metadata": {}},
]
ARROW = pa.schema(
    [
        ("id", pa.int64()),
        ("name", pa.string()),
        ("price", pa.float64()),
        ("at", pa.timestamp("us", "UTC")),
    ]
)
PROTOCOL: dict[str, Any] = {
    "minReaderVersion": 3,
    "minWriterVersion": 7,
    "readerFeatures": ["deletionVectors"],
    "writerFeatures": ["deletionVectors", "appendOnly", "domainMetadata", "inCommitTimestamp"],
}
ROWS = [
    (1, "one", 1.5, 1_000_000),
    (2, "two", -0.0, 2_000_000),
    (None, None, None, None),
    (4, "four", 4.25, 4_000_000),
]


class LogTable:
    """Writes a table. `write` takes the actions of the next commit; the other methods make actions."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.log = folder / "_delta_log"
        self.log.mkdir(parents=True)
        self.version = -1
        self.reader = LogReader(folder)
        self.fields = FIELDS

    def write(self, *actions: dict[str, Any], version: int | None = None) -> Path:
        """The next commit."""
        self.version = self.version + 1 if version is None else version
        path = self.log / f"{self.version:020d}.json"
        path.write_text("".join(json.dumps(action) + "\n" for action in actions), encoding="utf-8")
        return path

    def create(self, protocol: dict[str, Any] = PROTOCOL, **changes: Any) -> Path:
        """Version 0."""
        return self.write(
            {"commitInfo": {"operation": "CREATE"}}, {"protocol": protocol}, self.metadata(**changes)
        )

    def metadata(self, **changes: Any) -> dict[str, Any]:
        """A metaData action; `fields` and the action's own fields can be given."""
        fields = changes.pop("fields", FIELDS)
        form = {
            "id": "5fba94ed-9794-4965-ba6e-6ee3c0d22af9",
            "format": {"provider": "parquet", "options": {}},
            "schemaString": json.dumps({"type": "struct", "fields": fields}),
            "partitionColumns": ["part"],
            "configuration": {"delta.enableDeletionVectors": "true"},
            "createdTime": 1_700_000_000_000,
        }
        return {"metaData": form | changes}

    def add(self, name: str = "a.parquet", rows: list[Any] | None = None, **changes: Any) -> dict[str, Any]:
        """A data file of these rows, and its add action; `stats` may be changed field by field."""
        rows = ROWS if rows is None else rows
        columns = list(zip(*rows, strict=True)) if rows else [()] * len(ARROW)
        table = pa.table(
            [pa.array(column, field.type) for column, field in zip(columns, ARROW, strict=True)], ARROW
        )
        pq.write_table(table, self.folder / name)
        stats = self.stats(rows) | changes.pop("stats", {})
        form = {
            "path": name,
            "partitionValues": {"part": "x"},
            "size": (self.folder / name).stat().st_size,
            "modificationTime": 1_700_000_000_000,
            "dataChange": True,
            "stats": json.dumps(stats),
            "baseRowId": 0,
            "defaultRowCommitVersion": 1,
        }
        return {"add": form | changes}

    @staticmethod
    def stats(rows: list[Any]) -> dict[str, Any]:
        """The true statistics of rows."""
        columns = list(zip(*rows, strict=True)) if rows else [()] * 4
        present = [[value for value in column if value is not None] for column in columns]
        names = ARROW.names
        statistics: dict[str, Any] = {
            "numRecords": len(rows),
            "nullCount": {name: column.count(None) for name, column in zip(names, columns, strict=True)},
        }
        for key, choose in (("minValues", min), ("maxValues", max)):
            statistics[key] = {
                name: choose(column) for name, column in zip(names, present, strict=True) if column
            }
            if "at" in statistics[key]:
                statistics[key]["at"] = f"1970-01-01T00:00:{statistics[key]['at'] // 1000 / 1000:06.3f}Z"
        return statistics

    def file(self, name: str, columns: pa.Table, **changes: Any) -> dict[str, Any]:
        """A data file of these columns and its add action, with no more statistics than a count."""
        pq.write_table(columns, self.folder / name)
        form = {
            "path": name,
            "partitionValues": {},
            "size": (self.folder / name).stat().st_size,
            "modificationTime": 1_700_000_000_000,
            "dataChange": True,
            "stats": json.dumps({"numRecords": columns.num_rows}),
        }
        return {"add": form | changes}

    @staticmethod
    def remove(add: dict[str, Any], **changes: Any) -> dict[str, Any]:
        """The remove action for what an add action added."""
        same = ("path", "deletionVector", "baseRowId", "defaultRowCommitVersion")
        kept = {key: add["add"][key] for key in same if key in add["add"]}
        return {"remove": kept | {"dataChange": True, "deletionTimestamp": 1_700_000_001_000} | changes}

    def vector(self, rows: list[int], **changes: Any) -> dict[str, Any]:
        """A deletion vector file and its descriptor."""
        data = encode_bitmap(rows)
        identity = bytes(range(16))
        framed, offsets = encode_file([data])
        name = "00010203-0405-0607-0809-0a0b0c0d0e0f"
        (self.folder / f"deletion_vector_{name}.bin").write_bytes(framed)
        return {
            "storageType": "u",
            "pathOrInlineDv": z85_encode(identity),
            "offset": offsets[0],
            "sizeInBytes": len(data),
            "cardinality": len(rows),
        } | changes

    @property
    def vector_file(self) -> Path:
        """The file that `vector` writes."""
        return next(self.folder.glob("deletion_vector_*.bin"))

    def checkpoint(
        self, *actions: dict[str, Any], version: int | None = None, name: str | None = None
    ) -> Path:
        """A checkpoint that holds these actions, each a row."""
        number = self.version if version is None else version
        path = self.log / (name or f"{number:020d}.checkpoint.parquet")
        kinds = [kind for kind in CHECKPOINT.names if any(kind in action for action in actions)]
        columns = {
            kind: pa.array([_as_pairs(action.get(kind)) for action in actions], CHECKPOINT.field(kind).type)
            for kind in kinds
        }
        path.parent.mkdir(exist_ok=True)
        pq.write_table(pa.table(columns), path)
        return path

    def hint(self, **fields: Any) -> None:
        """`_last_checkpoint`."""
        (self.log / "_last_checkpoint").write_text(json.dumps(fields), encoding="utf-8")

    def checksum(self, version: int, **fields: Any) -> None:
        """A version checksum."""
        (self.log / f"{version:020d}.crc").write_text(json.dumps(fields), encoding="utf-8")

    def result(self) -> list[Checked]:
        """Every judgement of the whole table, made strictly."""
        reader = self.reader
        result = validity.judge_folder(reader, "reference")
        versions = reader.listing().commits
        before = None
        for version in versions:
            commit = reader.commit(version)
            result += validity.judge_commit(before, commit, "reference")
            try:
                after = reader.snapshot(version)
            except LogError:
                break
            result += validity.judge_files(reader, after, commit, "reference")
            result += validity.judge_changes(reader, before, after, commit, "reference")
            before = after
        return result

    def violations(self) -> list[str]:
        """The requirements that the whole table breaks, each once."""
        return sorted({each.requirement for each in self.result() if each.violation is not None})


STRINGS = pa.map_(pa.string(), pa.string())
VECTOR = pa.struct(
    [
        ("storageType", pa.string()),
        ("pathOrInlineDv", pa.string()),
        ("offset", pa.int32()),
        ("sizeInBytes", pa.int32()),
        ("cardinality", pa.int64()),
    ]
)
CHECKPOINT = pa.schema(
    [
        ("protocol", pa.struct([
            ("minReaderVersion", pa.int32()), ("minWriterVersion", pa.int32()),
            ("readerFeatures", pa.list_(pa.string())), ("writerFeatures", pa.list_(pa.string())),
        ])),
        ("metaData", pa.struct([
            ("id", pa.string()), ("format", pa.struct([("provider", pa.string()), ("options", STRINGS)])),
            ("schemaString", pa.string()), ("partitionColumns", pa.list_(pa.string())), ("configuration", STRINGS),
            ("createdTime", pa.int64()),
        ])),
        ("add", pa.struct([
            ("path", pa.string()), ("partitionValues", STRINGS), ("size", pa.int64()), ("modificationTime", pa.int64()),
            ("dataChange", pa.bool_()), ("stats", pa.string()), ("deletionVector", VECTOR), ("baseRowId", pa.int64()),
            ("defaultRowCommitVersion", pa.int64()), ("tags", STRINGS), ("clusteringProvider", pa.string()),
            ("partitionValues_parsed", pa.struct([("part", pa.string())])),
            ("stats_parsed", pa.struct([
                ("numRecords", pa.int64()), ("nullCount", pa.struct([("id", pa.int64())])),
                ("minValues", pa.struct([
                    ("id", pa.int64()), ("at", pa.timestamp("us", "UTC")),
                    ("v", pa.struct([("metadata", pa.binary()), ("value", pa.binary())])),
                ])),
            ])),
        ])),
        ("remove", pa.struct([
            ("path", pa.string()), ("dataChange", pa.bool_()), ("deletionTimestamp", pa.int64()),
            ("deletionVector", VECTOR), ("stats", pa.string()),
        ])),
        ("txn", pa.struct([("appId", pa.string()), ("version", pa.int64()), ("lastUpdated", pa.int64())])),
        ("domainMetadata", pa.struct([
            ("domain", pa.string()), ("configuration", pa.string()), ("removed", pa.bool_()),
        ])),
        ("commitInfo", pa.struct([("operation", pa.string())])),
        ("checkpointMetadata", pa.struct([("version", pa.int64()), ("tags", STRINGS)])),
        ("sidecar", pa.struct([
            ("path", pa.string()), ("sizeInBytes", pa.int64()), ("modificationTime", pa.int64()), ("tags", STRINGS),
        ])),
    ]
)  # fmt: skip


def _as_pairs(form: Any) -> Any:
    """The objects of maps as Arrow wants them."""
    if not isinstance(form, dict):
        return form
    maps = {"partitionValues", "configuration", "options", "tags"}
    return {
        key: list(value.items()) if key in maps and isinstance(value, dict) else _as_pairs(value)
        for key, value in form.items()
    }


@pytest.fixture
def table(tmp_path: Path) -> LogTable:
    """An empty folder to write a table into."""
    return LogTable(tmp_path / "table")
