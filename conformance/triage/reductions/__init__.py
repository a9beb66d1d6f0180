"""The ways in which a history is made smaller, in the order in which they are tried: what takes most away first."""

from __future__ import annotations

from collections.abc import Mapping

from conformance.triage.reductions.base import Candidates, Reduction
from conformance.triage.reductions.columns import fewer_columns, fewer_rows, plainer_names
from conformance.triage.reductions.expressions import fewer_clauses, simpler_expressions
from conformance.triage.reductions.options import (
    plainer_definition,
    plainer_fields,
    plainer_operations,
    plainer_options,
)
from conformance.triage.reductions.races import simpler_races
from conformance.triage.reductions.steps import fewer_engines, fewer_steps, short_pasts
from conformance.triage.reductions.values import simpler_cells, simpler_contents, simpler_types

REDUCTIONS: Mapping[str, Reduction] = {
    "short pasts": short_pasts,
    "simpler races": simpler_races,
    "fewer steps": fewer_steps,
    "fewer engines": fewer_engines,
    "fewer rows": fewer_rows,
    "fewer columns": fewer_columns,
    "plainer definition": plainer_definition,
    "plainer fields": plainer_fields,
    "plainer operations": plainer_operations,
    "plainer options": plainer_options,
    "fewer clauses": fewer_clauses,
    "simpler expressions": simpler_expressions,
    "simpler types": simpler_types,
    "simpler contents": simpler_contents,
    "simpler cells": simpler_cells,
    "plainer names": plainer_names,
}

__all__ = ["REDUCTIONS", "Candidates", "Reduction"]
