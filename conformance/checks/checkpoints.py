"""Does the log's folder tell one story: no gap, checkpoints and checksums equal to replay, hints that lead?"""

from __future__ import annotations

from conformance.checks.recorder import Check, CheckRecorder, judged_by
from conformance.observations.observation import Observation
from delta_models.log import validity
from delta_models.requirements import Violation

JUDGES = judged_by("checkpoint")


def check(observation: Observation, recorder: CheckRecorder) -> None:
    """Judge the folder as the step left it."""
    if not observation.wrote or (observation.after is None and observation.log_error is None):
        return
    first = observation.before.version if observation.before is not None else 0
    result = validity.judge_folder(observation.reader, "reference", first)
    recorder.take(
        judgement
        for judgement in result
        if judgement.violation is None or not _was_cut(observation, judgement.violation)
    )


def _was_cut(observation: Observation, violation: Violation) -> bool:
    """A clean-up that was cut leaves gaps among the versions that it was deleting: those that a checkpoint covers."""
    if (
        observation.fault_context is None
        or not observation.fault_context.cleaned
        or violation.requirement != "log.versions-contiguous"
    ):
        return False
    listing = observation.reader.listing()
    covered = max(
        (checkpoint.version for checkpoint in listing.checkpoints if checkpoint.complete), default=-1
    )
    return any(name == violation.where and version <= covered for version, name in listing.commits.items())


CHECK = Check("checkpoint", JUDGES, check)
