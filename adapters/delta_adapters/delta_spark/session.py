"""Start a small Spark session with delta-spark's JARs, configured as its documentation says."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from delta_adapters.delta_spark import class_archive
from delta_adapters.delta_spark.jars import with_build
from delta_adapters.local_builds import JARS_VARIABLE, jar_version, jars_of
from delta_adapters.spark import session
from delta_adapters.spark.java import find_java


def start_session(work: Path) -> Any:
    """Return a session with its files under `work`. Fetches the JARs if they are not in the cache."""
    java = find_java()
    build = os.environ.get(JARS_VARIABLE)
    jars = with_build(Path(build) if build else None, java=java)
    return session.start_session(work, settings(jars), java, class_archive.java_options(java, jars))


def build_version() -> str | None:
    """Return the version of the JAR that this host was told to use in place of the resolved one, None without one."""
    build = os.environ.get(JARS_VARIABLE)
    return jar_version(jars_of("delta-spark", Path(build))[0])[2] if build else None


def settings(jars: tuple[Path, ...]) -> dict[str, str]:
    """Return delta-spark's own settings, and those that tune it for tables of a few rows."""
    return {
        "spark.driver.extraClassPath": os.pathsep.join(map(str, jars)),
        "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
        "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
        "spark.sql.sources.parallelPartitionDiscovery.parallelism": "2",
        "spark.databricks.delta.snapshotPartitions": "1",
    }
