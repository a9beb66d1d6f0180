"""What delta-spark's quick start asks of a session's builder: here there is no JAR to be found."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import SparkSession

__all__ = ["configure_spark_with_delta_pip"]


def configure_spark_with_delta_pip(
    spark_session_builder: SparkSession.Builder, extra_packages: Sequence[str] | None = None
) -> SparkSession.Builder:
    """The builder, with the packages that are asked for beside Delta: for scripts written for delta-spark."""
    if not isinstance(spark_session_builder, SparkSession.Builder):
        raise TypeError(f"a SparkSession.Builder is needed, not {type(spark_session_builder).__name__}")
    if not extra_packages:
        return spark_session_builder
    return spark_session_builder.config("spark.jars.packages", ",".join(extra_packages))
