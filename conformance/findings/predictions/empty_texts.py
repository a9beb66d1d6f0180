"""Empty texts in partition columns: null by the protocol, and an empty text to an engine that takes the log's word.

Such an engine has other rows before it than our reader: those of the files that say "" have an empty text where null
is. What it answers and what it does with them is what the model says of these rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from conformance.checks.outcomes import same_outcome
from conformance.findings.predictions.commits import METRIC
from conformance.findings.predictions.tables import (
    files_with_rows,
    is_unchanged,
    projected,
    rows_after,
    rows_before,
    same_rows,
    snapshot_of,
    table_with,
)
from conformance.observations.observation import Observation, ReadObservation
from conformance.observations.version_resolution import resolve_states
from delta_models.expressions import holds
from delta_models.log import Snapshot
from delta_models.log.actions import Add, Cdc
from delta_models.log.changes import commit_changes
from delta_models.log.column_mapping import log_name
from delta_models.log.reader import LogReader
from delta_models.operations import AtVersion, Delete, Merge, Read, ReadChanges, Update
from delta_models.outcomes import Committed
from delta_models.requirements import Violation
from delta_models.schema import STRING
from delta_models.table import ModelHistory
from delta_models.table.history_model import State
from delta_models.table.merge import count_merged_rows
from delta_models.values import Row, bag

KEPT = ("latest", "reopen")  # the reads that an operation which keeps the rows is judged by


def empty_text_answered(observation: Observation, violation: Violation) -> bool:
    """Reads answer an empty text where null is, and pick rows by it; of what they answer nothing else is wrong."""
    looks = [look for look in observation.looks if _is_about(look, violation)]
    return bool(looks) and all(_answers_empty_texts(observation, look) for look in looks)


def operation_sees_empty_text(observation: Observation, _: Violation) -> bool:
    """The operation found an empty text where null is, and did by that what the model does."""
    rows = _seen_before(observation)
    return rows is not None and _leaves(observation, rows)


def outcome_by_empty_text(observation: Observation, _: Violation) -> bool:
    """The operation is refused, made, or found to be nothing as it has to be if an empty text is where null is."""
    before, rows = observation.before, _seen_before(observation)
    if before is None or rows is None:
        return False
    state = State(table_with(before, rows), (1, 1), may_remove=False)
    allowed = ModelHistory((state,)).expect(observation.operation).allowed_outcomes
    if not any(same_outcome(one.outcome, observation.outcome) for one in allowed):
        return False
    if isinstance(observation.outcome, Committed):
        return _leaves(observation, rows)
    return is_unchanged(observation)


def files_found_by_empty_text(observation: Observation, _: Violation) -> bool:
    """Each file that goes has a row that the operation picks with an empty text where null is."""
    operation, before = observation.operation, observation.before
    rows = _seen_before(observation)
    if not isinstance(operation, Delete | Update) or before is None or rows is None:
        return False
    removed = {remove.key for commit in observation.commits for remove in commit.removes}
    picked = {
        add.key
        for add, held in files_with_rows(observation, before)
        if any(
            holds(operation.where, before.schema, _with_empty_texts(row, _empty_places(before, add)))
            for row in held
        )
    }
    return removed <= picked and _leaves(observation, rows)


def merged_by_empty_text(observation: Observation, violation: Violation) -> bool:
    """The counts of a merge are those of the rows that it finds with an empty text where null is."""
    operation, before = observation.operation, observation.before
    right, wrong = rows_before(observation), _seen_before(observation)
    if not isinstance(operation, Merge) or before is None or right is None or wrong is None:
        return False
    true, counted = (count_merged_rows(table_with(before, rows), operation) for rows in (right, wrong))
    told = METRIC.search(violation.detail)
    if true is None or counted is None or true == counted or told is None:
        return False
    said, copied_more = int(told["said"]), true.inserted + true.updated - counted.inserted - counted.updated
    match told["name"]:
        case "numtargetrowsinserted":
            return said == counted.inserted
        case "numtargetrowsupdated":
            return said == counted.updated
        case "numtargetrowsdeleted":
            return said == counted.deleted
        case "numtargetrowscopied":
            return said == int(told["fact"]) + copied_more
    return False


def changes_tell_empty_text(observation: Observation, _: Violation) -> bool:
    """The change feed tells an empty text where null is, and nothing else of it is wrong."""
    looks = [look for look in observation.looks if isinstance(look.operation, ReadChanges)]
    told = [look for look in looks if look.answer is not None]
    return bool(told) and all(_tells_empty_texts(observation, look) for look in told)


# Reads


def _is_about(look: ReadObservation, violation: Violation) -> bool:
    """Whether a violation is one of this read. Rules of operations that keep the rows name its kind alone."""
    if not isinstance(look.operation, Read) or look.answer is None:
        return False
    if violation.read is not None:
        return look.operation == violation.read and not look.again
    return look.kind in KEPT and violation.where.startswith(f"{look.kind} read after ")


def _answers_empty_texts(observation: Observation, look: ReadObservation) -> bool:
    read = look.operation
    snapshot = snapshot_of(observation, read) if isinstance(read, Read) else None
    if not isinstance(read, Read) or snapshot is None or look.answer is None:
        return False
    rows = _seen(observation, snapshot)
    if rows is None:
        return False
    picked = [row for row in rows if holds(read.where, snapshot.schema, row)]
    return bag(*projected(read, snapshot.schema, picked)) == bag(look.answer.schema, look.answer.rows)


# Operations


def _seen_before(observation: Observation) -> list[Row] | None:
    return None if observation.before is None else _seen(observation, observation.before)


def _seen(observation: Observation, snapshot: Snapshot) -> list[Row] | None:
    """The rows as the log spells them; None if it spells none as an empty text."""
    rows: list[Row] = []
    found = False
    for add, held in files_with_rows(observation, snapshot):
        places = _empty_places(snapshot, add)
        found = found or bool(places and held)
        rows += [_with_empty_texts(row, places) for row in held]
    return rows if found else None


def _empty_places(snapshot: Snapshot, add: Add | Cdc) -> frozenset[int]:
    """The text columns of which a file's partition value is an empty text."""
    return frozenset(
        snapshot.schema.index(name)
        for name in snapshot.partition_by
        if snapshot.schema[name].type == STRING and add.partition_values.get(log_name(snapshot, name)) == ""
    )


