"""Wrong outcomes: an engine refuses or breaks off what it must do, in the words of one mechanism, or does too much."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from conformance.findings.predictions.tables import (
    files_with_rows,
    holds_files,
    is_unchanged,
    message_of,
    rows_after,
    rows_before,
    same_rows,
    snapshot_of,
    wrong_reads,
)
from conformance.observations.observation import Observation
from delta_models.log import Commit, Snapshot, paths
from delta_models.log.actions import Add
from delta_models.log.reader import live_adds
from delta_models.operations import (
    AddColumn,
    Append,
    Create,
    CreateAs,
    Delete,
    Merge,
    Optimize,
    Overwrite,
    Read,
    ReadChanges,
    ReadStream,
    Replace,
    Vacuum,
    WriteStream,
    ZOrder,
)
from delta_models.outcomes import Committed, NoChange, Rejected, Unknown
from delta_models.requirements import Violation
from delta_models.schema import DATE, STRING, TIMESTAMP, TIMESTAMP_NTZ
from delta_models.table import Table
from delta_models.table.merge import merge
from delta_models.values import Rows, Value
from delta_models.wire_names import text_of

LONG_NAME = 255  # bytes that a file system allows a name
DAY = 86_400_000_000
YEARS = range(-719_162, 2_932_897)  # the days of the years 1 to 9999


def process_aborts_on_slices(observation: Observation, violation: Violation) -> bool:
    """The process aborts while it writes rows in several batches, on the length of a slice."""
    operation = observation.operation
    return (
        isinstance(operation, Append | Overwrite)
        and operation.files > 1
        and "SIGABRT" in violation.detail
        and ("end <= self.len()" in violation.detail or "cannot unwind" in violation.detail)
    )


def column_that_is_there_merged(observation: Observation, _: Violation) -> bool:
    """A column with the name and type of one that there is was added: one commit tells the same schema once more."""
    operation, before, after = observation.operation, observation.before, observation.after
    if not isinstance(operation, AddColumn) or operation.parent or before is None or after is None:
        return False
    if not isinstance(observation.outcome, Committed) or len(observation.commits) != 1:
        return False
    (commit,) = observation.commits
    there = {field.name: field.type for field in before.schema}
    return (
        there.get(operation.field.name) == operation.field.type
        and after.metadata == before.metadata
        and commit.protocol is None
        and not (commit.adds or commit.removes)
    )


def merge_of_all_not_parsed(observation: Observation, _: Violation) -> bool:
    """A merge of all columns is refused since a name between backquotes is not parsed."""
    operation = observation.operation
    return (
        isinstance(operation, Merge)
        and any(clause.everything for clause in operation.clauses)
        and observation.before is not None
        and any("`" in name for name in observation.before.schema.names)
        and "close delimiter '`'" in message_of(observation.outcome)
        and is_unchanged(observation)
    )


def deleted_by_several_source_rows(observation: Observation, violation: Violation) -> bool:
    """Rows are deleted that match several times, each time by a delete without a condition, and the rest is right."""
    operation, before, found = observation.operation, observation.before, rows_after(observation)
    rows = rows_before(observation)
    if not isinstance(operation, Merge) or before is None or found is None or rows is None:
        return False
    # A delete with a condition that acts on such a row makes the merge ambiguous, as an update does.
    clauses = tuple(
        replace(clause, action="update")
        if clause.when == "matched" and clause.action == "delete" and clause.condition is not None
        else clause
        for clause in operation.clauses
    )
    table = Table(True, before.schema, tuple(before.partition_by), rows=rows)
    probed = merge(table, replace(operation, clauses=clauses)).allowed_outcomes
    return any(isinstance(probe.outcome, Committed) for probe in probed) and _is_what_breaks(
        observation, violation, found
    )


def written_under_a_known_transaction(observation: Observation, violation: Violation) -> bool:
    """A write under a transaction id that the table has is made as if the table had it not, id included."""
    operation, before, found = observation.operation, observation.before, rows_after(observation)
    if not isinstance(operation, Append | Overwrite) or operation.transaction is None:
        return False
    if before is None or found is None:
        return False
    application, version = operation.transaction
    known = before.transactions.get(application)
    told = [(one.app_id, one.version) for commit in observation.commits for one in commit.transactions]
    return (
        known is not None
        and known.version >= version
        and told == [operation.transaction]
        and _is_what_breaks(observation, violation, found)
    )


def _is_what_breaks(observation: Observation, violation: Violation, found: Rows) -> bool:
    """Whether these are the rows of an outcome that is right but for breaking this requirement."""
    return any(
        allowed.breaks == violation.requirement
        and isinstance(observation.outcome, type(allowed.outcome))
        and allowed.table.schema.names == found.schema.names
        and same_rows(found.schema, allowed.table.rows, found.rows)
        for allowed in observation.expectation.allowed_outcomes
    )


def files_with_tilde_missing(observation: Observation, _: Violation) -> bool:
    """A compaction is refused since files are missing, and the paths that it names have %7E for a tilde."""
    message = message_of(observation.outcome)
    named = [word for word in message.split() if word.startswith("file:")]
    return (
        isinstance(observation.operation, Optimize | ZOrder)
        and isinstance(observation.outcome, Rejected)
        and "missing files" in message
        and named != []
        and all("%7E" in path for path in named)
        and is_unchanged(observation)
    )


def folder_name_too_long(observation: Observation, _: Violation) -> bool:
    """The file system refuses the name of a partition's folder, and nothing is committed."""
    message = message_of(observation.outcome)
    return (
        isinstance(observation.outcome, Unknown)
        and "File name too long" in message
        and any(len(part) > LONG_NAME and "=" in part for part in message.split("/"))
        and is_unchanged(observation)
    )


