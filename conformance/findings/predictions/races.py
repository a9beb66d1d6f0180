"""Wrong tables after races: what a mechanism leaves too much is taken away, and then an order must explain the rest."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from conformance.findings.predictions.passed_over import one_group_of_files_written_in_a_race
from conformance.findings.predictions.tables import rows_after
from conformance.observations.observation import Observation, RaceObservation
from delta_models.concurrency import CompletedOperation
from delta_models.concurrency.serializability import serial_states
from delta_models.log import Commit, LogError, Snapshot, transitions
from delta_models.log.actions import Add
from delta_models.operations import Append, Read, ReadStream
from delta_models.outcomes import Committed, NoChange, Rejected
from delta_models.requirements import Violation
from delta_models.values import Key, bag

READ = "conflict.delete-read"


def append_refused_as_reader(observation: Observation, violation: Violation) -> bool:
    """Each append that is refused beside a rewrite is refused for a file that it is said to have read.

    Of refusals that the documentation excludes, those of appends are all there are.
    """
    race = observation.race
    if race is None:
        return False
    refused = [
        outcome
        for operation, outcome in zip(race.operations, race.outcomes, strict=True)
        if isinstance(operation, Append) and isinstance(outcome, Rejected)
    ]
    if violation.requirement == "race.conflicts-as-documented" and len(refused) != sum(
        isinstance(outcome, Rejected) for outcome in race.outcomes
    ):
        return False
    # Nothing of it is there: some order of the others explains the table, but for files that one may have passed over.
    return (
        refused != []
        and all(outcome.kind == READ for outcome in refused)
        and any(commit.removes for commit in observation.commits)
        and (
            _is_explained(observation, race, Counter())
            or one_group_of_files_written_in_a_race(observation, violation)
        )
    )


def rewritten_files_optimized_again(observation: Observation, _: Violation) -> bool:
    """Without the rows of files that an optimize removed although another had done so, all is right."""
    return _right_without(observation, _removed_twice(observation, by_optimize=True))


def optimized_files_kept(observation: Observation, _: Violation) -> bool:
    """Without the rows of files that an overwrite removed although an optimize had rewritten them, all is right."""
    return _right_without(observation, _removed_twice(observation, by_optimize=False))


def optimize_removes_optimized_files(observation: Observation, violation: Violation) -> bool:
    """The files that are not live were removed by an optimize before, in the same race, and now by another one."""
    return _all_removed_by_optimize(observation, violation, rearranges=True)


def overwrite_removes_optimized_files(observation: Observation, violation: Violation) -> bool:
    """The files that are not live were removed by an optimize before, in the same race, and now by an overwrite."""
    return _all_removed_by_optimize(observation, violation, rearranges=False)


def new_files_kept(observation: Observation, _: Violation) -> bool:
    """Without the rows of files that were added before an overwrite of the whole table committed, all is right."""
    race, after = observation.race, observation.after
    if race is None or after is None:
        return False
    added: list[Add] = []
    for commit in observation.commits:
        if _overwrites_everything(commit) and added:
            kept = [add for add in added if add.key in after.live]
            if kept and _is_explained(observation, race, _rows_of(observation, after, kept)):
                return True
        added += [add for add in commit.adds if add.data_change]
    return False


def _right_without(observation: Observation, doubled: list[Add]) -> bool:
    race, after = observation.race, observation.after
    if race is None or after is None or not doubled:
        return False
    return _is_explained(observation, race, _rows_of(observation, after, doubled))


def _removed_twice(observation: Observation, *, by_optimize: bool) -> list[Add]:
    """The files that a commit of the race, an optimize or a change of rows, removes after an optimize has."""
    found: list[Add] = []
    for commit, first, add in _stale_removes(observation):
        if _only_rearranges(first) and _only_rearranges(commit) is by_optimize:
            found.append(add)
        elif _only_rearranges(commit) is by_optimize:
            return []  # something else removed it: another fault
    return found


def _all_removed_by_optimize(observation: Observation, violation: Violation, *, rearranges: bool) -> bool:
    stale = [
        (commit, first) for commit, first, _ in _stale_removes(observation) if commit.name == violation.where
    ]
    named = sum(
        remove.key not in before.live
        for before, commit, _ in transitions(observation.before, observation.commits)
        if before is not None and commit.name == violation.where
        for remove in commit.removes
    )
    return (
        named > 0
        and named == len(stale)
        and all(_only_rearranges(first) and _only_rearranges(commit) is rearranges for commit, first in stale)
    )


def _stale_removes(observation: Observation) -> Iterator[tuple[Commit, Commit, Add]]:
    """Each remove in the race of a file that a commit before it in the race removed, with that commit and the add."""
    adds = {} if observation.before is None else dict(observation.before.live.items())
    removed: dict[object, Commit] = {}
    for commit in observation.commits:
        for remove in commit.removes:
            if remove.key in removed and remove.key in adds:
                yield commit, removed[remove.key], adds[remove.key]
            removed[remove.key] = commit
        adds |= {add.key: add for add in commit.adds}


def _only_rearranges(commit: Commit) -> bool:
    return not commit.data_change and bool(commit.removes)


def _overwrites_everything(commit: Commit) -> bool:
    """Whether a commit is deltalake's overwrite of a whole table."""
    values = commit.info.values if commit.info is not None else {}
    parameters = values.get("operationParameters")
    if not isinstance(parameters, dict) or values.get("operation") != "WRITE":
        return False
    return parameters.get("mode") == "Overwrite" and not parameters.get("predicate")


def _rows_of(observation: Observation, after: Snapshot, adds: Iterable[Add]) -> Counter[Key]:
    """The rows of files, also of such as are live no more."""
    found: Counter[Key] = Counter()
    for add in adds:
        try:
            found += bag(after.schema, observation.reader.file_rows(after, add))
        except LogError:
            return Counter()
    return found


def _is_explained(observation: Observation, race: RaceObservation, too_many: Counter[Key]) -> bool:
    """Whether some order of what committed leaves the table, if it had not these rows too many."""
    found = rows_after(observation)
    if found is None:
        return False
    left = bag(found.schema, found.rows)
    if not too_many <= left:
        return False
    committed = [
        CompletedOperation(operation, owner)
        for operation, owner, outcome in zip(race.operations, race.owners, race.outcomes, strict=True)
        if not isinstance(operation, Read | ReadStream) and isinstance(outcome, Committed | NoChange)
    ]
    states = serial_states(race.model_history, committed)
    return any(end.schema == found.schema and end.bag == left - too_many for *_, end in states)
