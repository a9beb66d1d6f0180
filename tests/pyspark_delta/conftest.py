"""Fixtures for the engine's tests: one Spark session without a Delta JAR, and delta-spark in its own process."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from pyspark_delta import DeltaTable, write
from tests.pyspark_delta.delta_spark import DeltaSpark
from tests.pyspark_delta.small_tables import VECTORS

SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.driver.memory": "1g",
    "spark.sql.shuffle.partitions": "2",
    "spark.default.parallelism": "2",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.sources.parallelPartitionDiscovery.parallelism": "2",
    # heap and metaspace have their final size from the start, which saves collections (docs/decisions/0013)
    "spark.driver.extraJavaOptions": "-Duser.timezone=UTC -Dlog4j2.level=ERROR -XX:+UseSerialGC -Xms1g -Xmn500m "
    "-XX:MetaspaceSize=300m",
}


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """The session that tests share; a test that changes a setting puts it back."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master("local[2]").appName("pyspark_delta tests")
    for key, value in SETTINGS.items():
        builder = builder.config(key, value)
    session = builder.config(
        "spark.sql.warehouse.dir", str(tmp_path_factory.mktemp("warehouse"))
    ).getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()


@pytest.fixture(scope="session")
def delta_spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DeltaSpark]:
    """delta-spark, started when the first test uses it."""
    with DeltaSpark(tmp_path_factory.mktemp("delta-spark")) as running:
        yield running


@pytest.fixture
def table(tmp_path: Path) -> str:
    """A path where no table exists yet."""
    return str(tmp_path / "table")


@pytest.fixture
def marked(spark: SparkSession, table: str) -> str:
    """A partitioned table with hostile values and deletion vectors."""
    texts = ["a+b %41", "c/d", "{x}*", None]
    data = pa.table({"id": list(range(40)), "p": [texts[n % 4] for n in range(40)]})
    write(spark.createDataFrame(data), table, partition_by="p", properties=VECTORS)
    DeltaTable.forPath(spark, table).delete("id in (3, 17)")
    return table
