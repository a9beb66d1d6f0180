"""The reference engine: the model's operations on real Delta tables, in pure Python with pyarrow. For small tables.

Its agreement with the model is no evidence, because the model computes what it writes. It exists so that a run is
possible everywhere, without Java, and as the base of the mutants: each of them differs from it in one way.

The engine is one class, made of layers: `TableReader`, `StreamReader`, `CommitWriter`, `TableMaintainer`,
`StreamWriter` and `TableCatalog`. Their small methods are what mutants override.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from delta_adapters.reference import actions
    from delta_adapters.reference.actions import CommitBuilder
    from delta_adapters.reference.engine import Reference
else:

    def __getattr__(name: str) -> Any:
        """Load the engine at its first use: a planner asks for its capabilities alone."""
        match name:
            case "actions":
                return importlib.import_module(f"{__name__}.actions")
            case "CommitBuilder":
                return importlib.import_module(f"{__name__}.actions").CommitBuilder
            case "Reference":
                return importlib.import_module(f"{__name__}.engine").Reference
        message = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(message)


__all__ = ["CommitBuilder", "Reference", "actions"]
