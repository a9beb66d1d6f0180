"""All mutants: engines that are honest but for one documented fault. Importing this module registers them."""

from __future__ import annotations

from tests.mutants import (
    constraints,
    contents,
    identity_columns,
    introspection,
    logs,
    metrics,
    names_and_zones,
    outcomes,
    processes,
    reads,
    streams,
    vacuum,
)

__all__ = [
    "constraints",
    "contents",
    "identity_columns",
    "introspection",
    "logs",
    "metrics",
    "names_and_zones",
    "outcomes",
    "processes",
    "reads",
    "streams",
    "vacuum",
]
