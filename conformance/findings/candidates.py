"""The causes that may explain a violation: those of its engine that predict it, and whose trigger has occurred.

Candidates are found when the violation is observed, because predictions inspect the observation. Whether a candidate
is the cause is found later, by playing histories: `conformance.triage.explain`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from threading import Lock

from conformance.findings.predictions import matches
from conformance.histories import History, Step
from conformance.observations.observation import Observation
from delta_adapters.deviations import TRIGGERS, Cause
from delta_adapters.engine_id import EngineId
from delta_models.operations import Operation, Reopen
from delta_models.requirements import Violation
from delta_models.table import ModelHistory, NotModelled, Table

# The causes of these triggers are told by their predictions alone. Of most of them only a whole feature, or a writer,
# could be taken out. A long decimal could be replaced; that adds nothing, for the log shows the double.
BY_PREDICTION_ALONE = frozenset({
    "append-and-rewrite-at-once", "filled-up-texts", "long-decimal", "more-than-files-written", "optimizes-at-once",
    "overwrite-and-conditional-write-at-once", "overwrite-and-optimize-at-once", "recorded-rows-changed",
    "tracked-from-now-on", "vectors-asked-for",
})  # fmt: skip
_KEPT = 8  # histories that are played at the same time, in most cases one


def candidate_causes(
    observation: Observation, violation: Violation, history: History, causes: Sequence[Cause]
) -> tuple[str, ...]:
    """Return the ids of the causes that predict this very violation and whose trigger occurred up to its step."""
    engine = EngineId.parse(observation.engine).name
    steps = history.steps[: observation.step + 1]
    return tuple(
        cause.id
        for cause in causes
        if cause.engine == engine
        and any(matches(prediction, observation, violation) for prediction in cause.predictions)
        and (cause.trigger is None or _occurs(cause.trigger, steps, violation))
    )


def needs_counterfactual(cause: Cause) -> bool:
    """Whether a violation belongs to a cause only if it is gone from the counterfactual."""
    return cause.trigger is not None and cause.trigger not in BY_PREDICTION_ALONE


def triggers_of(history: History) -> frozenset[str]:
    """The names of the triggers that a history sets off."""
    return frozenset(name for name in TRIGGERS if first_step_of(name, history.steps) is not None)


def first_step_of(trigger: str, steps: Sequence[Step]) -> int | None:
    """The number of the first step that sets a trigger off; None if no step does."""
    with _LOCK:
        first = _walk_along(steps).first_of(trigger)
    return first if first is not None and first < len(steps) else None


def _occurs(trigger: str, steps: Sequence[Step], violation: Violation) -> bool:
    if first_step_of(trigger, steps) is not None:
        return True
    if violation.read is None:
        return False
    with _LOCK:  # a read that is no step of the history may set the trigger off itself
        table = _walk_along(steps).model_history.table
    return TRIGGERS[trigger].set_off(table, violation.read)


@dataclass(slots=True)
class _Walk:
    """The model's way along one history, continued as the history grows, and which step first set a trigger off."""

    steps: list[Step]
    model_history: ModelHistory = field(default_factory=ModelHistory)
    _passed: list[tuple[Table, Operation]] = field(default_factory=list)
    _first: dict[str, int] = field(default_factory=dict)
    _looked_at: dict[str, int] = field(default_factory=dict)

    def goes_along(self, steps: Sequence[Step]) -> bool:
        """Whether this history and another one are the same as far as both go. Steps are compared by identity."""
        return all(one is other for one, other in zip(self.steps, steps, strict=False))

    def passed(self) -> Iterator[tuple[Table, Operation]]:
        """Each operation of the history, with the table before it."""
        yield from self._passed
        for step in self.steps[len(self._passed) :]:
            self._passed.append((self.model_history.table, step.operation))
            self.model_history = after(self.model_history, step.operation)
            yield self._passed[-1]

    def first_of(self, trigger: str) -> int | None:
        """The number of the first step that sets a trigger off."""
        if trigger not in self._first:
            start = self._looked_at.get(trigger, 0)
            for number, (table, operation) in islice(enumerate(self.passed()), start, None):
                if TRIGGERS[trigger].set_off(table, operation):
                    self._first[trigger] = number
                    break
            self._looked_at[trigger] = len(self.steps)
        return self._first.get(trigger)


def after(model_history: ModelHistory, operation: Operation) -> ModelHistory:
    """The model's history after an operation. After what it does not model, a fault or a race, the table stays."""
    try:
        return model_history.after(operation)
    except NotModelled:
        return model_history.after(Reopen())


_LOCK = Lock()
_WALKS: list[_Walk] = []


def _walk_along(steps: Sequence[Step]) -> _Walk:
    """The walk along a history, or a new one. The most recent ones are kept."""
    walk = next((walk for walk in _WALKS if walk.goes_along(steps)), None) if steps else None
    if walk is None:
        walk = _Walk(list(steps))
        _WALKS.append(walk)
        del _WALKS[:-_KEPT]
    elif len(steps) > len(walk.steps):
        walk.steps.extend(steps[len(walk.steps) :])
    return walk
