"""Wrong outcomes after a storage fault: the engine takes its own commit for another writer's."""

from __future__ import annotations

from conformance.observations.observation import Observation
from conformance.observations.recovery_state import AFTER, TWICE
from delta_models.operations import LoseReplyAt
from delta_models.outcomes import Committed, NoChange, Rejected
from delta_models.requirements import Violation

CONFLICTS_WITH_ITSELF = (
    "conflict.append", "conflict.delete-read", "conflict.delete-delete", "conflict.metadata", "conflict.protocol",
    "conflict.transaction", "conflict.other", "table-exists",
)  # fmt: skip


def committed_once_more(observation: Observation, _: Violation) -> bool:
    """The operation is reported as done, and two commits have done it."""
    return (
        _was_found_taken(observation, TWICE)
        and len(observation.commits) == 2 * _ordinary_commits(observation)
        and isinstance(observation.outcome, Committed | NoChange)
    )


def refused_by_its_own_commit(observation: Observation, _: Violation) -> bool:
    """The operation is reported as refused for a conflict, and is done, once."""
    outcome = observation.outcome
    return (
        _was_found_taken(observation, AFTER)
        and len(observation.commits) == 1
        and isinstance(outcome, Rejected)
        and outcome.kind in CONFLICTS_WITH_ITSELF
    )


def removed_once_more(observation: Observation, violation: Violation) -> bool:
    """The second of two commits of one operation removes the files that the first removed, and no others."""
    if not _was_found_taken(observation, None) or len(observation.commits) != 2:
        return False
    first, second = observation.commits
    return second.name == violation.where and {remove.key for remove in first.removes} == {
        remove.key for remove in second.removes
    }


def _was_found_taken(observation: Observation, state: str | None) -> bool:
    context = observation.fault_context
    fault = context.fault if context is not None else None
    if (
        context is None
        or not isinstance(fault, LoseReplyAt)
        or (fault.role, fault.errno) != ("commit", "EEXIST")
    ):
        return False
    return state is None or (context.found is not None and context.found.state == state)


def _ordinary_commits(observation: Observation) -> int:
    return max(1, observation.expectation.ordinary.commits[0])
