"""Rules about the files of a log and the actions in them."""

from __future__ import annotations

from delta_models.requirements.base import Requirement

REQUIREMENTS: tuple[Requirement, ...] = ()
