"""Small reference tables in each layout, written here as their makers would."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

SCHEMA: dict[str, Any] = {
    "type": "struct",
    "fields": [
        {"name": "id", "type": "long", "nullable": True, "metadata": {}},
        {"name": "name", "type": "string", "nullable": True, "metadata": {}},
    ],
}
PROTOCOL = {"minReaderVersion": 1, "minWriterVersion": 2}
METADATA = {
    "id": "0", "format": {"provider": "parquet", "options": {}}, "schemaString": json.dumps(SCHEMA),
    "partitionColumns": [], "configuration": {}, "createdTime": 1_700_000_000_000,
}  # fmt: skip


class TableMaker:
    """Writes a table version by version: `rows` become a file that the version adds."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.log = folder / "_delta_log"
        self.log.mkdir(parents=True)
        self.version = -1

    def commit(self, *actions: dict[str, object]) -> TableMaker:
        self.version += 1
        lines = [{"commitInfo": {"timestamp": 1_700_000_000_000 + self.version * 60_000}}, *actions]
        text = "".join(f"{json.dumps(line)}\n" for line in lines)
        (self.log / f"{self.version:020}.json").write_text(text)
        return self

    def create(self, **properties: str) -> TableMaker:
        return self.commit({"protocol": PROTOCOL}, {"metaData": {**METADATA, "configuration": properties}})

    def append(self, *rows: tuple[int | None, str | None]) -> TableMaker:
        name = f"part-{self.version + 1}.parquet"
        write_rows(self.folder / name, rows)
        return self.commit({"add": self.added(name, len(rows))})

    def added(self, name: str, rows: int) -> dict[str, object]:
        path = self.folder / name
        return {
            "path": name, "partitionValues": {}, "size": path.stat().st_size if path.exists() else 1,
            "modificationTime": 0, "dataChange": True, "stats": json.dumps({"numRecords": rows}),
        }  # fmt: skip


def write_rows(path: Path, rows) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    ids, names = zip(*rows, strict=True) if rows else ((), ())
    pq.write_table(pa.table({"id": pa.array(ids, pa.int64()), "name": pa.array(names, pa.string())}), path)


@pytest.fixture
def make_table():
    return TableMaker


class AcceptanceCase:
    """A folder of the acceptance layout; `spec` adds one with the rows that it expects."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.table = TableMaker(folder / "delta")
        (folder / "test_info.json").write_text("{}")
        (folder / "specs").mkdir()

    def spec(self, name: str, form: dict[str, object], *rows: tuple[int | None, str | None]) -> None:
        (self.folder / "specs" / f"{name}.json").write_text(json.dumps(form))
        if form.get("type") == "read" and "error" not in form:
            write_rows(self.folder / "expected" / name / "expected_data" / "part-0.parquet", rows)


@pytest.fixture
def acceptance(tmp_path):
    return AcceptanceCase(tmp_path / "corpus" / "a_case")
