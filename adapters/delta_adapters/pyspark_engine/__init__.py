"""The adapter of `pyspark_delta`, the in-house engine: a session without a Delta JAR, and operations as its calls."""

from __future__ import annotations

from delta_adapters.pyspark_engine.adapter import PysparkEngine

__all__ = ["PysparkEngine"]
