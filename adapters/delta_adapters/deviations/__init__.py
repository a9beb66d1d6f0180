"""Causes: what released engines do wrong, what sets it off, and what it predicts.

A finding that a cause explains does not fail a run; reports show it as known. Half of the drawn histories avoid
whatever sets a cause off, so that it hides no other bug.
"""

from __future__ import annotations

from delta_adapters.deviations.causes import (
    BadCause,
    Cause,
    Names,
    Prediction,
    all_causes,
    cause_named,
    load_causes,
)
from delta_adapters.deviations.triggers import TRIGGERS, operation_trigger, operation_triggers

__all__ = [
    "TRIGGERS",
    "BadCause",
    "Cause",
    "Names",
    "Prediction",
    "all_causes",
    "cause_named",
    "load_causes",
    "operation_trigger",
    "operation_triggers",
]
