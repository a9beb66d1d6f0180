"""delta-rs through the Python package `deltalake`, as its users call it; no other engine, and no judgement."""

from __future__ import annotations

from delta_adapters.delta_rs.adapter import DeltaRs

__all__ = ["DeltaRs"]
