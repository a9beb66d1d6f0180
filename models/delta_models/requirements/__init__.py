"""The catalogue of all rules that a conforming engine keeps, each with its id, sentence and source.

A check does not assert; it reports a `Violation` of a requirement. Each module holds the rules about one subject in its
tuple `REQUIREMENTS`. `CATALOGUE` holds all rules, `OF_THE_LOG` those that `delta_models.log.validity` judges.
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
    introspection,
    log,
    races,
    row_constraints,
    streams,
    unobservable,
)
from delta_models.requirements.base import Checked, Requirement, Strength, Violation, checked

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
    *row_constraints.REQUIREMENTS,
    *streams.REQUIREMENTS,
    *introspection.REQUIREMENTS,
    *unobservable.REQUIREMENTS,
)
BY_ID: dict[str, Requirement] = {requirement.id: requirement for requirement in CATALOGUE}

__all__ = ["BY_ID", "CATALOGUE", "OF_THE_LOG", "Checked", "Requirement", "Strength", "Violation", "checked"]
