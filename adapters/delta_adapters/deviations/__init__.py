"""Known deviations of released engines: fingerprints, cause, versions, expiry and the smallest history of each.

A known deviation does not fail a run; reports show it as known. Half of the drawn histories avoid whatever triggers a
deviation, so that it hides no other bug.
"""

from __future__ import annotations

from delta_adapters.deviations.entries import (
    BadDeviation,
    Deviation,
    all_deviations,
    covering_deviation,
    deviation_named,
    load_deviations,
)
from delta_adapters.deviations.triggers import TRIGGERS, operation_trigger, operation_triggers

__all__ = [
    "TRIGGERS",
    "BadDeviation",
    "Deviation",
    "all_deviations",
    "covering_deviation",
    "deviation_named",
    "load_deviations",
    "operation_trigger",
    "operation_triggers",
]
