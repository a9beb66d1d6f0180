"""The liars: the honest engine, wrong in one documented way each. Importing this module registers them all."""

from __future__ import annotations

from tests.liars import (
    answers,
    counted,
    counters,
    ends,
    followers,
    logs,
    meanings,
    processes,
    tellers,
    vacuums,
)

__all__ = [
    "answers",
    "counted",
    "counters",
    "ends",
    "followers",
    "logs",
    "meanings",
    "processes",
    "tellers",
    "vacuums",
]
