"""Do the statistics of each new file bound the values that are really in it? Readers skip files by them."""

from __future__ import annotations

from conformance.checks.log_validity import added_files
from conformance.checks.recorder import Check, CheckRecorder, judged_by
from conformance.observations.observation import Observation

JUDGES = judged_by("statistics")


def check(observation: Observation, recorder: CheckRecorder) -> None:
    """Judge the files that the step added."""
    if observation.wrote:
        result = added_files(observation, recorder)
        recorder.take(judgement for judgement in result if judgement.requirement.startswith("stats."))


CHECK = Check("statistics", JUDGES, check)
