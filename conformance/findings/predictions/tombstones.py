"""What an older deltalake does wrong with removed files: in checkpoints, and in a full vacuum.

Of the map `remove.partitionValues`, an older deltalake says that no value of it is null. A null is then left out of the
values, and not of the keys, so that the column of values is shorter than that of the keys.

A full vacuum deletes all files that are not live, however young: those that no version needs any more, those that were
removed, change data, and what nobody has committed.
"""

from __future__ import annotations

import re
from pathlib import Path

from conformance.findings.predictions.tables import is_unchanged, message_of
from conformance.observations.observation import Observation
from delta_models.log import Snapshot, paths
from delta_models.log.actions import Remove
from delta_models.log.reader import live_adds
from delta_models.operations import Vacuum
from delta_models.outcomes import NoChange, Rejected
from delta_models.requirements import Violation

SHORTER = re.compile(
    r"Struct child array #1 has length smaller than expected for struct array \((\d+) < (\d+)\)"
)
LOOKED_INTO = (
    "_delta_index",
    "_change_data",
)  # what else begins with an underscore or a dot is not the table's
UNMASKED = 'Found unmasked nulls for non-nullable StructArray field "value"'


def values_of_removes_are_short(observation: Observation, violation: Violation) -> bool:
    """The values of the map are as many as those of the removed files that are not null, the keys as many as all."""
    told = SHORTER.search(violation.detail)
    if told is None or observation.after is None:
        return False
    values = _values_of_removes(observation.after)
    held = sum(value is not None for value in values)
    return (int(told[1]), int(told[2])) == (held, len(values)) and held < len(values)


def refused_for_a_null_of_a_remove(observation: Observation, _: Violation) -> bool:
    """What reads the removed files is refused in these words, where one of them has a null partition value."""
    before = observation.before
    return (
        before is not None
        and isinstance(observation.outcome, Rejected)
        and UNMASKED in message_of(observation.outcome)
        and None in _values_of_removes(before)
        and is_unchanged(observation)
    )


def all_but_live_files_vacuumed(observation: Observation, violation: Violation) -> bool:
    """A full vacuum has left the live files, and of the others those that no vacuum of deltalake looks at."""
    before, after, operation = observation.before, observation.after, observation.operation
    if not isinstance(operation, Vacuum) or operation.lite or operation.dry_run:
        return False
    if before is None or after is None:
        return False
    folder = observation.folder
    live = {paths.resolve(folder, add.path) for add in live_adds(after)}
    found = {path for path in folder.rglob("*") if path.is_file() and _is_looked_at(path, observation)}
    if found != {path for path in live if path.is_relative_to(folder)}:
        return False
    if violation.requirement == "outcome.commits":
        return bool(before.tombstones) and len(observation.commits) == 2  # the vacuum's start and its end
    if violation.requirement == "crash.left-overs-kept":
        return True  # they are young as well
    gone = paths.resolve(folder, violation.where)
    return gone not in live and gone.is_relative_to(folder) and _is_looked_at(gone, observation)


def _is_looked_at(path: Path, observation: Observation) -> bool:
    """Whether deltalake's vacuum looks at a file: by the beginning of its path, as the storage spells it."""
    name = path.relative_to(observation.folder).as_posix()
    partition_by = observation.after.metadata.partition_columns if observation.after is not None else ()
    return not name.startswith((".", "_")) or name.startswith((*LOOKED_INTO, *partition_by))


def vacuum_begun_and_told_as_nothing(observation: Observation, _: Violation) -> bool:
    """A full vacuum that a fault met reported nothing to do, and has committed that it began to delete young files."""
    before, operation = observation.before, observation.operation
    if not isinstance(operation, Vacuum) or operation.lite or operation.dry_run or before is None:
        return False
    names = [commit.info.values.get("operation") for commit in observation.commits if commit.info is not None]
    return isinstance(observation.outcome, NoChange) and set(names) in (
        {"VACUUM START"},
        {"VACUUM START", "VACUUM END"},
    )


def new_files_vacuumed(observation: Observation, violation: Violation) -> bool:
    """A vacuum has deleted files that another writer made at the same time, and none that was live before."""
    race, before, after = observation.race, observation.before, observation.after
    if race is None or before is None or after is None:
        return False
    full = [one for one in race.operations if isinstance(one, Vacuum) and not one.lite and not one.dry_run]
    known = {add.path for add in before.live.values()}
    named = [
        path
        for commit in observation.commits
        for path in (*(add.path for add in commit.adds), *(cdc.path for cdc in commit.cdcs))
    ]
    new = [path for path in named if path not in known]
    gone = [path for path in new if _is_gone(observation, path)]
    stay = [add.path for add in live_adds(after) if add.path in known]
    return (
        full != []
        and any(path in violation.detail for path in gone)
        and not any(_is_gone(observation, path) for path in stay)
    )


def _is_gone(observation: Observation, path: str) -> bool:
    return not paths.resolve(observation.folder, path).exists()


def _values_of_removes(snapshot: Snapshot) -> list[str | None]:
    removes: list[Remove] = list(snapshot.tombstones.values())
    return [value for remove in removes for value in (remove.partition_values or {}).values()]
