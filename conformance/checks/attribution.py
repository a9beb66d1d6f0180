"""Who is to blame: the writer, the reader, or the harness.

The log is invalid, or our own reading of it differs from the model: the writer. The log is valid, our own reading
right, and the engine's differs: the reader. So each requirement has its side, and the checks keep the sides apart by
measuring a reader against the log (`truth`). Our own reader fails on a log that no rule calls invalid: the harness.
"""

from __future__ import annotations

from conformance.observations.observation import Observation
from delta_models.log import LogError, UnsupportedFeature
from delta_models.requirements import BY_ID, Violation
from delta_models.requirements.base import Role


def side(violation: Violation) -> Role:
    """Which side of an engine a breach is charged to."""
    return BY_ID[violation.requirement].role


def harness_fault_of(observation: Observation) -> str | None:
    """Why our own reader, not the engine, is at fault for a log that could not be read; None if it is not."""
    error = observation.log_error
    if error is None or (isinstance(error, LogError) and not isinstance(error, UnsupportedFeature)):
        return None
    what = "does not know a feature" if isinstance(error, UnsupportedFeature) else "failed"
    return (
        f"our own log reader {what} at step {observation.step} of {observation.engine}: "
        f"{type(error).__name__}: {error}"
    )
