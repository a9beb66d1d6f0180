"""`configure_spark_with_delta_pip`, for scripts written for delta-spark's quick start. There is no JAR to add here."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import SparkSession

__all__ = ["configure_spark_with_delta_pip"]


def configure_spark_with_delta_pip(
    spark_session_builder: SparkSession.Builder, extra_packages: Sequence[str] | None = None
) -> SparkSession.Builder:
    """The builder, with the extra packages configured."""
    if not isinstance(spark_session_builder, SparkSession.Builder):
        raise TypeError(f"a SparkSession.Builder is needed, not {type(spark_session_builder).__name__}")
    if not extra_packages:
        return spark_session_builder
    return spark_session_builder.config("spark.jars.packages", ",".join(extra_packages))
