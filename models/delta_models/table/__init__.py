"""The reference model: what each operation does to rows, schema and properties, and which outcomes it may have.

The model knows nothing of files; `delta_models.log` does. `ModelHistory` is the entrance.
"""

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
