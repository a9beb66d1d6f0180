"""The adapter of delta-rs: operations as calls of the Python package `deltalake`, in the way its users call it."""

from __future__ import annotations

from delta_adapters.delta_rs.adapter import DeltaRs

__all__ = ["DeltaRs"]