def table_not_replaced(observation: Observation, _: Violation) -> bool:
    """The table stays as it was: without a word if it has the new schema, else since the schema does not match."""
    operation, before = observation.operation, observation.before
    if not isinstance(operation, Replace) or before is None or not is_unchanged(observation):
        return False
    if isinstance(observation.outcome, NoChange):
        return True
    return isinstance(observation.outcome, Rejected) and observation.outcome.kind == "table-exists"


def left_over_folder_taken_for_a_table(observation: Observation, _: Violation) -> bool:
    """A creation is refused since there is a table, where there is no table and a folder that is not empty."""
    return (
        isinstance(observation.operation, Create | CreateAs)
        and isinstance(observation.outcome, Rejected)
        and observation.outcome.kind == "table-exists"
        and observation.before is None
        and observation.after is None
        and holds_files(observation.folder)
    )


def delete_wants_delta_sources(observation: Observation, _: Violation) -> bool:
    """A delete is refused as one from a table that is no Delta table."""
    return (
        isinstance(observation.operation, Delete)
        and isinstance(observation.outcome, Rejected)
        and "DELETE destination only supports Delta sources" in observation.outcome.message
        and is_unchanged(observation)
    )


def nul_in_a_folder_name(observation: Observation, _: Violation) -> bool:
    """A write of a partition text with a NUL breaks off at the folder, and nothing is committed."""
    rows = getattr(observation.operation, "rows", None)
    table = observation.before
    if rows is None or table is None or not is_unchanged(observation):
        return False
    texts = [
        row[place]
        for place, field in enumerate(rows.schema)
        if field.type == STRING and field.name in table.partition_by
        for row in rows.rows
    ]
    held = any("\0" in text for text in texts if text)
    return held and "Mkdirs failed to create" in message_of(observation.outcome)


def state_not_empty(observation: Observation, violation: Violation) -> bool:
    """A stream is not started again since the folder of its progress is not empty."""
    name = "STATE_STORE_CHECKPOINT_LOCATION_NOT_EMPTY"
    return (
        isinstance(observation.operation, WriteStream)
        and isinstance(observation.outcome, Rejected)
        and (name in observation.outcome.message or name in violation.detail)
        and is_unchanged(observation)
    )


