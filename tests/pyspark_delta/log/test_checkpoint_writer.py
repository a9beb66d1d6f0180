"""Written checkpoints hold the state, other engines read them, and they let old commits expire."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import deltalake
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession
from pyspark.sql.types import LongType, StringType, StructField, StructType

from pyspark_delta import schema as schemas
from pyspark_delta.log.actions import Action, Add, DeletionVector, DomainMetadata, Metadata, Txn
from pyspark_delta.log.delta_log import DeltaLog
from pyspark_delta.log.last_checkpoint import canonical_checksum
from tests.pyspark_delta import logs

SCHEMA = StructType([StructField("id", LongType()), StructField("p", StringType())])
DAY = 86_400


def create(table: Path, **properties: str) -> DeltaLog:
    log = DeltaLog.for_path(table)
    transaction = log.begin()
    configuration = {name.replace("__", "."): value for name, value in properties.items()}
    transaction.new_table(Metadata("an-id", schemas.to_json(SCHEMA), ("p",), configuration, created_time=1))
    transaction.commit([], "CREATE TABLE")
    return log


def data_file(table: Path, name: str, value: str) -> Add:
    pq.write_table(pa.table({"id": [1, 2, 3]}), table / name)
    size = (table / name).stat().st_size
    return Add(
        name, {"p": value}, size, 1, stats='{"numRecords":3,"minValues":{"id":1},"maxValues":{"id":3}}'
    )


def test_a_checkpoint_written_here_is_read_by_deltalake_without_the_commits(tmp_path):
    log = create(tmp_path)
    log.begin().commit([data_file(tmp_path, "a", "x"), data_file(tmp_path, "b", "y z%")], "WRITE")
    log.begin().commit(
        [log.update().files().adds()[0].remove(int(time.time() * 1000)), Txn("app", 4)], "DELETE"
    )
    log.checkpoint()
    for version in range(2):
        (tmp_path / "_delta_log" / f"{version:020d}.json").unlink()
    theirs = deltalake.DeltaTable(tmp_path)
    assert theirs.version() == 2
    assert theirs.to_pyarrow_table().sort_by("id").to_pydict() == {"id": [1, 2, 3], "p": ["y z%"] * 3}
    assert theirs.transaction_version("app") == 4


def test_a_checkpoint_of_texts_alone_asks_no_jvm(tmp_path, monkeypatch):
    def fail() -> None:
        pytest.fail("the JVM was asked")

    log = create(tmp_path)
    log.begin().commit([data_file(tmp_path, "a", "x")], "WRITE")
    monkeypatch.setattr(SparkSession, "getActiveSession", fail)
    log.checkpoint()
    assert (tmp_path / "_delta_log" / f"{1:020d}.checkpoint.parquet").exists()


def test_what_is_replaced_leaves_no_checksum_of_hadoop_behind(tmp_path):
    log = create(tmp_path)
    folder = tmp_path / "_delta_log"
    stale = [folder / f".{name}.crc" for name in (f"{0:020d}.checkpoint.parquet", "_last_checkpoint")]
    for file in stale:
        file.write_bytes(b"crc\x00 of another writer's file")
    log.checkpoint()
    assert not any(file.exists() for file in stale)
    assert deltalake.DeltaTable(tmp_path).version() == 0


def test_a_checkpoint_gives_back_the_whole_state(tmp_path):
    log = create(tmp_path, delta__enableDeletionVectors="true", delta__feature__domainMetadata="supported")
    vector = DeletionVector("u", "a" * 20, 1, 40, 2)
    actions: list[Action] = [
        Add(
            "a%20b",
            {"p": None},
            5,
            6,
            stats='{"numRecords":3}',
            tags={"k": "v", "n": None},
            deletion_vector=vector,
        ),
        Add("c", {"p": ""}, 7, 8),
        Txn("app", 1, 9),
        DomainMetadata("mine", '{"x":1}'),
        DomainMetadata("gone", "", removed=True),
    ]
    log.begin().commit(actions, "WRITE")
    now = int(time.time() * 1000)
    log.begin().commit([log.update().files().adds()[1].remove(now)], "DELETE")
    before = log.update()
    log.checkpoint()
    for version in range(3):
        (tmp_path / "_delta_log" / f"{version:020d}.json").unlink()
    DeltaLog.forget(tmp_path)
    after = DeltaLog.for_path(tmp_path).update()
    assert after.version == 2
    assert after.files().adds() == [before.files().adds()[0].with_data_change(False)]
    assert [remove.path for remove in after.tombstones().removes()] == ["c"]
    assert (after.txns, after.metadata, after.protocol) == (before.txns, before.metadata, before.protocol)
    assert set(after.domains) == {"mine"}


def test_a_checkpoint_comes_with_every_interval_and_a_hint_with_a_true_checksum(tmp_path):
    log = create(tmp_path, delta__checkpointInterval="3")
    for number in range(7):
        log.begin().commit([Add(f"f{number}", {"p": "x"}, 1, 1)], "WRITE")
    folder = tmp_path / "_delta_log"
    assert sorted(file.name[:20] for file in folder.glob("*.checkpoint.parquet")) == [
        f"{3:020d}",
        f"{6:020d}",
    ]
    hint = json.loads((folder / "_last_checkpoint").read_text())
    assert hint["version"] == 6
    assert hint["numOfAddFiles"] == 6
    assert hint["size"] == 8
    assert hint["sizeInBytes"] == (folder / f"{6:020d}.checkpoint.parquet").stat().st_size
    assert hint["checksum"] == canonical_checksum(hint)


def test_an_older_checkpoint_does_not_take_the_hint_back(tmp_path):
    log = create(tmp_path)
    for number in range(2):
        log.begin().commit([Add(f"f{number}", {"p": "x"}, 1, 1)], "WRITE")
    log.checkpoint()
    log.checkpoint(log.snapshot(1))
    assert json.loads((tmp_path / "_delta_log" / "_last_checkpoint").read_text())["version"] == 2


def test_tombstones_are_kept_as_long_as_their_retention(tmp_path):
    log = create(tmp_path, delta__deletedFileRetentionDuration="interval 2 days")
    log.begin().commit([Add(name, {"p": "x"}, 1, 1) for name in "abc"], "WRITE")
    now = int(time.time() * 1000)
    first, second, _ = log.update().files().adds()
    log.begin().commit([first.remove(now - 3 * DAY * 1000), second.remove(now - DAY * 1000)], "DELETE")
    log.checkpoint()
    for version in range(3):
        (tmp_path / "_delta_log" / f"{version:020d}.json").unlink()
    DeltaLog.forget(tmp_path)
    assert DeltaLog.for_path(tmp_path).update().tombstones().raw_paths() == ["b"]


def test_statistics_are_left_out_of_checkpoints_where_the_table_says_so(tmp_path):
    log = create(tmp_path, delta__checkpoint__writeStatsAsJson="false")
    log.begin().commit([Add("a", {"p": "x"}, 1, 1, stats='{"numRecords":1}')], "WRITE")
    log.checkpoint()
    schema = pq.read_schema(tmp_path / "_delta_log" / f"{1:020d}.checkpoint.parquet")
    assert "stats" not in [field.name for field in schema.field("add").type]


def aged(table: Path, days: dict[int, int]) -> None:
    """Set the file times of the commits, in days ago."""
    for version, ago in days.items():
        moment = time.time() - ago * DAY
        os.utime(table / "_delta_log" / f"{version:020d}.json", (moment, moment))


def left(table: Path) -> list[str]:
    return sorted(
        file.name for file in (table / "_delta_log").iterdir() if not file.name.startswith((".", "_"))
    )


@pytest.mark.parametrize("with_checkpoint", (True, False))
def test_old_commits_go_as_far_as_a_checkpoint_replaces_them(tmp_path, with_checkpoint):
    log = create(tmp_path, delta__logRetentionDuration="interval 10 days")
    for number in range(6):
        log.begin().commit([Add(f"f{number}", {"p": "x"}, 1, 1)], "WRITE")
    if with_checkpoint:
        log.checkpoint(log.snapshot(3))
        log.checkpoint(log.snapshot(6))
    aged(tmp_path, {0: 40, 1: 30, 2: 20, 3: 15, 4: 13, 5: 1, 6: 0})
    log.clean_up()
    commits = [name for name in left(tmp_path) if name.endswith(".json")]
    first = 3 if with_checkpoint else 0
    assert commits == [f"{version:020d}.json" for version in range(first, 7)]
    DeltaLog.forget(tmp_path)
    assert DeltaLog.for_path(tmp_path).update().num_files == 6
    assert DeltaLog.for_path(tmp_path).snapshot(4).num_files == 4
    assert (f"{0:020d}.crc" in left(tmp_path)) != with_checkpoint


def test_nothing_is_cleaned_up_before_its_retention_is_over(tmp_path):
    log = create(tmp_path)
    for number in range(3):
        log.begin().commit([Add(f"f{number}", {"p": "x"}, 1, 1)], "WRITE")
    log.checkpoint()
    before = left(tmp_path)
    assert log.clean_up() == []
    assert left(tmp_path) == before


def test_clean_up_follows_a_checkpoint_unless_the_table_forbids_it(tmp_path):
    for name, expected in (("true", 2), ("false", 0)):
        table = tmp_path / name
        log = create(table, delta__checkpointInterval="2", delta__enableExpiredLogCleanup=name)
        for number in range(3):
            log.begin().commit([Add(f"f{number}", {"p": "x"}, 1, 1)], "WRITE")
        aged(table, dict.fromkeys(range(4), 50))
        log.begin().commit([Add("last", {"p": "x"}, 1, 1)], "WRITE")
        assert min(int(file[:20]) for file in left(table) if file.endswith(".json")) == expected


def test_sidecars_that_no_checkpoint_names_go_after_a_day(tmp_path):
    log = create(tmp_path, delta__logRetentionDuration="interval 10 days")
    for number in range(3):
        log.begin().commit([Add(f"f{number}", {"p": "x"}, 1, 1)], "WRITE")
    log.checkpoint()
    sidecars = tmp_path / "_delta_log" / "_sidecars"
    sidecars.mkdir()
    for name, days in (("old.parquet", 5), ("new.parquet", 0)):
        logs.checkpoint(sidecars / name, [logs.add("x")])
        os.utime(sidecars / name, (time.time() - days * DAY,) * 2)
    aged(tmp_path, dict.fromkeys(range(4), 50))
    log.clean_up()
    assert [file.name for file in sidecars.iterdir()] == ["new.parquet"]


def test_deltalake_cleans_up_nothing_that_is_needed_here(tmp_path):
    log = create(tmp_path, delta__logRetentionDuration="interval 1 days")
    for number in range(4):
        log.begin().commit([data_file(tmp_path, f"f{number}", "x")], "WRITE")
    log.checkpoint()
    aged(tmp_path, dict.fromkeys(range(5), 50))
    deltalake.DeltaTable(tmp_path).cleanup_metadata()
    DeltaLog.forget(tmp_path)
    assert DeltaLog.for_path(tmp_path).update().files().total_rows() == 12
