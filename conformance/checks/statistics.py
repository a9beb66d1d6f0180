"""Do the statistics of each new file bound the values in it? Readers skip files by them."""

from __future__ import annotations

from conformance.checks.log_validity import judge_added_files
from conformance.checks.names import CheckName
from conformance.checks.recorder import Check, CheckRecorder, judged_by
from conformance.observations.observation import Observation

JUDGES = judged_by(CheckName.STATISTICS)


def check(observation: Observation, recorder: CheckRecorder) -> None:
    """Judge the files that the step added."""
    if observation.wrote:
        judgements = judge_added_files(observation, recorder)
        recorder.record_all(
            judgement for judgement in judgements if judgement.requirement.startswith("stats.")
        )


CHECK = Check(CheckName.STATISTICS, JUDGES, check)
