"""The names of delta-spark's `delta.tables`, for scripts that import more than `DeltaTable`."""

from __future__ import annotations

from pyspark_delta.builders import (
    DeltaMergeBuilder,
    DeltaOptimizeBuilder,
    DeltaTableBuilder,
    IdentityGenerator,
)
from pyspark_delta.table import DeltaTable

__all__ = [
    "DeltaMergeBuilder",
    "DeltaOptimizeBuilder",
    "DeltaTable",
    "DeltaTableBuilder",
    "IdentityGenerator",
]
