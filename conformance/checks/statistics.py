"""Do the statistics of each new file bound the values in it? Readers skip files by them."""

from __future__ import annotations

from collections.abc import Iterator

from conformance.checks.log_validity import judge_added_files
from conformance.checks.names import CheckName
from conformance.checks.recorder import Check, CheckRecorder, judged_by
from conformance.observations.observation import Observation
from delta_models.requirements import Checked

JUDGES = judged_by(CheckName.STATISTICS)


def check(observation: Observation, recorder: CheckRecorder) -> Iterator[Checked]:
    """Judge the files that the step added."""
    if observation.wrote:
        for judgement in judge_added_files(observation, recorder):
            if judgement.requirement.startswith("stats."):
                yield judgement


CHECK = Check(CheckName.STATISTICS, JUDGES, check)
