"""The adapter of delta-spark, the implementation on Apache Spark: its JVM, and the alphabet as its calls.

Importing this package starts nothing and imports no pyspark: who only wants to fetch the JARs, or ask what is missing,
pays nothing.
"""

from __future__ import annotations

from delta_adapters.delta_spark.adapter import DeltaSpark

__all__ = ["DeltaSpark"]
