"""A Delta reader and writer for PySpark that needs no JAR.

It is written from the protocol and imports nothing of the harness.
"""

from __future__ import annotations

from pyspark_delta.dataframe_api import read, write
from pyspark_delta.session import configure_spark_with_delta_pip
from pyspark_delta.table import DeltaTable
from pyspark_delta.version import __version__

__all__ = ["DeltaTable", "__version__", "configure_spark_with_delta_pip", "read", "write"]
