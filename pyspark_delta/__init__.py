"""A Delta reader and writer for PySpark, written from the protocol; nothing of the harness, no Delta JAR."""

from __future__ import annotations

from pyspark_delta.frames import read, write
from pyspark_delta.table import DeltaTable

__all__ = ["DeltaTable", "read", "write"]
