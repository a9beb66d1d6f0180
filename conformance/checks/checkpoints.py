"""Do the files of the log folder agree: no gap, checkpoints and checksums equal to replay, hints that are right?"""

from __future__ import annotations

from collections.abc import Iterator

from conformance.checks.names import CheckName
from conformance.checks.recorder import Check, CheckRecorder, judged_by
from conformance.observations.observation import Observation
from delta_models.log import validity
from delta_models.requirements import Checked, Violation

JUDGES = judged_by(CheckName.CHECKPOINTS)


def check(observation: Observation, _recorder: CheckRecorder) -> Iterator[Checked]:
    """Judge the folder as the step left it."""
    if not observation.wrote or (observation.after is None and observation.log_error is None):
        return
    first = observation.before.version if observation.before is not None else 0
    judgements = validity.judge_folder(observation.reader, "reference", first)
    for judgement in judgements:
        if judgement.violation is None or not _is_interrupted_cleanup(observation, judgement.violation):
            yield judgement


def _is_interrupted_cleanup(observation: Observation, violation: Violation) -> bool:
    """Return whether an interrupted clean-up explains a violation.

    It deletes files in any order. So it leaves gaps among the versions that a checkpoint covers, or an old checkpoint
    without its commit, which nobody needs as long as there is a later one.
    """
    if observation.fault_context is None or not observation.fault_context.cleaned:
        return False
    listing = observation.reader.listing()
    complete = [checkpoint.version for checkpoint in listing.checkpoints if checkpoint.complete]
    if violation.requirement == "log.cleanup-keeps-checkpoint-commit":
        return len(set(complete)) > 1
    covered = max(complete, default=-1)
    return violation.requirement == "log.versions-contiguous" and any(
        name == violation.where and version <= covered for version, name in listing.commits.items()
    )


CHECK = Check(CheckName.CHECKPOINTS, JUDGES, check)
