"""Wrong outcomes after a storage fault: the engine takes its own commit for another writer's."""

from __future__ import annotations

from itertools import pairwise

from conformance.observations.observation import Observation
from conformance.observations.recovery_state import AFTER, TWICE
from delta_models.log import Commit
from delta_models.operations import LoseReplyAt
from delta_models.outcomes import Committed, NoChange, Rejected
from delta_models.requirements import Violation

CONFLICTS_WITH_ITSELF = (
    "conflict.append", "conflict.delete-read", "conflict.delete-delete", "conflict.metadata", "conflict.protocol",
    "conflict.transaction", "conflict.other", "table-exists",
)  # fmt: skip


def committed_once_more(observation: Observation, _: Violation) -> bool:
    """The operation is reported as done, with one commit too many, which does what the one before it has done."""
    done = [
        branch.commits
        for branch in observation.expectation.allowed_outcomes
        if isinstance(branch.outcome, Committed)
    ]
    fewest, most = (min(low for low, _ in done), max(high for _, high in done)) if done else (0, 0)
    return (
        _was_found_taken(observation, TWICE)
        and max(fewest, 1) < len(observation.commits) <= most + 1
        and sum(_does_the_same(*pair) for pair in pairwise(observation.commits)) == 1
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


def _does_the_same(commit: Commit, other: Commit) -> bool:
    """Whether two commits add and remove the same files, in the name of the same operation."""
    return (
        _operation_of(commit) == _operation_of(other)
        and {add.path for add in commit.adds} == {add.path for add in other.adds}
        and {remove.key for remove in commit.removes} == {remove.key for remove in other.removes}
    )


def _operation_of(commit: Commit) -> object:
    return commit.info.values.get("operation") if commit.info is not None else None
