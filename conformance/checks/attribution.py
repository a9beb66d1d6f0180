"""Decide whether the harness itself is to blame: our own reader failed on a log that no rule calls invalid.

Otherwise the requirement says who is to blame. If the log is invalid, or our reading of it differs from the model, it
is the writer. If the log is valid and our reading right, but the engine's differs, it is the reader. So the checks
measure a writer against the model, and a reader against the log (`log_oracle`).
"""

from __future__ import annotations

from conformance.observations.observation import Observation
from delta_models.log import LogError, UnsupportedFeature


def harness_fault_of(observation: Observation) -> str | None:
    """Return why our own log reader is at fault for a log that it could not read; None if it is not."""
    error = observation.log_error
    if error is None or (isinstance(error, LogError) and not isinstance(error, UnsupportedFeature)):
        return None
    failure = "does not know a feature" if isinstance(error, UnsupportedFeature) else "failed"
    return (
        f"our own log reader {failure} at step {observation.step} of {observation.engine}: "
        f"{type(error).__name__}: {error}"
    )
