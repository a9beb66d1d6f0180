"""Does the table, as our own reader reads it, equal the model's table? If not, the writer is to blame."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from conformance.checks import log_oracle
from conformance.checks.formatting import difference, differing_columns
from conformance.checks.names import CheckName
from conformance.checks.recorder import Check, CheckRecorder, judged_by
from conformance.checks.schema_comparison import comparable_schema
from conformance.observations.observation import Observation
from delta_adapters.capabilities import functions_of
from delta_models.expressions import Expression
from delta_models.log import CorruptLog, LogError, LogReader, MissingFile, Snapshot
from delta_models.operations import (
    Append,
    AtState,
    Checkpoint,
    CleanLog,
    CloneTo,
    CompactLog,
    Delete,
    Drop,
    Merge,
    Optimize,
    Overwrite,
    Purge,
    Read,
    SetProperties,
    UnsetProperties,
    Update,
    Vacuum,
    ZOrder,
)
from delta_models.outcomes import Committed
from delta_models.requirements import Checked, checked
from delta_models.schema import STRING, Struct
from delta_models.values import Rows
from delta_models.wire_names import name_of, text_of

JUDGES = judged_by(CheckName.TABLE_CONTENTS)
STATES_STAY = "write.states-stay"
FEATURE = "delta.feature."  # the prefix of properties that enable a feature; the protocol then names it
NEEDS_NEW_READER = (Checkpoint, CleanLog, CompactLog, Optimize, Purge, Vacuum, ZOrder)


def check(observation: Observation, recorder: CheckRecorder) -> Iterator[Checked]:
    """Judge the newest version against the model."""
    if observation.log_error is not None:
        return
    if not observation.wrote:
        return
    if isinstance(observation.operation, Drop):
        yield from _check_drop(observation)
        return
    if isinstance(observation.operation, CloneTo):
        yield from _check_clone(observation, observation.operation)
    if observation.after is None:
        if observation.branch is not None and observation.model.exists:
            yield checked(_rule(observation) or "write.data-files-readable", "there is no table")
        return
    try:
        after, rows = _read_table(observation, observation.after)
    except CorruptLog as error:
        yield checked("log.loads", f"read anew: {error}")
        return
    except LogError as error:
        if not recorder.has("log.", "dv."):  # these say more precisely what is wrong
            yield checked("write.data-files-readable", str(error))
        return
    yield checked("write.data-files-readable", None)
    yield from _check_rearranged_only(observation, rows)
    if observation.branch is not None and observation.model.exists:
        yield from _check_against_model(observation, after, rows)


def _read_table(observation: Observation, after: Snapshot) -> tuple[Snapshot, Rows]:
    """Return the newest version and its rows. After maintenance a new reader reads them, because the old one caches."""
    log_oracle.require_files(observation, after)
    if not isinstance(observation.operation, NEEDS_NEW_READER):
        return after, observation.reader.rows(after)
    reader = LogReader(observation.folder, zone=observation.reader.zone, stored=observation.reader.stored)
    snapshot = reader.snapshot()
    return snapshot, reader.rows(snapshot)


def _check_against_model(observation: Observation, after: Snapshot, rows: Rows) -> Iterator[Checked]:
    model = observation.model
    context = f"after {name_of(observation.operation)} (version {after.version})"
    problem = schema_difference(model.schema, after.schema)
    if _may_grow(observation):
        is_reordered = (
            problem is not None and schema_difference(_sorted(model.schema), _sorted(after.schema)) is None
        )
        names = f"{_names(after.schema.names)} instead of {_names(model.schema.names)}"
        yield checked("write.column-order", f"{context}: {names}" if is_reordered else None)
        if is_reordered:
            return
    has_schema = not problem
    yield checked("write.schema", None if has_schema else f"{context}: {problem}")
    same_partitioning = tuple(after.partition_by) == tuple(model.partition_by)
    problem = f"{context}: by {_names(after.partition_by)} instead of {_names(model.partition_by)}"
    yield checked("write.partitioning", None if same_partitioning else problem)
    properties_problem = _properties_problem(observation, after)
    if model.properties:
        yield checked("write.properties", f"{context}: {properties_problem}" if properties_problem else None)
    rule = _rule(observation)
    if not has_schema or rule is None:
        return
    rows_problem = difference(model.as_rows, rows)
    columns = differing_columns(model.as_rows, rows) if rows_problem else ()
    if isinstance(observation.operation, SetProperties | UnsetProperties):
        rows_problem = rows_problem or properties_problem
    yield checked(
        rule, f"{context}: {rows_problem}" if rows_problem else None, f"version {after.version}", columns
    )
    yield from _check_empty_texts(observation, rows)


def _may_grow(observation: Observation) -> bool:
    """Return whether the operation may add columns to the schema."""
    match observation.operation:
        case Append(schema_mode="merge") | Overwrite(schema_mode="merge") | Merge(schema_evolution=True):
            return True
    return False


def _sorted(schema: Struct) -> Struct:
    return Struct(tuple(sorted(schema.fields, key=lambda field: field.name)))


def _properties_problem(observation: Observation, after: Snapshot) -> str | None:
    """Describe properties that lack the value set, or that were unset and remain. Writers may add others."""
    properties = dict(after.properties)
    named = {f"{FEATURE}{writer_feature}" for writer_feature in after.protocol.writer_features or ()}
    problems = [
        f"{key} is {properties.get(key)!r} instead of {value!r}"
        for key, value in observation.model.properties
        if properties.get(key) != value and key not in named
    ]
    if isinstance(observation.operation, UnsetProperties):
        problems += [
            f"{key} is still {properties[key]!r}" for key in observation.operation.keys if key in properties
        ]
    return "; ".join(problems) or None


def _rule(observation: Observation) -> str | None:
    """Return the rule for the rows that the operation leaves; None for a refusal, which `outcomes` judges."""
    named = observation.branch.requirement if observation.branch is not None else ""
    if not named.startswith("contents."):
        return None
    if _nan_decides(observation):
        return "write.nan-order"
    return "write.beyond-core" if _beyond_core(observation) else named


def picks_beyond_core(observation: Observation) -> bool:
    """Return whether a step selects rows by what engines define differently, such as NaN or functions."""
    return _nan_decides(observation) or _beyond_core(observation)


def _beyond_core(observation: Observation) -> bool:
    """Return whether the operation selects rows by a predicate outside the portable core."""
    match observation.operation:
        case Delete(where=where) | Update(where=where) | Overwrite(where=where) if (
            observation.before is not None
        ):
            return log_oracle.is_beyond_core(where, observation.before.schema)
        case Merge():
            return bool(functions_of(observation.operation))
    return False


def _nan_decides(observation: Observation) -> bool:
    match observation.operation:
        case Delete(where=where) | Update(where=where) | Overwrite(where=where) if where is not None:
            expressions: tuple[Expression | None, ...] = (where,)
            sources: tuple[Rows, ...] = ()
        case Merge(source=source, on=on, clauses=clauses):
            expressions, sources = (on, *(clause.condition for clause in clauses)), (source,)
        case _:
            return False
    try:
        return log_oracle.nan_matters(expressions, log_oracle.rows_before(observation), *sources)
    except log_oracle.NotKnown:
        return False


def _check_clone(observation: Observation, operation: CloneTo) -> Iterator[Checked]:
    """Judge that the clone holds the rows of the cloned state."""
    if not isinstance(observation.outcome, Committed):
        return
    state = operation.at
    version = observation.versions.get(state.step) if isinstance(state, AtState) else None
    reader = LogReader(observation.folder.parent / operation.target, zone=observation.reader.zone)
    try:
        original = observation.reader.snapshot(version)
        rows, clone = observation.reader.rows(original), reader.snapshot()
        problem = schema_difference(original.schema, clone.schema) or difference(rows, reader.rows(clone))
    except LogError as error:
        problem = str(error)
    yield checked("contents.clone", problem, operation.target)


def _check_drop(observation: Observation) -> Iterator[Checked]:
    """Judge that a managed table's files go with it, and an external one's stay."""
    rule = _rule(observation)
    if rule is None:
        return
    if observation.model.exists:
        kept = (
            observation.after is not None
            and observation.before is not None
            and observation.after.version == observation.before.version
        )
        yield checked(rule, None if kept else "the table is no longer what it was")
        return
    remaining = (
        sorted(path.name for path in observation.folder.rglob("*") if path.is_file())
        if observation.folder.is_dir()
        else []
    )
    yield checked(rule, f"files are left: {', '.join(remaining[:5])}" if remaining else None)


def _check_empty_texts(observation: Observation, rows: Rows) -> Iterator[Checked]:
    """Judge that an empty string written into a partition column became null."""
    operation, model = observation.operation, observation.model
    if not isinstance(operation, Append | Overwrite) or not isinstance(observation.outcome, Committed):
        return
    for name in model.partition_by:
        incoming = operation.rows.schema
        if model.schema[name].type != STRING or name not in incoming.names:
            continue
        if any(row[incoming.index(name)] == "" for row in operation.rows.rows):
            position = model.schema.index(name)
            expected, actual = (
                sum(row[position] is None for row in table_rows) for table_rows in (model.rows, rows.rows)
            )
            problem = None if expected == actual else f"{name}: {actual} nulls instead of {expected}"
            yield checked("contents.empty-partition-text", problem, columns=(name,))


def _check_rearranged_only(observation: Observation, rows: Rows) -> Iterator[Checked]:
    """Judge that rows stay if every file action of the step says dataChange=false."""
    flags = [add.data_change for commit in observation.commits for add in commit.adds]
    flags += [remove.data_change for commit in observation.commits for remove in commit.removes]
    if observation.before is None or not flags or any(flags) or observation.before.schema != rows.schema:
        return
    try:
        problem = difference(log_oracle.rows_before(observation), rows)
    except log_oracle.NotKnown:
        return
    where = f"versions {observation.commits[0].version} to {observation.commits[-1].version}"
    yield checked("write.data-change-false-keeps-rows", problem, where)


def check_old_states(observation: Observation, _recorder: CheckRecorder) -> Iterator[Checked]:
    """Judge old versions that were read in this step against the model."""
    if observation.log_error is not None or not (
        observation.wrote or isinstance(observation.operation, Read)
    ):
        return
    for read_observation in observation.looks:
        if read_observation.kind != "state" or read_observation.expected is None:
            continue
        if not isinstance(read_observation.operation, Read):
            continue
        try:
            log_oracle.require_files(
                observation, log_oracle.snapshot_for(observation, read_observation.operation)
            )
            problem = difference(
                read_observation.expected, log_oracle.expected_answer(observation, read_observation)
            )
        except MissingFile as error:
            problem = str(error)
        except log_oracle.NotKnown as error:
            problem = str(error.__cause__) if error.__cause__ else None
            if problem is None:
                continue
        yield checked(STATES_STAY, problem, text_of(read_observation.operation))


def schema_difference(expected: Struct, got: Struct) -> str | None:
    """Describe how two schemas differ as Delta JSON, without metadata that writers may add; None if not."""
    if comparable_schema(expected) == comparable_schema(got):
        return None
    if expected.names != got.names:
        return f"columns {_names(got.names)} instead of {_names(expected.names)}"
    differences = [
        f"{left.name!r} is {_column(right)} instead of {_column(left)}"
        for left, right in zip(expected, got, strict=True)
        if comparable_schema(Struct((left,))) != comparable_schema(Struct((right,)))
    ]
    return "; ".join(differences)


def _column(field: Any) -> str:
    null = "" if field.nullable else " not null"
    return f"{field.type}{null}" + ("" if field.metadata_json == "{}" else f" {field.metadata_json}")


def _names(names: tuple[str, ...]) -> str:
    return ", ".join(map(repr, names)) or "nothing"


CHECK = Check(CheckName.TABLE_CONTENTS, JUDGES, check)
OLD_STATES_CHECK = Check(CheckName.TABLE_CONTENTS, JUDGES, check_old_states)
