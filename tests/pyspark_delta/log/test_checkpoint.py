"""Checkpoints in every form, hints and compactions are used as far as they can be trusted."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import deltalake
import pyarrow as pa
import pytest

from pyspark_delta.exceptions import (
    CorruptCheckpoint,
    LogGap,
)
from pyspark_delta.log.delta_log import DeltaLog
from pyspark_delta.log.last_checkpoint import canonical_checksum
from tests.pyspark_delta import logs
from tests.pyspark_delta.logs import STATE, name, paths


def hint(table: Path, **body: object) -> None:
    (logs.log_folder(table) / "_last_checkpoint").write_text(json.dumps(body))


def test_a_multi_part_checkpoint_is_read_whole_or_not_at_all(tmp_path):
    logs.plain_table(tmp_path, 3)
    folder = logs.log_folder(tmp_path)
    first = folder / f"{name(2)}.checkpoint.0000000001.0000000002.parquet"
    second = folder / f"{name(2)}.checkpoint.0000000002.0000000002.parquet"
    logs.checkpoint(first, STATE[:3])
    logs.checkpoint(second, STATE[3:])
    for version in range(3):
        (folder / f"{name(version)}.json").unlink()
    assert paths(tmp_path) == ["f1", "f2", "f3"]
    assert DeltaLog.for_path(tmp_path).update().txn_version("a") == 7
    second.unlink()
    DeltaLog.forget(tmp_path)
    with pytest.raises(LogGap):
        DeltaLog.for_path(tmp_path).update()


UUID = "80a083e8-7026-4e79-81be-64bd76c43a11"


@pytest.mark.parametrize("sidecars", (True, False), ids=("with sidecars", "inline"))
@pytest.mark.parametrize("form", ("json", "parquet", "classic"))
def test_a_v2_checkpoint_is_read_in_every_form(tmp_path, form, sidecars):
    features = {"readerFeatures": ["v2Checkpoint"], "writerFeatures": ["v2Checkpoint"]}
    protocol = {"protocol": {"minReaderVersion": 3, "minWriterVersion": 7, **features}}
    logs.commit(tmp_path, 0, protocol, logs.metadata())
    logs.commit(tmp_path, 1, logs.add("f1"), logs.add("f2", stats='{"numRecords":3}'))
    logs.commit(tmp_path, 2, logs.add("f3"), logs.remove("f1"))
    folder = logs.log_folder(tmp_path)
    files = [logs.add("f2", stats='{"numRecords":3}'), logs.add("f3"), logs.remove("f1")]
    actions: list[dict[str, Any]] = [{"checkpointMetadata": {"version": 2}}, protocol, logs.metadata()]
    domain = {"domainMetadata": {"domain": "d", "configuration": "{}", "removed": False}}
    actions.append(domain)
    if sidecars:
        for number, rows in enumerate((files[:1], files[1:])):
            logs.checkpoint(folder / "_sidecars" / f"part{number}.parquet", rows)
            actions.append(
                {"sidecar": {"path": f"part{number}.parquet", "sizeInBytes": 1, "modificationTime": 1}}
            )
    else:
        actions += files
    if form == "json":
        text = "".join(json.dumps(action) + "\n" for action in actions)
        (folder / f"{name(2)}.checkpoint.{UUID}.json").write_text(text)
    else:
        middle = "" if form == "classic" else f".{UUID}"
        logs.checkpoint(folder / f"{name(2)}.checkpoint{middle}.parquet", actions)
    for version in range(2):
        (folder / f"{name(version)}.json").unlink()
    snapshot = DeltaLog.for_path(tmp_path).update()
    assert snapshot.version == 2
    assert sorted(snapshot.files().raw_paths()) == ["f2", "f3"]
    assert snapshot.tombstones().raw_paths() == ["f1"]
    assert set(snapshot.domains) == {"d"}


def test_statistics_that_a_checkpoint_has_as_columns_only_come_back_as_text(tmp_path):
    logs.plain_table(tmp_path, 1)
    deltalake.write_deltalake(tmp_path / "t", pa.table({"id": [1, 2]}))
    parsed = pa.struct([("numRecords", pa.int64()), ("minValues", pa.struct([("id", pa.int64())]))])
    kinds = {kind: logs._TYPES[kind] for kind in ("protocol", "metaData")}
    files = pa.struct(
        [*[field for field in logs._TYPES["add"] if field.name != "stats"], ("stats_parsed", parsed)]
    )
    body = {"path": "f1", "partitionValues": [], "size": 1, "modificationTime": 1, "dataChange": False}
    body["stats_parsed"] = {"numRecords": 2, "minValues": {"id": 5}}
    columns = [
        pa.array([logs._pairs(logs.PROTOCOL["protocol"]), None, None], kinds["protocol"]),
        pa.array([None, logs._pairs(logs.metadata()["metaData"]), None], kinds["metaData"]),
        pa.array([None, None, body], files),
    ]
    table = pa.Table.from_arrays(columns, names=["protocol", "metaData", "add"])
    pa.parquet.write_table(table, logs.log_folder(tmp_path) / f"{name(1)}.checkpoint.parquet")
    (file,) = DeltaLog.for_path(tmp_path).update().files().adds()
    assert json.loads(file.stats or "") == {"numRecords": 2, "minValues": {"id": 5}}


def test_a_corrupt_checkpoint_is_made_good_by_the_commits_and_said(tmp_path, caplog):
    logs.plain_table(tmp_path, 3)
    (logs.log_folder(tmp_path) / f"{name(2)}.checkpoint.parquet").write_bytes(b"PAR1 no Parquet PAR1")
    hint(tmp_path, version=2, size=4)
    assert paths(tmp_path) == ["f1", "f2", "f3"]
    assert "looking for an older one" in caplog.text


def test_a_corrupt_checkpoint_is_made_good_by_an_older_one(tmp_path):
    logs.plain_table(tmp_path, 4)
    folder = logs.log_folder(tmp_path)
    logs.checkpoint(folder / f"{name(2)}.checkpoint.parquet", STATE)
    (folder / f"{name(4)}.checkpoint.parquet").write_bytes(b"")
    hint(tmp_path, version=4, size=4)
    for version in range(2):
        (folder / f"{name(version)}.json").unlink()
    assert paths(tmp_path) == ["f1", "f2", "f3", "f4"]


def test_a_corrupt_checkpoint_whose_commits_are_gone_is_an_error_that_names_it(tmp_path):
    logs.plain_table(tmp_path, 3)
    folder = logs.log_folder(tmp_path)
    (folder / f"{name(2)}.checkpoint.parquet").write_bytes(b"no Parquet")
    (folder / f"{name(0)}.json").unlink()
    with pytest.raises(CorruptCheckpoint, match=r"00002\.checkpoint\.parquet"):
        DeltaLog.for_path(tmp_path).update()


def test_a_checkpoint_without_metadata_is_not_believed(tmp_path):
    logs.plain_table(tmp_path, 3)
    logs.checkpoint(
        logs.log_folder(tmp_path) / f"{name(2)}.checkpoint.parquet", [logs.PROTOCOL, logs.add("f9")]
    )
    assert paths(tmp_path) == ["f1", "f2", "f3"]


@pytest.mark.parametrize(
    "text",
    (
        '{"version":9,"size":1}',
        '{"version":2,"size":5,"checksum":"0123"}',
        '{"version":2,"version":2,"size":5}',
        "{",
        "[]",
        "",
    ),
)
def test_a_hint_that_points_nowhere_or_is_damaged_is_not_used(tmp_path, text):
    logs.plain_table(tmp_path, 3)
    folder = logs.log_folder(tmp_path)
    logs.checkpoint(folder / f"{name(2)}.checkpoint.parquet", STATE)
    (folder / "_last_checkpoint").write_text(text)
    assert paths(tmp_path) == ["f1", "f2", "f3"]


def test_the_checksum_of_a_hint_is_that_of_the_protocols_example():
    inner = {"k2": 2, "k3": ["v3", [1, 2], {"k4": "v4", "k5": ["v5", "v6", "v7"]}]}
    assert (
        canonical_checksum({"k0": "'v 0'", "checksum": "anything", "k1": inner})
        == "6a92d155a59bf2eecbd4b4ec7fd1f875"
    )


def test_a_compaction_stands_for_its_commits(tmp_path):
    logs.plain_table(tmp_path, 5)
    logs.commit(tmp_path, 6, logs.remove("f2"))
    folder = logs.log_folder(tmp_path)
    actions = [logs.add("f2"), logs.add("f3"), logs.add("f4")]
    (folder / f"{name(2)}.{name(4)}.compacted.json").write_text(
        "".join(json.dumps(a) + "\n" for a in actions)
    )
    assert paths(tmp_path) == ["f1", "f3", "f4", "f5"]
    assert paths(tmp_path, 3) == ["f1", "f2", "f3"]


def test_a_damaged_compaction_is_replaced_by_its_commits(tmp_path):
    logs.plain_table(tmp_path, 5)
    (logs.log_folder(tmp_path) / f"{name(2)}.{name(4)}.compacted.json").write_text('{"add":')
    assert paths(tmp_path) == ["f1", "f2", "f3", "f4", "f5"]
