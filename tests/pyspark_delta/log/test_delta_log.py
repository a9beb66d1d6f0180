"""A version is read from whatever log files define it, and damage is refused."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import deltalake
import pyarrow as pa
import pytest

from pyspark_delta.exceptions import (
    CorruptLog,
    EmptyLog,
    LogGap,
    NotADeltaTable,
    TimestampNotFound,
    UnsupportedTableFeature,
    VersionNotFound,
)
from pyspark_delta.log.delta_log import DeltaLog
from tests.pyspark_delta import logs
from tests.pyspark_delta.logs import STATE, name, paths


def test_what_deltalake_writes_is_read_as_deltalake_reads_it(tmp_path):
    table = tmp_path / "t"
    for number in range(5):
        deltalake.write_deltalake(
            table, pa.table({"id": [number], "p": ["a b/ü%"]}), mode="append", partition_by=["p"]
        )
    deltalake.DeltaTable(table).delete("id = 1")
    theirs = deltalake.DeltaTable(table)
    snapshot = DeltaLog.for_path(table).update()
    assert snapshot.version == theirs.version() == 5
    assert snapshot.files().total_rows() == 4
    assert snapshot.partition_columns == ("p",)
    assert all(Path(path).is_file() for path in snapshot.files().paths())
    assert {add.partition_values["p"] for add in snapshot.files().adds()} == {"a b/ü%"}
    assert snapshot.size_in_bytes == sum(Path(path).stat().st_size for path in snapshot.files().paths())


def test_a_checkpoint_of_deltalake_gives_the_same_state_as_its_commits(tmp_path):
    table = tmp_path / "t"
    for number in range(4):
        deltalake.write_deltalake(
            table, pa.table({"id": [number], "p": ["x"]}), mode="append", partition_by=["p"]
        )
    deltalake.DeltaTable(table).delete("id = 2")
    before = DeltaLog.for_path(table).update()
    deltalake.DeltaTable(table).create_checkpoint()
    for version in range(4):
        (table / "_delta_log" / f"{name(version)}.json").unlink()
    DeltaLog.forget(table)
    after = DeltaLog.for_path(table).update()
    assert after.metadata == before.metadata
    assert after.protocol == before.protocol
    assert sorted(after.files().adds(), key=str) == sorted(
        (add.with_data_change(add.data_change) for add in before.files().adds()), key=str
    )
    assert after.tombstones().raw_paths() == before.tombstones().raw_paths()


def test_a_folder_without_a_log_is_no_table(tmp_path):
    with pytest.raises(NotADeltaTable, match="is no Delta table"):
        DeltaLog.for_path(tmp_path / "nothing").update()
    assert not DeltaLog.for_path(tmp_path / "nothing").exists()


def test_an_empty_log_is_said_to_be_empty(tmp_path):
    logs.log_folder(tmp_path)
    with pytest.raises(EmptyLog):
        DeltaLog.for_path(tmp_path).update()
    assert not DeltaLog.for_path(tmp_path).exists()


def test_a_gap_in_the_log_names_the_missing_version(tmp_path):
    logs.plain_table(tmp_path, 4)
    (tmp_path / "_delta_log" / f"{name(2)}.json").unlink()
    with pytest.raises(LogGap, match="version 2 is missing"):
        DeltaLog.for_path(tmp_path).update()


def test_a_log_whose_beginning_is_gone_without_a_checkpoint_is_a_gap(tmp_path):
    logs.plain_table(tmp_path, 4)
    (tmp_path / "_delta_log" / f"{name(0)}.json").unlink()
    with pytest.raises(LogGap, match="the first of its commits is 1"):
        DeltaLog.for_path(tmp_path).update()


def test_a_torn_last_commit_is_named_with_its_version_and_line(tmp_path):
    logs.plain_table(tmp_path, 2)
    file = logs.commit(tmp_path, 3, {"commitInfo": {"operation": "WRITE"}}, logs.add("f3"))
    file.write_bytes(file.read_bytes()[:-20])
    with pytest.raises(CorruptLog, match="version 3 is damaged in line 2"):
        DeltaLog.for_path(tmp_path).update()
    assert paths_of_version_two(tmp_path) == ["f1", "f2"]


def paths_of_version_two(table: Path) -> list[str]:
    """The files of version 2, which must still be readable through a copy of the log without the damage."""
    copy = table / "copy"
    shutil.copytree(table / "_delta_log", copy / "_delta_log")
    (copy / "_delta_log" / f"{name(3)}.json").unlink()
    return paths(copy)


def test_a_torn_commit_that_appears_later_leaves_the_version_known_before(tmp_path):
    logs.plain_table(tmp_path, 2)
    log = DeltaLog.for_path(tmp_path)
    assert log.update().version == 2
    (tmp_path / "_delta_log" / f"{name(3)}.json").write_text('{"add":{"path":"f3","siz')
    with pytest.raises(CorruptLog, match="version 3"):
        log.update()
    logs.commit(tmp_path, 3, logs.add("f3"))
    assert paths(tmp_path) == ["f1", "f2", "f3"]


@pytest.mark.parametrize(
    "action", ({"add": {"partitionValues": {}}}, {"add": 1}, {"protocol": {}}, ["add"]), ids=str
)
def test_json_that_is_no_action_is_corruption(tmp_path, action):
    logs.plain_table(tmp_path, 1)
    logs.commit(tmp_path, 2, action)
    with pytest.raises(CorruptLog, match="version 2"):
        DeltaLog.for_path(tmp_path).update()


def test_an_empty_commit_file_is_a_commit_without_actions(tmp_path):
    logs.plain_table(tmp_path, 1)
    (tmp_path / "_delta_log" / f"{name(2)}.json").write_text("")
    assert DeltaLog.for_path(tmp_path).update().version == 2


def test_a_log_without_protocol_or_metadata_is_corrupt(tmp_path):
    logs.commit(tmp_path, 0, logs.metadata())
    with pytest.raises(CorruptLog, match="its protocol"):
        DeltaLog.for_path(tmp_path).update()


def test_unknown_actions_and_fields_are_passed_over(tmp_path):
    logs.plain_table(tmp_path, 1)
    logs.commit(tmp_path, 2, {"somethingNew": {"a": 1}}, logs.add("f2", somethingElse=[1]))
    assert paths(tmp_path) == ["f1", "f2"]


def test_files_with_names_that_mean_nothing_are_passed_over(tmp_path):
    logs.plain_table(tmp_path, 1)
    folder = logs.log_folder(tmp_path)
    for other in (
        f"{name(9)}.json#1",
        f".{name(9)}.json.123.tmp",
        f"{name(9)}.checkpoint.0000000001.0000000002.{'a' * 36}.parquet",
        "readme.json",
        f"{name(9)}.crc",
    ):
        (folder / other).write_text("x")
    assert DeltaLog.for_path(tmp_path).update().version == 1


@pytest.mark.parametrize(
    ("reader", "expected"),
    ((["deletionVectors", "fancyNewThing"], "fancyNewThing"), (["typeWidening"], "typeWidening")),
)
def test_an_unknown_reader_feature_is_refused_by_its_name(tmp_path, reader, expected):
    protocol = {
        "minReaderVersion": 3,
        "minWriterVersion": 7,
        "readerFeatures": reader,
        "writerFeatures": reader,
    }
    logs.commit(tmp_path, 0, {"protocol": protocol}, logs.metadata())
    with pytest.raises(UnsupportedTableFeature, match=expected) as refusal:
        DeltaLog.for_path(tmp_path).update().files()
    assert refusal.value.features == (expected,)


def test_a_reader_version_of_the_future_is_refused(tmp_path):
    logs.commit(tmp_path, 0, {"protocol": {"minReaderVersion": 4, "minWriterVersion": 7}}, logs.metadata())
    with pytest.raises(UnsupportedTableFeature, match="reader version 4"):
        DeltaLog.for_path(tmp_path).update().files()


def test_a_file_is_known_by_its_path_and_its_deletion_vector(tmp_path):
    logs.plain_table(tmp_path, 2)
    logs.commit(tmp_path, 3, logs.remove("f1"), logs.add("f1", deletionVector=logs.vector("a" * 20)))
    logs.commit(
        tmp_path,
        4,
        logs.add("f1", deletionVector=logs.vector("a" * 20, 50)),
        logs.remove("f1", deletionVector=logs.vector("a" * 20)),
    )
    (file,) = [add for add in DeltaLog.for_path(tmp_path).update().files().adds() if add.path == "f1"]
    assert file.deletion_vector is not None
    assert file.deletion_vector.offset == 50
    assert len(DeltaLog.for_path(tmp_path).update().tombstones()) == 2


@pytest.mark.parametrize(
    "spelling", ("file:/some/with%20space", "file:///some/with%20space", "/some/with%20space")
)
@pytest.mark.parametrize("checkpointed", (True, False), ids=("in a checkpoint", "in a commit"))
def test_an_absolute_path_is_the_same_file_with_and_without_a_scheme(tmp_path, spelling, checkpointed):
    logs.commit(tmp_path, 0, logs.PROTOCOL, logs.metadata(), logs.add(spelling), logs.add("f1"))
    if checkpointed:
        state = [logs.PROTOCOL, logs.metadata(), logs.add(spelling), logs.add("f1")]
        logs.checkpoint(logs.log_folder(tmp_path) / f"{name(0)}.checkpoint.parquet", state)
    logs.commit(tmp_path, 1, logs.remove("/some/with%20space"))
    assert paths(tmp_path) == ["f1"]
    assert DeltaLog.for_path(tmp_path).update().num_files == 1
    assert DeltaLog.for_path(tmp_path).snapshot(0).files().paths()[0] == "/some/with space"


def test_a_table_of_the_oldest_kind_has_no_columns_until_data_comes(tmp_path):
    body = logs.metadata()["metaData"]
    del body["schemaString"]
    logs.commit(tmp_path, 0, logs.PROTOCOL, {"metaData": body})
    assert DeltaLog.for_path(tmp_path).update().schema.names == []


def test_a_schema_that_is_there_and_empty_is_refused_when_it_is_asked_for(tmp_path):
    body = {**logs.metadata()["metaData"], "schemaString": ""}
    logs.commit(tmp_path, 0, logs.PROTOCOL, {"metaData": body})
    with pytest.raises(CorruptLog, match="the schema of the table can't be read"):
        DeltaLog.for_path(tmp_path).update().schema  # noqa: B018 - asked for its refusal


@pytest.mark.parametrize("writer", (["deletionVectors"], []), ids=("in both lists", "in the readers' alone"))
def test_a_protocol_that_lists_a_feature_for_readers_only_is_refused(tmp_path, writer):
    protocol = {
        "minReaderVersion": 3,
        "minWriterVersion": 7,
        "readerFeatures": ["deletionVectors"],
        "writerFeatures": writer,
    }
    logs.commit(tmp_path, 0, {"protocol": protocol}, logs.metadata())
    snapshot = DeltaLog.for_path(tmp_path).update()
    if writer:
        assert len(snapshot.files()) == 0
        return
    with pytest.raises(CorruptLog, match="deletionVectors for readers, but not for writers"):
        snapshot.files()


def test_the_order_of_actions_in_a_commit_says_nothing(tmp_path):
    logs.commit(tmp_path, 0, logs.add("f1"), logs.metadata(), logs.PROTOCOL)
    logs.commit(tmp_path, 1, logs.add("f1", deletionVector=logs.vector("a" * 20)), logs.remove("f1"))
    (file,) = DeltaLog.for_path(tmp_path).update().files().adds()
    assert file.deletion_vector is not None


def test_a_refresh_sees_what_was_committed_since(tmp_path):
    logs.plain_table(tmp_path, 2)
    log = DeltaLog.for_path(tmp_path)
    first = log.update()
    assert log.update() is first
    logs.commit(tmp_path, 3, logs.add("f3"), logs.remove("f1"))
    second = log.update()
    assert sorted(second.files().raw_paths()) == ["f2", "f3"]
    assert second.num_files == 2
    assert sorted(first.files().raw_paths()) == ["f1", "f2"]


def test_a_table_put_in_the_place_of_another_is_not_mistaken_for_it(tmp_path):
    table = tmp_path / "t"
    logs.plain_table(table, 3)
    assert DeltaLog.for_path(table).update().version == 3
    shutil.rmtree(table)
    logs.commit(table, 0, logs.PROTOCOL, logs.metadata(), logs.add("other"))
    assert DeltaLog.for_path(table).update().version == 0
    shutil.rmtree(table)
    with pytest.raises(NotADeltaTable):
        DeltaLog.for_path(table).update()


def test_old_versions_are_read_and_versions_that_are_not_there_are_refused(tmp_path):
    logs.plain_table(tmp_path, 4)
    folder = logs.log_folder(tmp_path)
    assert paths(tmp_path, 2) == ["f1", "f2"]
    for version in (5, -1):
        with pytest.raises(VersionNotFound, match="is at version 4"):
            DeltaLog.for_path(tmp_path).snapshot(version)
    logs.checkpoint(folder / f"{name(2)}.checkpoint.parquet", STATE)
    for version in range(2):
        (folder / f"{name(version)}.json").unlink()
    DeltaLog.forget(tmp_path)
    assert paths(tmp_path, 2) == ["f1", "f2"]
    with pytest.raises(VersionNotFound, match="the oldest version is 2"):
        DeltaLog.for_path(tmp_path).snapshot(1)


def test_a_moment_means_the_newest_version_that_is_not_newer(tmp_path):
    logs.plain_table(tmp_path, 3)
    base = 1_700_000_000
    for version in range(4):
        os.utime(
            logs.log_folder(tmp_path) / f"{name(version)}.json", (base + 60 * version, base + 60 * version)
        )
    log = DeltaLog.for_path(tmp_path)
    assert log.snapshot(timestamp=(base + 60) * 1000).version == 1
    assert log.snapshot(timestamp="2023-11-14 22:14:59").version == 1
    assert log.snapshot(timestamp="2023-11-14T22:15:20+00:00").version == 2
    with pytest.raises(TimestampNotFound, match="before the oldest"):
        log.snapshot(timestamp=(base - 1) * 1000)
    with pytest.raises(TimestampNotFound, match="after the newest"):
        log.snapshot(timestamp=(base + 181) * 1000)


def test_times_of_commits_ascend_whatever_the_files_say(tmp_path):
    logs.plain_table(tmp_path, 2)
    for version, second in enumerate((100, 50, 200)):
        os.utime(logs.log_folder(tmp_path) / f"{name(version)}.json", (second, second))
    entries = DeltaLog.for_path(tmp_path).history()
    assert [(entry.version, entry.timestamp) for entry in entries] == [
        (2, 200_000),
        (1, 100_001),
        (0, 100_000),
    ]
    assert [entry.version for entry in DeltaLog.for_path(tmp_path).history(1)] == [2]


def test_in_commit_timestamps_are_used_if_the_table_has_them(tmp_path):
    lists = {"writerFeatures": ["inCommitTimestamp"]}
    protocol = {"protocol": {"minReaderVersion": 1, "minWriterVersion": 7, **lists}}
    properties = {"delta__enableInCommitTimestamps": "true", "delta__inCommitTimestampEnablementVersion": "1"}
    logs.commit(tmp_path, 0, protocol, logs.metadata())
    logs.commit(tmp_path, 1, {"commitInfo": {"inCommitTimestamp": 5_000_000}}, logs.metadata(**properties))
    logs.commit(tmp_path, 2, {"commitInfo": {"inCommitTimestamp": 6_000_000}}, logs.add("f1"))
    os.utime(logs.log_folder(tmp_path) / f"{name(0)}.json", (4000, 4000))
    log = DeltaLog.for_path(tmp_path)
    assert [entry.timestamp for entry in log.history()] == [6_000_000, 5_000_000, 4_000_000]
    assert log.update().timestamp == 6_000_000
    assert log.snapshot(timestamp=5_500_000).version == 1
    with pytest.raises(UnsupportedTableFeature, match="inCommitTimestamp"):
        log.update().check_writable()


def test_the_time_of_a_version_outlives_its_commit(tmp_path):
    logs.plain_table(tmp_path, 1)
    file = logs.log_folder(tmp_path) / f"{name(1)}.checkpoint.parquet"
    logs.checkpoint(file, STATE)
    os.utime(file, (77, 77))
    for version in range(2):
        (logs.log_folder(tmp_path) / f"{name(version)}.json").unlink()
    assert DeltaLog.for_path(tmp_path).update().timestamp == 77_000


def test_columns_under_column_mapping_know_their_names_in_files(tmp_path):
    field = {
        "name": "shown",
        "type": "long",
        "nullable": True,
        "metadata": {"delta.columnMapping.id": 1, "delta.columnMapping.physicalName": "col-1"},
    }
    schema = json.dumps({"type": "struct", "fields": [field]})
    protocol = {"protocol": {"minReaderVersion": 2, "minWriterVersion": 5}}
    logs.commit(tmp_path, 0, protocol, logs.metadata(schema, delta__columnMapping__mode="name"))
    from pyspark_delta.schema import field_id, physical_name, physical_schema  # noqa: PLC0415

    snapshot = DeltaLog.for_path(tmp_path).update()
    assert snapshot.column_mapping == "name"
    assert physical_name(snapshot.schema["shown"]) == "col-1"
    assert field_id(snapshot.schema["shown"]) == 1
    assert physical_schema(snapshot.schema).names == ["col-1"]
    with pytest.raises(UnsupportedTableFeature, match="columnMapping"):
        snapshot.check_writable()
