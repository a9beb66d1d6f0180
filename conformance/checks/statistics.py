"""Do the statistics of each new file bound the values that are really in it? Readers skip files by them."""

from __future__ import annotations

from conformance.checks.log_validity import chain, data_breaches
from conformance.checks.recorder import Check, CheckRecorder, judged_by
from conformance.checks.weights import file_weights, nan_weights
from conformance.observations.observation import Observation

JUDGES = judged_by("statistics")


def check(observation: Observation, recorder: CheckRecorder) -> None:
    """Judge the files that the step added."""
    if not observation.wrote:
        return
    for _, commit, after in chain(observation):
        if after is not None:
            recorder.count(file_weights(after, commit, prefixes=("stats.",)))
            recorder.count(nan_weights(observation.reader, after, commit))
    recorder.add(
        data_breach
        for data_breach in data_breaches(observation, recorder)
        if data_breach.requirement.startswith("stats.")
    )


CHECK = Check("statistics", JUDGES, check)
