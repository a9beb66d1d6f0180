"""One Spark session for all tests of the engine, without a Delta JAR; delta-spark itself in a process of its own."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from tests.pyspark_delta.delta_spark import DeltaSpark

SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.driver.memory": "1g",
    "spark.sql.shuffle.partitions": "2",
    "spark.default.parallelism": "2",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.sources.parallelPartitionDiscovery.parallelism": "2",
    # the heap and the room for classes are there from the start: less collecting (docs/decisions/0013)
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
    """delta-spark, started when the first test asks for it."""
    with DeltaSpark(tmp_path_factory.mktemp("delta-spark")) as running:
        yield running


@pytest.fixture
def table(tmp_path: Path) -> str:
    """The path of a table that is not there yet."""
    return str(tmp_path / "table")
