"""The ways in which a history is made smaller, in the order in which they are tried: what takes most away first."""

from __future__ import annotations

from conformance.triage.reductions.base import Candidates, Reduction
from conformance.triage.reductions.columns import fewer_columns, fewer_rows, plainer_names
from conformance.triage.reductions.expressions import fewer_clauses, simpler_expressions
from conformance.triage.reductions.options import (
    plainer_definition,
    plainer_fields,
    plainer_operations,
    plainer_options,
)
from conformance.triage.reductions.steps import fewer_engines, fewer_steps, short_pasts
from conformance.triage.reductions.values import simpler_cells, simpler_contents, simpler_types

REDUCTIONS: tuple[Reduction, ...] = (
    short_pasts,
    fewer_steps,
    fewer_engines,
    fewer_rows,
    fewer_columns,
    plainer_definition,
    plainer_fields,
    plainer_operations,
    plainer_options,
    fewer_clauses,
    simpler_expressions,
    simpler_types,
    simpler_contents,
    simpler_cells,
    plainer_names,
)

__all__ = ["REDUCTIONS", "Candidates", "Reduction"]
