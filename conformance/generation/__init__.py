"""Draws histories from what the model says is possible: shapes of tables, rows, predicates, operations and faults."""

from __future__ import annotations

from conformance.generation.choices import RandomChoices
from conformance.generation.operations import draw_operation, generate_operations
from conformance.generation.table_profiles import PROFILES, TableProfile
from conformance.generation.table_shapes import TableShape, draw_shape, generate_shapes

__all__ = [
    "PROFILES",
    "SLOTS",
    "RandomChoices",
    "TableProfile",
    "TableShape",
    "draw_operation",
    "draw_shape",
    "generate_operations",
    "generate_shapes",
]

SLOTS = ("A", "B", "C")  # the writers of a shared table; a step of its history names one of them
