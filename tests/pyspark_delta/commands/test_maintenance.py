"""Optimize, vacuum, restore, clone, convert, generate, history and detail."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable as Deltalake
from deltalake import write_deltalake

from pyspark_delta import DeltaTable, write
from pyspark_delta.commands import zorder
from pyspark_delta.exceptions import (
    DeltaAnalysisError,
    InvalidArgument,
    MissingDataFile,
    RetentionTooShort,
    SchemaMismatch,
    TableExists,
    VersionNotFound,
)
from pyspark_delta.log.delta_log import DeltaLog
from tests.pyspark_delta.small_tables import actions, age, files, ids, let_a_millisecond_pass, live, several

pytestmark = pytest.mark.slow

VECTORS = {"delta.enableDeletionVectors": "true"}
CHECK = "spark.databricks.delta.retentionDurationCheck.enabled"


@pytest.fixture
def unchecked(spark):
    spark.conf.set(CHECK, "false")
    yield
    spark.conf.unset(CHECK)


class TestOptimize:
    def test_small_files_become_one_and_a_second_run_finds_nothing_to_do(self, spark, table):
        target = several(spark, table, (1, 2), (3,), (4, 5, 6))
        result = target.optimize().executeCompaction().collect()[0]
        assert (result["metrics"]["numFilesAdded"], result["metrics"]["numFilesRemoved"]) == (1, 3)
        assert (live(table), ids(spark, table)) == (1, [1, 2, 3, 4, 5, 6])
        assert not any(action["dataChange"] for action in actions(table, "add") + actions(table, "remove"))
        target.optimize().executeCompaction()
        assert DeltaLog.for_path(table).update().version == 3

    def test_only_the_chosen_partitions_are_touched(self, spark, table):
        for part in ("x", "y"):
            for number in (1, 2):
                frame = spark.sql(f"select {number} id, '{part}' p")
                write(frame, table, mode="append", partition_by="p")
        target = DeltaTable.forPath(spark, table)
        target.optimize().where("p = 'y'").executeCompaction()
        assert (live(table), len(ids(spark, table))) == (3, 4)
        with pytest.raises(InvalidArgument, match="not partitioned by"):
            target.optimize().where("id = 1").executeCompaction()

    def test_files_grow_up_to_the_target_size(self, spark, table):
        target = several(spark, table, *((number,) for number in range(6)))
        size = DeltaLog.for_path(table).update().size_in_bytes // 6
        spark.conf.set("spark.databricks.delta.optimize.maxFileSize", str(2 * size + 1))
        try:
            target.optimize().executeCompaction()
        finally:
            spark.conf.unset("spark.databricks.delta.optimize.maxFileSize")
        assert (live(table), ids(spark, table)) == (3, list(range(6)))

    def test_a_file_with_many_deleted_rows_is_rewritten_alone(self, spark, table):
        target = several(spark, table, (1, 2, 3), properties=VECTORS)
        target.delete("id = 2")
        target.optimize().executeCompaction()
        assert actions(table, "add")[0].get("deletionVector") is None
        assert ids(spark, table) == [1, 3]

    def test_z_order_brings_near_rows_together(self, spark, table, monkeypatch):
        monkeypatch.setattr(zorder, "SAMPLED_ROWS", 1024)
        # The rows are ordered by one column, so a sample of the first rows would say nothing about the others.
        frame = (
            spark.range(4096)
            .selectExpr("id", "id % 64 x", "id div 64 y", "concat('n', id % 64) n")
            .repartitionByRange(4, "x")
            .sortWithinPartitions("x")
        )
        write(frame, table)
        target = DeltaTable.forPath(spark, table)
        size = DeltaLog.for_path(table).update().size_in_bytes // 8
        spark.conf.set("spark.databricks.delta.optimize.maxFileSize", str(size))
        try:
            target.optimize().executeZOrderBy("x", "y")
        finally:
            spark.conf.unset("spark.databricks.delta.optimize.maxFileSize")
        statistics = [json.loads(add["stats"]) for add in actions(table, "add")]
        assert len(statistics) > 3
        assert sum(file["numRecords"] for file in statistics) == 4096
        spans = [
            file["maxValues"][name] - file["minValues"][name] for file in statistics for name in ("x", "y")
        ]
        assert sum(spans) / len(spans) < 48
        with pytest.raises(DeltaAnalysisError, match="no column nope"):
            target.optimize().executeZOrderBy("nope")

    def test_purge_leaves_no_deletion_vector(self, spark, table):
        target = several(spark, table, tuple(range(100)), (200, 201), properties=VECTORS)
        target.delete("id = 7 or id = 200")
        target.purge()
        assert not DeltaLog.for_path(table).update().files().has_deletion_vectors()
        assert ids(spark, table) == [*range(7), *range(8, 100), 201]


class TestVacuum:
    def test_what_no_version_needs_goes_and_the_rest_stays(self, spark, table, unchecked):
        target = several(spark, table, (1, 2, 3), (4,), properties=VECTORS)
        target.delete("id = 2")
        target.delete("id = 4")
        stranger, hidden = Path(table, "stranger.parquet"), Path(table, "_hidden", "x.parquet")
        unfinished, fresh = (Path(table, f"_temporary_{digit * 32}", "x") for digit in "01")
        staged = Path(table, "_delta_log", f".{7:020d}.json.{'0' * 32}.tmp")
        for path in (stranger, hidden, unfinished, fresh, staged):
            path.parent.mkdir(exist_ok=True)
            path.write_text("x")
        age(stranger, hidden, unfinished, unfinished.parent, staged)
        dry = [row[0] for row in target.vacuum(0, dryRun=True).collect()]
        assert {str(stranger), str(unfinished), str(staged)} <= set(dry)
        assert stranger.exists()
        assert unfinished.exists()
        target.vacuum(0)
        assert not staged.exists()
        left = {file.name for file in files(table) if not file.name.startswith(".")}
        assert hidden.exists()
        assert fresh.exists()
        assert not unfinished.parent.exists()
        assert "stranger.parquet" not in left
        assert sum(name.endswith(".parquet") for name in left) == 2  # the live one and the hidden one
        assert sum(name.startswith("deletion_vector") for name in left) == 1
        assert ids(spark, table) == [1, 3]
        assert [row["operation"] for row in target.history(2).collect()] == ["VACUUM END", "VACUUM START"]

    def test_files_within_the_retention_stay(self, spark, table):
        target = several(spark, table, (1,), (2,))
        target.delete("id = 1")
        stranger = Path(table, "stranger.parquet")
        stranger.write_text("x")
        target.vacuum()
        assert stranger.exists()
        assert target._log.snapshot(1).files().paths()[0]
        assert len([file for file in files(table) if file.suffix == ".parquet"]) == 3

    def test_a_short_retention_is_refused_unless_that_is_switched_off(self, spark, table):
        target = several(spark, table, (1,))
        with pytest.raises(RetentionTooShort, match="shorter than the table's own 168"):
            target.vacuum(1)
        with pytest.raises(InvalidArgument, match="future"):
            target.vacuum(-1)

    def test_a_table_reached_through_a_link_keeps_its_files(self, spark, table, tmp_path, unchecked):
        several(spark, table, (1,), (2,)).delete("id = 1")
        (tmp_path / "link").symlink_to(table)
        target = DeltaTable.forPath(spark, str(tmp_path / "link"))
        target.vacuum(0)
        assert ids(spark, table) == [2]

    def test_a_retention_longer_than_the_tables_own_is_kept_too(self, spark, table, unchecked):
        target = several(
            spark, table, (1,), (2,), properties={"delta.deletedFileRetentionDuration": "interval 0 hours"}
        )
        target.delete("id = 1")
        age(*files(table))
        target._log.checkpoint()
        DeltaLog.forget(table)
        target = DeltaTable.forPath(spark, table)
        target.vacuum(24)
        assert len([file for file in files(table) if file.suffix == ".parquet"]) == 2
        target.vacuum()
        assert len([file for file in files(table) if file.suffix == ".parquet"]) == 1


class TestRestore:
    def test_an_older_version_becomes_the_newest(self, spark, table):
        target = several(spark, table, (1,), (2, 3), properties=VECTORS)
        target.delete("id = 2")
        target.delete("id = 1")
        result = target.restoreToVersion(1).collect()[0].asDict()
        assert (result["num_restored_files"], result["num_removed_files"]) == (2, 1)
        assert ids(spark, table) == [1, 2, 3]
        with pytest.raises(VersionNotFound):
            target.restoreToVersion(99)
        with pytest.raises(InvalidArgument, match="already"):
            target.restoreToVersion(4)

    def test_a_time_is_as_good_as_a_version(self, spark, table):
        target = several(spark, table, (1,), (2,))
        age(Path(table, "_delta_log", f"{0:020}.json"), seconds=3600)
        DeltaLog.forget(table)
        target = DeltaTable.forPath(spark, table)
        target.restoreToTimestamp(time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(time.time() - 1800)))
        assert ids(spark, table) == [1]

    def test_what_was_vacuumed_can_not_be_restored(self, spark, table, unchecked):
        target = several(spark, table, (1,), (2,))
        target.delete("id = 1")
        let_a_millisecond_pass()
        target.vacuum(0)
        with pytest.raises(MissingDataFile, match="can't be restored"):
            target.restoreToVersion(1)
        assert ids(spark, table) == [2]


class TestClone:
    def test_a_shallow_one_refers_to_its_source_and_a_deep_one_stands_alone(self, spark, table, tmp_path):
        target = several(spark, table, (1, 2, 3), (4,), properties=VECTORS)
        target.delete("id = 2")
        shallow, deep = str(tmp_path / "shal low"), str(tmp_path / "deep")
        target.clone(shallow, isShallow=True)
        target.clone(deep, properties={"owner": "me"})
        target.cloneAtVersion(1, str(tmp_path / "old"), isShallow=True)
        assert [row[0] for row in DeltaTable.forPath(spark, str(tmp_path / "old")).toDF().collect()] == [
            1,
            2,
            3,
            4,
        ]
        assert ids(spark, deep) == [1, 3, 4]
        DeltaTable.forPath(spark, shallow).delete("id = 1")
        assert sorted(row[0] for row in DeltaTable.forPath(spark, shallow).toDF().collect()) == [3, 4]
        assert ids(spark, table) == [1, 3, 4]
        assert len([file for file in files(shallow) if file.suffix == ".parquet"]) == 0
        assert DeltaTable.forPath(spark, deep).detail().collect()[0]["properties"]["owner"] == "me"
        with pytest.raises(TableExists):
            target.clone(deep)
        target.clone(deep, replace=True)
        assert ids(spark, deep) == [1, 3, 4]


class TestConvert:
    def test_a_folder_of_parquet_becomes_a_table_without_being_rewritten(self, spark, tmp_path):
        folder = str(tmp_path / "data")
        spark.sql("select 1 id, 'a=b' p union all select 2, null").write.partitionBy("p").parquet(folder)
        before = files(folder)
        converted = DeltaTable.convertToDelta(spark, f"parquet.`{folder}`", "p string")
        assert files(folder) == before
        assert sorted(map(tuple, converted.toDF().collect()), key=repr) == [(1, "a=b"), (2, None)]
        assert converted.count() == 2
        converted.delete("p is null")
        assert ids(spark, folder) == [1]
        assert DeltaTable.isDeltaTable(spark, folder)

    def test_another_partitioning_than_said_is_refused(self, spark, tmp_path):
        folder = str(tmp_path / "data")
        spark.sql("select 1 id, 'x' p").write.partitionBy("p").parquet(folder)
        with pytest.raises(SchemaMismatch, match="partitioned otherwise"):
            DeltaTable.convertToDelta(spark, f"parquet.`{folder}`")
        assert not DeltaTable.isDeltaTable(spark, folder)


class TestGenerate:
    def test_manifests_name_the_files_of_each_partition(self, spark, table):
        write(spark.sql("select 1 id, 'x' p union all select 2, 'y'"), table, partition_by="p")
        target = DeltaTable.forPath(spark, table)
        target.generate("symlink_format_manifest")
        target.delete("p = 'x'")
        target.generate("SYMLINK_FORMAT_MANIFEST")
        folder = Path(table, "_symlink_format_manifest")
        assert [path.name for path in folder.iterdir()] == ["p=y"]
        (line,) = (folder / "p=y" / "manifest").read_text().splitlines()
        assert pq.read_table(line.removeprefix("file:"))["id"].to_pylist() == [2]
        with pytest.raises(InvalidArgument, match="no mode"):
            target.generate("other")
        target.setProperties({"delta.compatibility.symlinkFormatManifest.enabled": "true"})
        target.delete("p = 'y'")
        write(spark.sql("select 3 id, 'z' p"), table, mode="append")
        assert [path.name for path in folder.iterdir()] == ["p=z"]


class TestDescription:
    def test_history_and_detail_show_what_was_done(self, spark, table):
        target = several(spark, table, (1, 2), (3,))
        target.delete("id = 3")
        entries = target.history().collect()
        assert [row["version"] for row in entries] == [2, 1, 0]
        assert entries[0]["operation"] == "DELETE"
        assert entries[0]["operationMetrics"]["numDeletedRows"] == "1"
        assert [row["version"] for row in target.history(1).collect()] == [2]
        detail = target.detail().collect()[0]
        assert (detail["format"], detail["numFiles"], detail["location"]) == (
            "delta",
            1,
            Path(table).as_uri(),
        )
        assert target.count() == 2

    def test_a_table_of_deltalake_has_a_detail_too(self, spark, table):
        write_deltalake(table, pa.table({"id": pa.array([1, 2], pa.int64())}))
        Deltalake(table).delete("id = 1")
        assert len(DeltaTable.forPath(spark, table).history().collect()) == 2
