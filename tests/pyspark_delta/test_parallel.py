"""Work on very many files runs as Spark jobs and has the same result."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from pyspark_delta import DeltaTable, parallel, write
from pyspark_delta.exceptions import MissingDataFile
from pyspark_delta.log.delta_log import DeltaLog
from tests.pyspark_delta.small_tables import let_a_millisecond_pass

pytestmark = pytest.mark.slow


def test_work_on_very_many_files_is_spark_jobs(spark, table, tmp_path, monkeypatch):
    monkeypatch.setattr(parallel, "JOB_FROM", 2)
    write(spark.range(0, 30, 1, 3), table)
    adds = DeltaLog.for_path(table).update().files().adds()
    assert sorted(json.loads(add.stats or "")["minValues"]["id"] for add in adds) == [0, 10, 20]
    changed = DeltaTable.forPath(spark, table)
    changed.delete()
    changed.restoreToVersion(0)
    copy = changed.clone(str(tmp_path / "copy"), isShallow=False)
    assert copy.count() == copy.toDF().count() == 30
    (tmp_path / "plain").mkdir()
    for add in adds:
        shutil.copy(Path(table) / add.path, tmp_path / "plain")
    converted = DeltaTable.convertToDelta(spark, f"parquet.`{tmp_path / 'plain'}`")
    assert converted.count() == converted.toDF().count() == 30
    changed.delete()
    let_a_millisecond_pass()
    spark.conf.set("spark.databricks.delta.retentionDurationCheck.enabled", "false")
    changed.vacuum(0)
    spark.conf.unset("spark.databricks.delta.retentionDurationCheck.enabled")
    assert not any((Path(table) / add.path).exists() for add in adds)
    with pytest.raises(MissingDataFile, match="3 of its files"):
        changed.restoreToVersion(0)
    (tmp_path / "copy" / adds[0].path).unlink()
    with pytest.raises(MissingDataFile, match="is not there"):
        copy.clone(str(tmp_path / "copy of copy"), isShallow=False)
    assert not list((tmp_path / "copy of copy").rglob("*.parquet"))
