"""Rules about what a table's rows are after an operation, and about what an engine reports and reads."""

from __future__ import annotations

from delta_models.requirements.base import Requirement

REQUIREMENTS: tuple[Requirement, ...] = ()
