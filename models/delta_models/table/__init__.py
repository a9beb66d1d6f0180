"""The table as rows: what an operation means for rows, schema and properties, and how it may end; no files here."""

from __future__ import annotations

from delta_models.table.changes import ChangesExpectation, StepChanges
from delta_models.table.expectation import Branch, Expectation, LookExpectation
from delta_models.table.state import NotModelled, Table
from delta_models.table.streams import FollowExpectation
from delta_models.table.world import World

__all__ = [
    "Branch",
    "ChangesExpectation",
    "Expectation",
    "FollowExpectation",
    "LookExpectation",
    "NotModelled",
    "StepChanges",
    "Table",
    "World",
]
