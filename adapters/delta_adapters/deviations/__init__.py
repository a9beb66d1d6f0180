"""What released engines are known to do wrong: fingerprints, cause, versions, expiry, and the smallest history of each.

A known deviation does not fail a run, and is shown as what it is. `guarded` keeps what triggers one out of half of the
drawn histories, so that it hides nothing behind it.
"""

from __future__ import annotations

from delta_adapters.deviations.entries import (
    BadDeviation,
    Deviation,
    all_deviations,
    known,
    load_deviations,
)
from delta_adapters.deviations.triggers import TRIGGERS, guarded

__all__ = [
    "TRIGGERS",
    "BadDeviation",
    "Deviation",
    "all_deviations",
    "guarded",
    "known",
    "load_deviations",
]
