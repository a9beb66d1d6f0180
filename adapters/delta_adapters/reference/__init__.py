"""The reference engine: the model's operations on real Delta tables, in pure Python with pyarrow. For small tables.

Its agreement with the model is no evidence, because the model computes what it writes. It exists so that a run is
possible everywhere, without Java, and as the base of the mutants: each of them differs from it in one way.

The engine is one class, made of layers: `TableReader`, `StreamReader`, `CommitWriter`, `TableMaintainer`,
`StreamWriter` and `TableCatalog`. Their small methods are what mutants override.
"""

from __future__ import annotations

from delta_adapters.reference import actions
from delta_adapters.reference.actions import CommitBuilder
from delta_adapters.reference.engine import Reference

__all__ = ["CommitBuilder", "Reference", "actions"]
