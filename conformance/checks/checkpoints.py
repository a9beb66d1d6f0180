"""Do the files of the log folder agree: no gap, checkpoints and checksums equal to replay, hints that are right?"""

from __future__ import annotations

from collections.abc import Iterator

from conformance.checks.names import CheckName
from conformance.checks.recorder import Check, CheckRecorder, judged_by
from conformance.observations.observation import Observation
from delta_models.log import validity
from delta_models.log.reader import LogReader
from delta_models.requirements import Checked

JUDGES = judged_by(CheckName.CHECKPOINTS)


def check(observation: Observation, _recorder: CheckRecorder) -> Iterator[Checked]:
    """Judge the folder as the step left it."""
    if not observation.wrote or (observation.after is None and observation.log_error is None):
        return
    first = observation.before.version if observation.before is not None else 0
    excused = _excused(observation)
    for judgement in validity.judge_folder(observation.reader, "reference", first):
        violation = judgement.violation
        if violation is None or (violation.requirement, violation.where) not in excused:
            yield judgement


def left_by_a_cut_clean_up(reader: LogReader) -> frozenset[tuple[str, str]]:
    """Return the violations, by requirement and place, that a clean-up of the log may leave if it is cut short.

    It deletes files in any order. So it leaves gaps among the versions that a checkpoint covers, or an old checkpoint
    without its commit, which nobody needs as long as there is a later one.
    """
    listing = reader.listing()
    complete = {checkpoint.version for checkpoint in listing.checkpoints if checkpoint.complete}
    covered = {name for version, name in listing.commits.items() if version <= max(complete, default=-1)}
    return frozenset(
        (violation.requirement, violation.where)
        for violation in validity.folder_breaches(reader, "reference")
        if (violation.requirement == "log.cleanup-keeps-checkpoint-commit" and len(complete) > 1)
        or (violation.requirement == "log.versions-contiguous" and violation.where in covered)
    )


def _excused(observation: Observation) -> frozenset[tuple[str, str]]:
    """What clean-ups that were cut have left, as far as it may still be so. What a later one does is no part of it."""
    if observation.fault_context is None or not observation.fault_context.left_in_log:
        return frozenset()
    return observation.fault_context.left_in_log & left_by_a_cut_clean_up(observation.reader)


CHECK = Check(CheckName.CHECKPOINTS, JUDGES, check)