def _with_empty_texts(row: Row, places: frozenset[int]) -> Row:
    return tuple("" if place in places else value for place, value in enumerate(row))


def _leaves(observation: Observation, rows: list[Row]) -> bool:
    """Whether the operation, made on these rows, leaves those that the log has now."""
    before, found = observation.before, rows_after(observation)
    if before is None or found is None:
        return False
    state = State(table_with(before, rows), (1, 1), may_remove=False)
    left = ModelHistory((state,)).expect(observation.operation).allowed_outcomes
    return any(
        one.table.schema.names == found.schema.names
        and same_rows(one.table.schema, one.table.stored(one.table.rows), found.rows)
        for one in left
        if same_outcome(one.outcome, observation.outcome)
    )


# The change feed


def _tells_empty_texts(observation: Observation, look: ReadObservation) -> bool:
    read = resolve_states(look.operation, observation.versions, observation.reader)
    if not isinstance(read, ReadChanges) or not isinstance(read.first, AtVersion) or look.answer is None:
        return False
    last = read.last.version if isinstance(read.last, AtVersion) else None
    rows = list(_changes(observation.reader, read.first.version, last))
    return any("" in row for row in rows) and bag(look.answer.schema, rows) == bag(
        look.answer.schema, look.answer.rows
    )


def _changes(reader: LogReader, first: int, last: int | None) -> Iterator[Row]:
    """The changes as the log spells them, each with its kind and its version."""
    end = reader.snapshot(last)
    literal = _LiteralReader(reader.folder, zone=reader.zone, copied=reader.copied, stored=reader.stored)
    for commit in reader.commits(first, end.version):
        if not commit.cdcs:
            for row, kind in commit_changes(literal, end, commit):
                yield (*row, kind, commit.version)
        for cdc in commit.cdcs:
            places = _empty_places(end, cdc)
            for row, kind in commit_changes(reader, end, replace(commit, cdcs=(cdc,))):
                yield (*_with_empty_texts(row, places), kind, commit.version)


class _LiteralReader(LogReader):
    """Our reader, but an empty partition text is an empty text."""

    def file_rows(self, snapshot: Snapshot, add: Add) -> tuple[Row, ...]:
        places = _empty_places(snapshot, add)
        return tuple(_with_empty_texts(row, places) for row in super().file_rows(snapshot, add))
