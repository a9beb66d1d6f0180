"""Draws faults: what happens to the storage during an operation. Draws depend on the operation alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

from conformance.generation.choices import Choices, HypothesisChoices
from delta_models.operations import (
    Append,
    Checkpoint,
    DeadTableAt,
    Delete,
    FailAt,
    KillAt,
    LoseReplyAt,
    Merge,
    Operation,
    Optimize,
    Overwrite,
    Restore,
    TearAt,
    Update,
    Vacuum,
)  # fmt: skip
from delta_models.table import ModelHistory

FAULT_ONE_IN = 2
KILL_ONE_IN = 12  # of the faults, since a host that is killed has to be started again

COMMIT: tuple[tuple[str, int], ...] = (("staging", 3), ("commit", 6), ("clean-up", 1))
WRITES: tuple[tuple[str, int], ...] = (("data-staging", 2), ("data", 4), *COMMIT)
ROLES: dict[type[Any], tuple[tuple[str, int], ...]] = {
    Append: WRITES,
    Overwrite: WRITES,
    Optimize: WRITES,
    Restore: COMMIT,
    Delete: WRITES,
    Update: WRITES,
    Merge: WRITES,
    Checkpoint: (("checkpoint-staging", 2), ("checkpoint", 3), ("hint", 2)),
    Vacuum: (("clean-up", 4), ("commit", 2)),
}
WHERE_ENABLED = (("delta.enableDeletionVectors", "deletion-vector"), ("delta.enableChangeDataFeed", "change"))
UPKEEP = (Optimize, Checkpoint, Vacuum)
OPENED = ("data-staging", "staging", "checkpoint-staging")


def generate_faults(model_history: ModelHistory, operation: Operation) -> st.SearchStrategy[Operation | None]:
    """Return a strategy for the fault of the next operation, mostly none."""
    return _faults(model_history, operation)


def draw_fault(choices: Choices, model_history: ModelHistory, operation: Operation) -> Operation:
    """Draw a fault for an operation of a type that `ROLES` has."""
    roles = ROLES[type(operation)]
    if isinstance(operation, Delete | Update | Merge):
        roles += tuple(
            (role, 3) for key, role in WHERE_ENABLED if model_history.table.property(key) == "true"
        )
    role = choices.weighted(roles)
    ordinal = 1 if role in {"data", "clean-up"} and choices.one_in(6) else 0
    moment = choices.pick(("before", "after"))
    if choices.one_in(KILL_ONE_IN):
        return KillAt(role, moment, ordinal)
    if role in OPENED and choices.one_in(8):
        return TearAt(role, choices.pick((0, 5, 100)), ordinal)
    if role == "commit" and choices.one_in(3):
        return LoseReplyAt(role, ordinal, choices.pick(("EIO", "EEXIST", "ENOSPC")))
    if role != "commit" and choices.one_in(3):
        return FailAt(role, choices.pick(("EIO", "ENOSPC", "EACCES")), ordinal)
    return DeadTableAt(role, moment, ordinal)


def is_expected_to_prevent(fault: Operation | None) -> bool:
    """Whether later steps are drawn as if the operation had not taken place, which is mostly right."""
    match fault:
        case None | LoseReplyAt():
            return False
        case KillAt(role=role, moment=moment) | DeadTableAt(role=role, moment=moment):
            return role not in {"clean-up", "hint"} and not (role == "commit" and moment == "after")
        case FailAt(role=role):
            return role != "clean-up"
    return True


@st.composite
def _faults(draw: Callable[..., Any], model_history: ModelHistory, operation: Operation) -> Operation | None:
    choices = HypothesisChoices(draw)
    if not model_history.table.exists or type(operation) not in ROLES:
        return None
    has_events = isinstance(operation, UPKEEP) or model_history.expect(operation).ordinary.commits[0] > 0
    return (
        draw_fault(choices, model_history, operation) if has_events and choices.one_in(FAULT_ONE_IN) else None
    )
