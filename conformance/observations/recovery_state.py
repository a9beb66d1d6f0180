"""The state that a table is in after an operation met a storage fault."""

from __future__ import annotations

from dataclasses import dataclass

from delta_models.table import AllowedOutcome

BEFORE, AFTER, BETWEEN, TWICE = "before", "after", "between", "twice"


@dataclass(frozen=True, slots=True)
class RecoveryState:
    """Which of the possible states the table is in; `branch` is the allowed outcome that the operation then reached."""

    state: str
    branch: AllowedOutcome | None = None
    why: str = ""
