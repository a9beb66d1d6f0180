"""One Spark session without any JAR but its own, tuned for tables of a few rows: started once a host, and reused."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

from delta_adapters.delta_spark import archive
from delta_adapters.delta_spark.java import find_java
from delta_adapters.delta_spark.session import LOGGING, java_options


def start_session(work: Path) -> Any:
    """A SparkSession that keeps everything of its own under `work`."""
    java = find_java()
    for folder in ("tmp", "local", "warehouse"):
        (work / folder).mkdir(parents=True, exist_ok=True)
    (work / "log4j2.properties").write_text(LOGGING, encoding="utf-8")
    os.environ |= {
        "JAVA_HOME": str(java.home),
        "PYSPARK_PYTHON": sys.executable,
        "PYSPARK_DRIVER_PYTHON": sys.executable,
        "SPARK_LOCAL_IP": "127.0.0.1",  # no look-up of the machine's own name
        "SPARK_LOCAL_DIRS": str(work / "local"),
    }
    os.environ.pop("PYSPARK_SUBMIT_ARGS", None)
    from pyspark.sql import SparkSession  # noqa: PLC0415 - takes a second, and the environment must be right before

    builder = SparkSession.builder
    for key, value in settings(work, archive.java_options(java, ())).items():
        builder = builder.config(key, value)
    return builder.getOrCreate()


def settings(work: Path, more_java_options: tuple[str, ...] = ()) -> dict[str, str]:
    """The configuration of the session: nothing in it that a user of plain Spark could not set."""
    return {
        "spark.app.name": "delta-conformance",
        "spark.master": "local[2]",
        "spark.driver.memory": "1g",
        "spark.driver.extraJavaOptions": java_options(work, more_java_options),
        # nothing of ours is seen from outside, and nothing of it is left anywhere else
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.sql.catalogImplementation": "in-memory",
        "spark.sql.warehouse.dir": (work / "warehouse").as_uri(),
        "spark.local.dir": str(work / "local"),
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        # tables of a few rows: tasks cost more than the work in them
        "spark.sql.shuffle.partitions": "1",
        "spark.default.parallelism": "1",
        "spark.sql.adaptive.enabled": "false",
        "spark.sql.codegen.wholeStage": "false",  # measured: to compile costs more than it saves, a sixth of the CPU
        # what the harness means by an operation
        "spark.sql.session.timeZone": "UTC",
        "spark.databricks.delta.retentionDurationCheck.enabled": "false",  # Vacuum(0) is asked for on purpose
    }
