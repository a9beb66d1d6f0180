"""The catalogue: every rule that a conforming engine keeps, each with its id, sentence and source.

A check never asserts; it reports a `Breach` of a requirement. One module here a subject; each has a tuple
`REQUIREMENTS`, and `CATALOGUE` is the sequence of all; `OF_THE_LOG` are those that `delta_models.log.validity` judges.
"""

from __future__ import annotations

from delta_models.requirements import (
    checkpoints,
    columns,
    contents,
    definition,
    engine,
    faults,
    features,
    files,
    log,
    races,
    rules,
    streams,
    told,
    unseen,
)
from delta_models.requirements.base import Breach, Requirement, Strength

OF_THE_LOG: tuple[Requirement, ...] = (
    *log.REQUIREMENTS,
    *features.REQUIREMENTS,
    *columns.REQUIREMENTS,
    *files.REQUIREMENTS,
    *checkpoints.REQUIREMENTS,
)
CATALOGUE: tuple[Requirement, ...] = (
    *contents.REQUIREMENTS,
    *definition.REQUIREMENTS,
    *engine.REQUIREMENTS,
    *faults.REQUIREMENTS,
    *OF_THE_LOG,
    *races.REQUIREMENTS,
    *rules.REQUIREMENTS,
    *streams.REQUIREMENTS,
    *told.REQUIREMENTS,
    *unseen.REQUIREMENTS,
)
BY_ID: dict[str, Requirement] = {each.id: each for each in CATALOGUE}

__all__ = ["BY_ID", "CATALOGUE", "OF_THE_LOG", "Breach", "Requirement", "Strength"]
