"""The catalogue: every rule that a conforming engine keeps and a test can see, each with its id, sentence and source.

A check never asserts; it reports a `Breach` of a requirement. One module here a subject; each has a tuple
`REQUIREMENTS`, and `CATALOGUE` is the sequence of all.
"""

from __future__ import annotations

from delta_models.requirements import contents, definition, engine, faults, log, races, rules, told
from delta_models.requirements.base import Breach, Requirement, Strength

CATALOGUE: tuple[Requirement, ...] = (
    *contents.REQUIREMENTS,
    *definition.REQUIREMENTS,
    *engine.REQUIREMENTS,
    *faults.REQUIREMENTS,
    *log.REQUIREMENTS,
    *races.REQUIREMENTS,
    *rules.REQUIREMENTS,
    *told.REQUIREMENTS,
)
BY_ID: dict[str, Requirement] = {each.id: each for each in CATALOGUE}

__all__ = ["BY_ID", "CATALOGUE", "Breach", "Requirement", "Strength"]
