"""The wrong answers that causes predict: for each kind of difference, a function that recognises it.

A function gets an observation and a violation in it, and says whether the violation is this wrong answer and no other.
Where the mechanism of a cause decides the answer, the function computes it and compares; it never says yes because a
trigger occurred. So a second fault that has the same trigger is new.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from conformance.observations.observation import Observation
from delta_adapters.deviations import Prediction
from delta_models.requirements import Violation

Difference = Callable[[Observation, Violation], bool]

DIFFERENCES: Mapping[str, Difference] = {}


def matches(prediction: Prediction, observation: Observation, violation: Violation) -> bool:
    """Whether a cause's prediction is this violation: its requirement, and its difference if it names one."""
    if violation.requirement not in prediction.requirements:
        return False
    difference = DIFFERENCES.get(prediction.difference) if prediction.difference is not None else None
    return difference is None or difference(observation, violation)
