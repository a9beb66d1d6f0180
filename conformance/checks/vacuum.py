"""Does a vacuum leave every file alone that a version within the retention refers to?

Which versions are within it the model says, by the hours that the history let pass. What is not deleted may stay: to
delete is allowed, not demanded.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from pathlib import Path

from conformance.checks.names import CheckName
from conformance.checks.recorder import Check, CheckRecorder, judged_by
from conformance.observations.observation import Observation
from delta_models.log import CorruptFile, LogError, paths
from delta_models.log.reader import live_adds
from delta_models.operations import Vacuum

JUDGES = judged_by(CheckName.VACUUM)


def check(observation: Observation, recorder: CheckRecorder) -> None:
    """Judge the files of all states that the model says can still be read."""
    if (
        not observation.wrote
        or not isinstance(observation.operation, Vacuum)
        or observation.log_error is not None
    ):
        return
    versions = sorted(
        {observation.versions[each] for each in observation.retained if each in observation.versions}
    )
    recent = {observation.versions[each] for each in observation.recent if each in observation.versions}
    there = functools.cache(Path.exists)  # most files are in most versions
    for version in versions:
        try:
            found = list(_files(observation, version, there, changes=version in recent))
        except LogError:
            continue  # told by others
        for requirement, name, is_there in found:
            recorder.record(
                requirement, None if is_there else f"version {version} needs {name}, which is gone", name
            )


def _files(
    observation: Observation, version: int, there: Callable[[Path], bool], *, changes: bool
) -> Iterator[tuple[str, str, bool]]:
    """What a version refers to: the rule that it belongs to, its name, and whether it is there."""
    for add in live_adds(observation.reader.snapshot(version)):
        yield "vacuum.keeps-data-files", add.path, there(paths.resolve(observation.folder, add.path))
        try:
            vector = add.deletion_vector.file(observation.folder) if add.deletion_vector is not None else None
        except CorruptFile:
            vector = None  # what is wrong with a descriptor is for the rules of the log to say
        if vector is not None:
            yield "vacuum.keeps-vectors", vector.name, there(vector)
    for cdc in observation.reader.commit(version).cdcs if changes else ():
        yield "vacuum.keeps-change-data", cdc.path, there(paths.resolve(observation.folder, cdc.path))


CHECK = Check(CheckName.VACUUM, JUDGES, check)
