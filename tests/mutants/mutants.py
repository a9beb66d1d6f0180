"""The liars: the honest engine, wrong in one documented way each. Importing this module registers them all."""

from __future__ import annotations

from tests.mutants import (
    answers,
    counted,
    counters,
    ends,
    logs,
    meanings,
    processes,
    stream_readers,
    tellers,
    vacuums,
)

__all__ = [
    "answers",
    "counted",
    "counters",
    "ends",
    "logs",
    "meanings",
    "processes",
    "stream_readers",
    "tellers",
    "vacuums",
]
