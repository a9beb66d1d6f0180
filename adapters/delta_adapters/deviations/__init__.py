"""What released engines are known to do wrong: fingerprints, cause, versions, expiry, and the smallest history of each.

A known deviation does not fail a run, and is shown as what it is. What triggers one is kept out of half of the drawn
histories, so that it hides nothing behind it.
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
