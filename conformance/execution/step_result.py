"""The result of one step for one engine."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from conformance.execution.engine_session import EngineSession
from conformance.observations.observation import Observation
from delta_models.requirements import Violation


@dataclass(frozen=True, slots=True)
class StepResult:
    """What was observed of one step, what is wrong with it, and which engine is to blame.

    `engine_session` is charged with the violations. `promised` says whether that engine promises at this table what it
    is held to. `evidence` counts how often each requirement was judged. `performed_by` is the slot whose engine
    performed the step, where the engine of the step's own slot could not. `faults` are the harness' own.
    """

    engine_session: EngineSession
    observation: Observation
    violations: tuple[Violation, ...]
    evidence: Mapping[str, int]
    faults: tuple[str, ...] = ()
    performed_by: str | None = None
    promised: bool = True