def year_not_parsed(observation: Observation, violation: Violation) -> bool:
    """A read is refused since a year before 1 or after 9999, which the table holds, is not parsed."""
    words = ("is out of range", "Invalid isoformat string", "Failed to parse string", "Error parsing")
    for read, look in wrong_reads(observation, violation):
        snapshot = snapshot_of(observation, read)
        if snapshot is None or not any(word in message_of(look.refused) for word in words):
            continue
        if any(_is_far(day) for day in _days(observation, snapshot)):
            return True
    return False


def change_data_under_escaped_path(observation: Observation, violation: Violation) -> bool:
    """The feed is refused for a file under the path that the log has for it, not decoded; decoded it is there."""
    if not any(isinstance(look.operation, ReadChanges | ReadStream) for look in observation.looks):
        return False
    commits = map(observation.reader.commit, observation.reader.listing().commits)
    named = {path for commit in commits for path in _paths_of(commit)}
    escaped = {path for path in named if paths.decode(path) != path}
    return any(
        path in violation.detail and paths.resolve(observation.folder, path).exists() for path in escaped
    )


def vectors_alone_deleted(observation: Observation, violation: Violation) -> bool:
    """Of what a state needs, files of deletion vectors are gone, and nothing else."""
    state = observation.after
    if violation.requirement == "vacuum.keeps-vectors":
        return isinstance(observation.operation, Vacuum)
    for read in (look.operation for look in observation.looks if isinstance(look.operation, Read)):
        if text_of(read) == violation.where:
            state = snapshot_of(observation, read)
    if state is None:
        return False
    gone = [add for add in live_adds(state) if _lacks_its_vector(observation.folder, add)]
    present = all(paths.resolve(observation.folder, add.path).exists() for add in live_adds(state))
    return present and gone != []


def feed_times_of_commit_info(observation: Observation, _: Violation) -> bool:
    """Each version of the feed has the time of its commitInfo, where that is not the commit's."""
    for look in observation.looks:
        if isinstance(look.operation, ReadChanges) and look.told:
            versions, times = look.told.get("_commit_version", ()), look.told.get("_commit_timestamp", ())
            pairs = set(zip(versions, times, strict=True))
            if pairs and all(_info_time(observation, version) * 1000 == time for version, time in pairs):
                return True
    return False


def history_times_of_commit_info(observation: Observation, _: Violation) -> bool:
    """Each version of the history has the time of its commitInfo."""
    for look in observation.looks:
        told = look.told or {}
        versions, times = told.get("version", ()), told.get("timestamp", ())
        if versions and len(versions) == len(times):
            pairs = zip(versions, times, strict=True)
            if all(str(_info_time(observation, version)) == str(time) for version, time in pairs):
                return True
    return False


def _paths_of(commit: Commit) -> set[str]:
    return {add.path for add in commit.adds} | {cdc.path for cdc in commit.cdcs}


def _info_time(observation: Observation, version: int) -> int:
    """The time in the commitInfo of a version, in milliseconds; 0 if it has none."""
    info = observation.reader.commit(version).info
    time = info.values.get("timestamp") if info is not None else None
    return time if isinstance(time, int) else 0


def _lacks_its_vector(folder: Path, add: Add) -> bool:
    file = add.deletion_vector.file(folder) if add.deletion_vector is not None else None
    return file is not None and not file.exists()


def _days(observation: Observation, snapshot: Snapshot) -> Iterator[Value]:
    """The days of all dates and moments in a state."""
    for _, rows in files_with_rows(observation, snapshot):
        for place, field in enumerate(snapshot.schema):
            if field.type in {DATE, TIMESTAMP, TIMESTAMP_NTZ}:
                scale = 1 if field.type == DATE else DAY
                yield from (row[place] // scale for row in rows if row[place] is not None)


def _is_far(day: Value) -> bool:
    return day not in YEARS
