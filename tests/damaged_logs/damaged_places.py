"""The places and names of files, and the fields of removes and change data, each damaged in one way."""

from __future__ import annotations

import shutil
from typing import Any

import pyarrow as pa

from tests.damaged_logs.damaged_tracking import FIELDS, ON, V1
from tests.damaged_logs.damages import (
    NAMED,
    PROTOCOL,
    damage,
    with_field_ids,
    write_change_data,
    write_compaction,
    write_small_table,
    write_small_v2_table,
    write_two_commits,
)


@damage("log.file-names-padded")
def _short_name(table):
    table.create()
    (table.log / "1.json").write_text("{}")


@damage("log.compaction-range")
def _compaction_of_one(table):
    first, _ = write_two_commits(table)
    write_compaction(table, first)
    (table.log / f"{1:020d}.{2:020d}.compacted.json").rename(table.log / f"{1:020d}.{1:020d}.compacted.json")


@damage("log.compaction-no-provenance")
def _compaction_with_provenance(table):
    first, second = write_two_commits(table)
    write_compaction(table, {"commitInfo": {"operation": "WRITE"}}, second, table.remove(first))


def clean_log(table: Any, keep: int) -> None:
    """Write a table with a checkpoint of version 1, and delete its commits before version `keep`."""
    table.checkpoint(*write_small_table(table))
    table.write({"txn": {"appId": "other", "version": 1}})
    for version in range(keep):
        (table.log / f"{version:020d}.json").unlink()


damage("log.cleanup-keeps-checkpoint-commit")(lambda table: clean_log(table, 2))


def honest_clean_up(table: Any) -> None:
    """The commit of the checkpoint stays."""
    clean_log(table, 1)


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


def write_removed_file(table: Any, **changes: Any) -> None:
    """Write a table with a removed file; `changes` replace fields of the remove."""
    table.create()
    action = table.add()
    table.write(action)
    size = action["add"]["size"]
    table.write(table.remove(action, **{"size": size, "partitionValues": {"part": "x"}, **changes}))


damage("log.remove-size")(lambda table: write_removed_file(table, size=1))


damage("log.remove-partition-values")(lambda table: write_removed_file(table, partitionValues={"part": "y"}))


def honest_remove(table: Any) -> None:
    """A remove with all fields of its file."""
    write_removed_file(table, extendedFileMetadata=True)


damage("log.feature-needs-reader-version")(
    lambda table: table.create(
        protocol={"minReaderVersion": 1, "minWriterVersion": 7, "writerFeatures": PROTOCOL["writerFeatures"]}
    )
)


@damage("cdc.path-is-uri")
def _percent_that_is_none(table):
    cdc = write_change_data(table, ["delete"], [1])
    commit = table.log / f"{2:020d}.json"
    shutil.move(table.folder / cdc["path"], table.folder / "_change_data" / "50%.parquet")
    commit.write_text(commit.read_text().replace(cdc["path"], "_change_data/50%.parquet"))


@damage("cdc.partition-values-complete")
def _changes_of_an_unknown_partition(table):
    write_change_data(table, ["delete"], [1], partitionValues={"part": "x", "other": "y"})


def write_sidecar(table: Any, path: str) -> None:
    """Write a V2 checkpoint that names its sidecar by the given path."""
    inside, action = write_small_v2_table(table)
    sidecar = table.checkpoint(action, name="_sidecars/x.parquet")
    reference = {"path": path, "sizeInBytes": sidecar.stat().st_size, "modificationTime": 1}
    table.checkpoint(*inside, {"sidecar": reference}, {"checkpointMetadata": {"version": 1}}, name=NAMED)


@damage("checkpoint.sidecars-in-their-folder")
def _sidecar_elsewhere(table):
    write_sidecar(table, "../x.parquet")
    shutil.move(table.log / "_sidecars" / "x.parquet", table.log / "x.parquet")


@damage("iceberg.partition-columns-last")
def _partition_column_first(table):
    table.create(protocol=V1, configuration=ON["V1"], fields=FIELDS)
    inside = with_field_ids(id=[1], part=["x"]).select(["part", "id"])
    table.write(table.file("a.parquet", inside, partitionValues={"part": "x"}))


HONEST = (honest_clean_up, honest_folders, honest_remove)
