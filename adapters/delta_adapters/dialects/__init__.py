"""A predicate tree in an engine's own words: one walk for all, one small class an engine for what differs.

Rendering is exact or it fails: each literal is cast to its type, every name is quoted, everything is in parentheses.
"""

from __future__ import annotations

from delta_adapters.dialects.base import Dialect, Inexpressible, render_sql

__all__ = ["Dialect", "Inexpressible", "render_sql"]
