"""Does a vacuum keep every file that a version within the retention refers to?

The model says which versions are within the retention, by the hours that the history let pass and by all vacuums so
far. A vacuum may delete the other files, but need not.
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
from delta_models.requirements import Checked, checked

JUDGES = judged_by(CheckName.VACUUM)


def check(observation: Observation, _recorder: CheckRecorder) -> Iterator[Checked]:
    """Judge the files of all states that must still be readable."""
    if not observation.wrote or observation.log_error is not None:
        return
    versions = sorted(
        {observation.versions[step] for step in observation.retained if step in observation.versions}
    )
    makers: dict[int, int] = {}  # the first step that led to a version wrote its change data
    for step, version in sorted(observation.versions.items()):
        makers.setdefault(version, step)
    recent = {version for version, step in makers.items() if step in observation.recent}
    exists = functools.cache(Path.exists)  # most files are in most versions
    for version in versions:
        try:
            files = list(_referenced_files(observation, version, exists, changes=version in recent))
        except LogError:
            continue  # other checks report it
        for requirement, name, is_present in files:
            yield checked(
                requirement, None if is_present else f"version {version} needs {name}, which is gone", name
            )


def _referenced_files(
    observation: Observation, version: int, exists: Callable[[Path], bool], *, changes: bool
) -> Iterator[tuple[str, str, bool]]:
    """Yield each file that a version refers to: its rule, its name, and whether it exists."""
    for add in live_adds(observation.reader.snapshot(version)):
        yield "vacuum.keeps-data-files", add.path, exists(paths.resolve(observation.folder, add.path))
        try:
            vector = add.deletion_vector.file(observation.folder) if add.deletion_vector is not None else None
        except CorruptFile:
            vector = None  # the rules of the log report a corrupt descriptor
        if vector is not None:
            yield "vacuum.keeps-vectors", vector.name, exists(vector)
    for cdc in observation.reader.commit(version).cdcs if changes else ():
        yield "vacuum.keeps-change-data", cdc.path, exists(paths.resolve(observation.folder, cdc.path))


CHECK = Check(CheckName.VACUUM, JUDGES, check, (Vacuum,))
