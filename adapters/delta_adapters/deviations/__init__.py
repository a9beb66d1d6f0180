"""What released engines are known to do wrong: fingerprints, cause, versions, expiry, and the smallest history of each.

A known deviation does not fail a run, and is shown as what it is. What triggers one is kept out of half of the drawn
histories, so that it hides nothing behind it.
"""

from __future__ import annotations

from delta_adapters.deviations.entries import (
    BadDeviation,
    Deviation,
    all_deviations,
    known,
    load_deviations,
    named,
)
from delta_adapters.deviations.triggers import TRIGGERS, guarded, set_off

__all__ = [
    "TRIGGERS",
    "BadDeviation",
    "Deviation",
    "all_deviations",
    "guarded",
    "known",
    "load_deviations",
    "named",
    "set_off",
]
