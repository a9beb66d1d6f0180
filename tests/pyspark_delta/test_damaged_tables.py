"""A damaged table raises a named error, and no byte of it changes."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from pyspark_delta import DeltaTable, missing_files, read, write
from pyspark_delta import exceptions as errors
from pyspark_delta.log.delta_log import DeltaLog
from tests.pyspark_delta import logs

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def whole(spark, tmp_path_factory):
    """An undamaged table of three versions: files with and without deleted rows, a checkpoint, a hint."""
    path = tmp_path_factory.mktemp("whole") / "table"
    properties = {"delta.enableDeletionVectors": "true"}
    write(spark.range(5).coalesce(1), str(path), properties=properties)
    write(spark.range(5, 10).coalesce(1), str(path), "append")
    DeltaTable.forPath(spark, str(path)).delete("id = 7")
    DeltaTable.forPath(spark, str(path)).checkpoint()
    return path


def commit_file(table: Path, version: int) -> Path:
    return table / "_delta_log" / f"{logs.name(version)}.json"


def no_log(table: Path) -> None:
    shutil.rmtree(table / "_delta_log")


def empty_log(table: Path) -> None:
    no_log(table)
    (table / "_delta_log").mkdir()


def without_checkpoint(table: Path) -> None:
    for path in (table / "_delta_log").glob("*checkpoint*"):
        path.unlink()


def gap(table: Path) -> None:
    without_checkpoint(table)
    commit_file(table, 1).unlink()


def torn_commit(table: Path) -> None:
    whole = commit_file(table, 2).read_bytes()
    commit_file(table, 3).write_bytes(whole[: len(whole) // 2])


def corrupt_checkpoint_alone(table: Path) -> None:
    checkpoint = next((table / "_delta_log").glob("*.checkpoint.parquet"))
    checkpoint.write_bytes(checkpoint.read_bytes()[:100])
    commit_file(table, 0).unlink()


def corrupt_vector(table: Path) -> None:
    vector = next(table.glob("deletion_vector_*.bin"))
    content = bytearray(vector.read_bytes())
    content[-1] ^= 1
    vector.write_bytes(content)


def missing_vector(table: Path) -> None:
    next(table.glob("deletion_vector_*.bin")).unlink()


def missing_file(table: Path) -> None:
    missing = next(path for path in table.glob("*.parquet") if pq.read_table(path)["id"].to_pylist()[0] == 0)
    missing.unlink()


def unknown_feature(table: Path) -> None:
    logs.commit(
        table,
        3,
        {
            "protocol": {
                "minReaderVersion": 3,
                "minWriterVersion": 7,
                "readerFeatures": ["deletionVectors", "fromTheFuture"],
                "writerFeatures": ["deletionVectors", "fromTheFuture"],
            }
        },
    )


DAMAGES: list[tuple[Callable[[Path], None], type[errors.DeltaError], str]] = [
    (no_log, errors.NotADeltaTable, "table"),
    (empty_log, errors.EmptyLog, "no commit and no checkpoint"),
    (gap, errors.LogGap, "version 1"),
    (torn_commit, errors.CorruptLog, "version 3 is damaged in line"),
    (corrupt_checkpoint_alone, errors.CorruptCheckpoint, "checkpoint"),
    (corrupt_vector, errors.CorruptDeletionVector, "checksum"),
    (missing_vector, errors.CorruptDeletionVector, "missing"),
    (missing_file, errors.MissingDataFile, "version 0"),
    (unknown_feature, errors.UnsupportedTableFeature, "fromTheFuture"),
]


def everything(table: Path) -> dict[str, bytes]:
    return {str(path.relative_to(table)): path.read_bytes() for path in table.rglob("*") if path.is_file()}


@pytest.mark.parametrize(("damage", "error", "message"), DAMAGES, ids=[case[0].__name__ for case in DAMAGES])
def test_what_can_not_be_right_is_refused_by_name_and_stays_as_it_is(
    spark, whole, tmp_path, damage, error, message
):
    table = tmp_path / "table"
    shutil.copytree(whole, table)
    damage(table)
    before = everything(table)

    def change() -> Any:
        return DeltaTable.forPath(spark, str(table)).update("id < 100", {"id": "id + 1"})

    for call in (lambda: read(spark, str(table)).collect(), change):
        with pytest.raises(error, match=message) as refused:
            call()
        assert refused.value.cure
        assert everything(table) == before
    assert DeltaTable.isDeltaTable(spark, str(table)) == (damage is not no_log and damage is not empty_log)


def test_in_a_table_of_very_many_files_the_job_that_hits_a_missing_one_reports_it(
    spark, whole, tmp_path, monkeypatch
):
    monkeypatch.setattr(
        missing_files, "_CHECKED_FILES", 0
    )  # pretend that the table has too many files for a check of each
    table = tmp_path / "ta ble"
    shutil.copytree(whole, table)
    missing_file(table)
    before = everything(table)
    broken = DeltaTable.forPath(spark, str(table))
    for call in (
        lambda: broken.update("id < 100", {"id": "id + 1"}),
        lambda: broken.delete("id = 1"),
        broken.optimize().executeCompaction,
        broken.toDF().where("id < 100").collect,
        lambda: read(spark, str(table), version=1).agg({"id": "sum"}).collect(),
    ):
        with pytest.raises(errors.MissingDataFile, match="added by version 0"):
            call()
        assert everything(table) == before


@pytest.mark.parametrize("hint", ('{"version": 77, "size": 1}', '{"version": 2, "si', "no json"))
def test_a_hint_that_points_nowhere_changes_no_answer(spark, whole, tmp_path, hint):
    table = tmp_path / "table"
    shutil.copytree(whole, table)
    (table / "_delta_log" / "_last_checkpoint").write_text(hint)
    assert read(spark, str(table)).count() == 9


def test_a_corrupt_checkpoint_is_made_good_by_the_commits_with_a_warning(spark, whole, tmp_path, caplog):
    table = tmp_path / "table"
    shutil.copytree(whole, table)
    checkpoint = next((table / "_delta_log").glob("*.checkpoint.parquet"))
    checkpoint.write_bytes(checkpoint.read_bytes()[:100])
    assert read(spark, str(table)).count() == 9
    assert checkpoint.name in caplog.text


def test_all_differences_are_reported_at_once_and_nothing_is_written(spark, whole, tmp_path):
    table = tmp_path / "table"
    shutil.copytree(whole, table)
    before = everything(table)
    with pytest.raises(errors.SchemaMismatch) as refused:
        write(spark.sql("select 'x' as id, 1 as one, 2 as two"), str(table), "append")
    assert len(refused.value.differences) == 3
    assert everything(table) == before
    assert DeltaLog.for_path(table).update().version == 2
