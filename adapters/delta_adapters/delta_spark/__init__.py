"""The adapter of delta-spark, the implementation of Delta Lake on Apache Spark: its JVM, and operations as its calls.

Importing this package starts nothing and loads nothing, so that fetching the JARs and checking what is missing stay
cheap.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from delta_adapters.delta_spark.adapter import DeltaSpark
else:

    def __getattr__(name: str) -> Any:
        """Load the adapter at its first use."""
        if name == "DeltaSpark":
            return importlib.import_module("delta_adapters.delta_spark.adapter").DeltaSpark
        message = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(message)


__all__ = ["DeltaSpark"]
