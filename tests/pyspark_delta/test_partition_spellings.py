"""Partition values are compared by value, even if other writers spell them differently."""

from __future__ import annotations

from pathlib import Path

import pytest

from pyspark_delta import DeltaTable, file_index, read, write
from pyspark_delta.log.delta_log import DeltaLog
from tests.pyspark_delta import logs

pytestmark = pytest.mark.slow

ZONE = "spark.sql.session.timeZone"
MOMENT = "2024-02-29 12:30:01"


def respelled(table: str, **texts: str) -> None:
    """Replace texts in the first commit, given as `old=new`."""
    commit = Path(table, "_delta_log", f"{logs.name(0)}.json")
    body = commit.read_text()
    for old, new in texts.items():
        assert f'"{old}"' in body
        body = body.replace(f'"{old}"', f'"{new}"')
    commit.write_text(body)
    DeltaLog.forget(table)


@pytest.fixture
def in_new_york(spark):
    before = spark.conf.get(ZONE)
    spark.conf.set(ZONE, "America/New_York")
    yield
    spark.conf.set(ZONE, before)


def test_dynamic_overwrite_knows_a_partition_however_it_is_spelled(spark, table):
    old = spark.sql(
        f"select 1L id, 1.50BD d, timestamp'{MOMENT}' t union all select 2L, 2.50BD, timestamp'{MOMENT}'"
    )
    write(old, table, partition_by=("d", "t"))
    respelled(table, **{"1.50": "1.5", "2024-02-29T12:30:01.000000Z": MOMENT})
    write(
        spark.sql(f"select 3L id, 1.50BD d, timestamp'{MOMENT}' t"),
        table,
        "overwrite",
        partition_overwrite_mode="dynamic",
    )
    assert sorted(row["id"] for row in read(spark, table).collect()) == [2, 3]


def test_a_time_without_a_zone_is_the_sessions_as_for_delta_spark(
    spark, delta_spark, table, in_new_york, monkeypatch
):
    write(spark.sql(f"select id, timestamp'{MOMENT}' t from range(2)").coalesce(1), table, partition_by="t")
    respelled(table, **{"2024-02-29T17:30:01.000000Z": MOMENT})
    asked = f"t = timestamp'{MOMENT}'"
    theirs = delta_spark.run(
        f"""
        spark.conf.set("{ZONE}", "America/New_York")
        frame = DeltaTable.forPath(spark, path).toDF()
        result = [frame.selectExpr("unix_micros(t)").first()[0], frame.where(asked).count()]
        spark.conf.set("{ZONE}", "UTC")
        """,
        path=table,
        asked=asked,
    )
    frame = read(spark, table)
    assert theirs == [frame.selectExpr("unix_micros(t)").first()[0], frame.where(asked).count()]
    assert theirs[1] == 2
    with monkeypatch.context() as elsewhere:
        elsewhere.setattr(file_index, "_jvm_instance", lambda spark, name: None)
        assert read(spark, table).where(asked).count() == 2
    DeltaTable.forPath(spark, table).delete(asked)
    assert read(spark, table).count() == 0
