"""The adapter of delta-spark, the implementation of Delta Lake on Apache Spark: its JVM, and operations as its calls.

Importing this package starts nothing and does not import pyspark, so that fetching the JARs and checking what is
missing stay cheap.
"""

from __future__ import annotations

from delta_adapters.delta_spark.adapter import DeltaSpark

__all__ = ["DeltaSpark"]
