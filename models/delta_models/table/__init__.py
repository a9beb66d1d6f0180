"""The table as rows: what an operation means for rows, schema and properties, and how it may end; no files here."""

from __future__ import annotations

from delta_models.table.change_feed import ChangesExpectation, StepChanges
from delta_models.table.expectation import AllowedOutcome, Expectation, ReadExpectation
from delta_models.table.history_model import ModelHistory
from delta_models.table.state import NotModelled, Table
from delta_models.table.streams import StreamExpectation

__all__ = [
    "AllowedOutcome",
    "ChangesExpectation",
    "Expectation",
    "ModelHistory",
    "NotModelled",
    "ReadExpectation",
    "StepChanges",
    "StreamExpectation",
    "Table",
]
