"""Start one Spark session for a host, tuned for tables of a few rows.

Every setting here is one that a user of Spark can make. None of them turns off a part of an engine that reads or
writes a table.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from delta_adapters.spark.java import BRIEF, Java

LOGGING = """\
status = error
rootLogger.level = error
rootLogger.appenderRef.stderr.ref = stderr
appender.stderr.type = Console
appender.stderr.name = stderr
appender.stderr.target = SYSTEM_ERR
appender.stderr.layout.type = PatternLayout
appender.stderr.layout.pattern = %d{HH:mm:ss} %p %c{1}: %m%n%ex{2}
"""


def start_session(
    work: Path, more: Mapping[str, str], java: Java, more_java_options: tuple[str, ...] = ()
) -> Any:
    """Return a SparkSession that keeps its files under `work`, with `more` settings that its engine needs."""
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
    for key, value in (settings(work, more_java_options) | dict(more)).items():
        builder = builder.config(key, value)
    return builder.getOrCreate()


def stop_session(spark: Any) -> None:
    """End the session and its JVM."""
    from pyspark import SparkContext  # noqa: PLC0415

    gateway = SparkContext._gateway  # noqa: SLF001 - pyspark keeps the JVM for the next session, and has no call to end it
    spark.stop()
    if gateway is not None and gateway.proc is not None:  # a JVM that this process did not start goes on
        process = gateway.proc
        gateway.shutdown()
        process.stdin.close()  # the JVM ends when this pipe does
        process.wait()
        SparkContext._gateway = SparkContext._jvm = None  # noqa: SLF001


def settings(work: Path, more_java_options: tuple[str, ...] = ()) -> dict[str, str]:
    """Return the configuration that the sessions of all engines share."""
    return {
        "spark.app.name": "delta-conformance",
        "spark.master": "local[2]",
        "spark.driver.memory": "1g",
        "spark.driver.extraJavaOptions": java_options(work, more_java_options),
        # the session is not reachable from other machines, and leaves no files outside of `work`
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
        # measured: each plan is new, so what is compiled for it runs once; a third of the CPU time
        "spark.sql.codegen.wholeStage": "false",
        "spark.sql.codegen.factoryMode": "NO_CODEGEN",
        "spark.storage.blockManagerHeartbeatTimeoutMs": "4000d",  # its clock may be moved on by months
        "spark.sql.ui.explainMode": "simple",  # Spark writes each plan out for a page that is switched off
        # what the harness means by an operation
        "spark.sql.session.timeZone": "UTC",
        "spark.databricks.delta.retentionDurationCheck.enabled": "false",  # Vacuum(0) is drawn on purpose
    }


def java_options(work: Path, more: tuple[str, ...] = ()) -> str:
    """Return the JVM's options, as one text that Spark's launcher splits again."""
    options = (
        "-XX:+UseSerialGC",
        "-Xms1g",  # measured: with the heap and the room for classes as the JVM makes them,
        "-Xmn500m",  # 650 collections in 200 s, five of them full ones while Spark starts
        "-XX:MetaspaceSize=300m",
        "-Djava.net.preferIPv4Stack=true",
        f"-Djava.io.tmpdir={work / 'tmp'}",
        f"-Dlog4j2.configurationFile={(work / 'log4j2.properties').as_uri()}",
        # measured: without the second compiler the first 50 calls take a third less, those after 150 a third more
        *(("-XX:TieredStopAtLevel=1",) if os.environ.get(BRIEF) == "1" else ()),
        *more,
    )
    return " ".join(option if option.isascii() and " " not in option else f'"{option}"' for option in options)
