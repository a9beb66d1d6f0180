"""Render expressions as an engine's SQL: one walk over the tree for all, one small class for each engine's dialect.

Rendering is exact or it fails: each literal is cast to its type, every name is quoted, everything is in parentheses.
"""

from __future__ import annotations

from delta_adapters.dialects.base import Dialect, Inexpressible, render_sql

__all__ = ["Dialect", "Inexpressible", "render_sql"]
