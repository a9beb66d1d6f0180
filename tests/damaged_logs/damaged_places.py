"""Where files lie and what they are called, and what removes and changes say of them, each damaged in one way."""

from __future__ import annotations

import shutil
from typing import Any

import pyarrow as pa

from tests.damaged_logs.damaged_tracking import FIELDS, ON, V1
from tests.damaged_logs.damages import (
    NAMED,
    PROTOCOL,
    compacted,
    damage,
    held,
    held_v2,
    numbered,
    recorded,
    two_commits,
)


@damage("log.file-names-padded")
def _short_name(table):
    table.create()
    (table.log / "1.json").write_text("{}")


@damage("log.compaction-range")
def _compaction_of_one(table):
    first, _ = two_commits(table)
    compacted(table, first)
    (table.log / f"{1:020d}.{2:020d}.compacted.json").rename(table.log / f"{1:020d}.{1:020d}.compacted.json")


@damage("log.compaction-no-provenance")
def _compaction_with_provenance(table):
    first, second = two_commits(table)
    compacted(table, {"commitInfo": {"operation": "WRITE"}}, second, table.remove(first))


def cleaned(table: Any, keep: int) -> None:
    """A table with a checkpoint of version 1, whose commits before `keep` are gone."""
    table.checkpoint(*held(table))
    table.write({"txn": {"appId": "other", "version": 1}})
    for version in range(keep):
        (table.log / f"{version:020d}.json").unlink()


damage("log.cleanup-keeps-checkpoint-commit")(lambda table: cleaned(table, 2))


def honest_clean_up(table: Any) -> None:
    """The commit of the checkpoint stays."""
    cleaned(table, 1)


@damage("log.data-file-not-hidden")
def _hidden_file(table):
    table.create()
    (table.folder / "_hidden").mkdir()
    table.write(table.add("_hidden/a.parquet"))


def honest_folders(table: Any) -> None:
    """A folder named by a partition column with an underscore, and a file that is its own change data."""
    table.create(configuration={"delta.enableChangeDataFeed": "true"})
    (table.folder / "_part=x").mkdir()
    table.write(table.add("_part=x/a.parquet"))
    changes = pa.table({"id": [9], "_change_type": ["insert"]})
    added = table.file("b.parquet", changes, partitionValues={"part": "x"})
    same = {key: added["add"][key] for key in ("path", "size", "partitionValues")}
    table.write(added, {"cdc": same | {"dataChange": False}})


@damage("log.remove-has-timestamp")
def _removed_at_no_time(table):
    table.create()
    action = table.add()
    table.write(action)
    table.write(table.remove(action, deletionTimestamp=None))


def removed(table: Any, **said: Any) -> None:
    """A file is removed, with this said of it."""
    table.create()
    action = table.add()
    table.write(action)
    size = action["add"]["size"]
    table.write(table.remove(action, **{"size": size, "partitionValues": {"part": "x"}, **said}))


damage("log.remove-size")(lambda table: removed(table, size=1))


damage("log.remove-partition-values")(lambda table: removed(table, partitionValues={"part": "y"}))


def honest_remove(table: Any) -> None:
    """A remove that tells all of its file."""
    removed(table, extendedFileMetadata=True)


damage("log.feature-needs-reader-version")(
    lambda table: table.create(
        protocol={"minReaderVersion": 1, "minWriterVersion": 7, "writerFeatures": PROTOCOL["writerFeatures"]}
    )
)


@damage("cdc.path-is-uri")
def _percent_that_is_none(table):
    cdc = recorded(table, ["delete"], [1])
    commit = table.log / f"{2:020d}.json"
    shutil.move(table.folder / cdc["path"], table.folder / "_change_data" / "50%.parquet")
    commit.write_text(commit.read_text().replace(cdc["path"], "_change_data/50%.parquet"))


@damage("cdc.partition-values-complete")
def _changes_of_an_unknown_partition(table):
    recorded(table, ["delete"], [1], partitionValues={"part": "x", "other": "y"})


def with_sidecar(table: Any, path: str) -> None:
    """A V2 checkpoint whose sidecar lies there."""
    inside, action = held_v2(table)
    sidecar = table.checkpoint(action, name="_sidecars/x.parquet")
    reference = {"path": path, "sizeInBytes": sidecar.stat().st_size, "modificationTime": 1}
    table.checkpoint(*inside, {"sidecar": reference}, {"checkpointMetadata": {"version": 1}}, name=NAMED)


@damage("checkpoint.sidecars-in-their-folder")
def _sidecar_elsewhere(table):
    with_sidecar(table, "../x.parquet")
    shutil.move(table.log / "_sidecars" / "x.parquet", table.log / "x.parquet")


@damage("iceberg.partition-columns-last")
def _partition_column_first(table):
    table.create(protocol=V1, configuration=ON["V1"], fields=FIELDS)
    inside = numbered(id=[1], part=["x"]).select(["part", "id"])
    table.write(table.file("a.parquet", inside, partitionValues={"part": "x"}))


HONEST = (honest_clean_up, honest_folders, honest_remove)
