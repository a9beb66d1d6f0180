"""Does the log, by our own reading of it and of the data files, hold the model's table? If not, the writer is wrong."""

from __future__ import annotations

from typing import Any

from conformance.checks import log_oracle
from conformance.checks.formatting import difference, differing_columns
from conformance.checks.recorder import Check, CheckRecorder, judged_by
from conformance.checks.schema_comparison import meaning
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
from delta_models.schema import STRING, Struct
from delta_models.values import Rows
from delta_models.wire_names import name_of, text_of

JUDGES = judged_by("contents")
FEATURE = "delta.feature."  # a property by which a feature is asked for; the protocol then names it
READ_COLD = (Checkpoint, CleanLog, CompactLog, Optimize, Purge, Vacuum, ZOrder)


def check(observation: Observation, recorder: CheckRecorder) -> None:
    """Judge the newest version against the model."""
    if observation.log_error is not None:
        return
    if not observation.wrote:
        return
    if isinstance(observation.operation, Drop):
        _dropped(observation, recorder)
        return
    if isinstance(observation.operation, CloneTo):
        _cloned(observation, observation.operation, recorder)
    if observation.after is None:
        if observation.branch is not None and observation.model.exists:
            recorder.judge(_rule(observation) or "write.data-files-readable", "there is no table")
        return
    try:
        after, rows = _own_reading(observation, observation.after)
    except CorruptLog as error:
        recorder.judge("log.loads", f"read anew: {error}")
        return
    except LogError as error:
        if not recorder.has("log.", "dv."):  # which say more exactly what is wrong
            recorder.judge("write.data-files-readable", str(error))
        return
    recorder.judge("write.data-files-readable", None)
    _rearranged_only(observation, rows, recorder)
    if observation.branch is not None and observation.model.exists:
        _against_the_model(observation, after, rows, recorder)


def _own_reading(observation: Observation, after: Snapshot) -> tuple[Snapshot, Rows]:
    """The newest version as we read it: anew and from files alone, where upkeep may have replaced what we remember."""
    log_oracle.require_files(observation, after)
    if not isinstance(observation.operation, READ_COLD):
        return after, observation.reader.rows(after)
    reader = LogReader(observation.folder, zone=observation.reader.zone, stored=observation.reader.stored)
    anew = reader.snapshot()
    return anew, reader.rows(anew)


def _against_the_model(
    observation: Observation, after: Snapshot, rows: Rows, recorder: CheckRecorder
) -> None:
    model = observation.model
    what = f"after {name_of(observation.operation)} (version {after.version})"
    wrong = schema_difference(model.schema, after.schema)
    if _grows(observation):
        moved = wrong is not None and schema_difference(_sorted(model.schema), _sorted(after.schema)) is None
        names = f"{_names(after.schema.names)} instead of {_names(model.schema.names)}"
        recorder.judge("write.column-order", f"{what}: {names}" if moved else None)
        if moved:
            return
    same_columns = recorder.judge("write.schema", f"{what}: {wrong}" if wrong else None)
    same = tuple(after.partition_by) == tuple(model.partition_by)
    wrong = f"{what}: by {_names(after.partition_by)} instead of {_names(model.partition_by)}"
    recorder.judge("write.partitioning", None if same else wrong)
    off = _wrong_properties(observation, after)
    if model.properties:
        recorder.judge("write.properties", f"{what}: {off}" if off else None)
    rule = _rule(observation)
    if not same_columns or rule is None:
        return
    wrong_rows = difference(model.as_rows, rows)
    columns = differing_columns(model.as_rows, rows) if wrong_rows else ()
    if isinstance(observation.operation, SetProperties | UnsetProperties):
        wrong_rows = wrong_rows or off
    recorder.judge(rule, f"{what}: {wrong_rows}" if wrong_rows else None, f"version {after.version}", columns)
    _empty_texts(observation, rows, recorder)


def _grows(observation: Observation) -> bool:
    """Whether the step let the schema grow."""
    match observation.operation:
        case Append(schema_mode="merge") | Overwrite(schema_mode="merge") | Merge(schema_evolution=True):
            return True
    return False


def _sorted(schema: Struct) -> Struct:
    return Struct(tuple(sorted(schema.fields, key=lambda each: each.name)))


def _wrong_properties(observation: Observation, after: Snapshot) -> str | None:
    """Properties that were asked for and are not there, or taken away and still there; what writers add is theirs."""
    found = dict(after.properties)
    named = {f"{FEATURE}{writer_feature}" for writer_feature in after.protocol.writer_features or ()}
    off = [
        f"{key} is {found.get(key)!r} instead of {value!r}"
        for key, value in observation.model.properties
        if found.get(key) != value and key not in named
    ]
    if isinstance(observation.operation, UnsetProperties):
        off += [f"{key} is still {found[key]!r}" for key in observation.operation.keys if key in found]
    return "; ".join(off) or None


def _rule(observation: Observation) -> str | None:
    """What the operation means for rows has a rule of its own; that a refusal changes nothing is for `outcomes`."""
    named = observation.branch.requirement if observation.branch is not None else ""
    if not named.startswith("contents."):
        return None
    if _nan_decides(observation):
        return "write.nan-order"
    return "write.beyond-core" if _beyond_core(observation) else named


def picks_beyond_core(observation: Observation) -> bool:
    """Whether a step picks rows by what engines may understand differently: NaN, functions, operands of two types."""
    return _nan_decides(observation) or _beyond_core(observation)


def _beyond_core(observation: Observation) -> bool:
    """Whether rows were picked by a predicate that is none of the portable core."""
    match observation.operation:
        case Delete(where=where) | Update(where=where) | Overwrite(where=where) if (
            observation.before is not None
        ):
            return log_oracle.beyond_core(where, observation.before.schema)
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


def _cloned(observation: Observation, operation: CloneTo, recorder: CheckRecorder) -> None:
    """The clone holds the rows of the state that was cloned."""
    if not isinstance(observation.outcome, Committed):
        return
    at = operation.at
    version = observation.versions.get(at.step) if isinstance(at, AtState) else None
    reader = LogReader(observation.folder.parent / operation.target, zone=observation.reader.zone)
    try:
        original = observation.reader.snapshot(version)
        rows, clone = observation.reader.rows(original), reader.snapshot()
        wrong = schema_difference(original.schema, clone.schema) or difference(rows, reader.rows(clone))
    except LogError as error:
        wrong = str(error)
    recorder.judge("contents.clone", wrong, operation.target)


def _dropped(observation: Observation, recorder: CheckRecorder) -> None:
    """A managed table's files go with it, an external one's stay."""
    rule = _rule(observation)
    if rule is None:
        return
    if observation.model.exists:
        kept = (
            observation.after is not None
            and observation.before is not None
            and observation.after.version == observation.before.version
        )
        recorder.judge(rule, None if kept else "the table is no longer what it was")
        return
    left = (
        sorted(path.name for path in observation.folder.rglob("*") if path.is_file())
        if observation.folder.is_dir()
        else []
    )
    recorder.judge(rule, f"files are left: {', '.join(left[:5])}" if left else None)


def _empty_texts(observation: Observation, rows: Rows, recorder: CheckRecorder) -> None:
    """Where the step wrote an empty string into a partition column, it must have become null."""
    operation, model = observation.operation, observation.model
    if not isinstance(operation, Append | Overwrite) or not isinstance(observation.outcome, Committed):
        return
    for name in model.partition_by:
        incoming = operation.rows.schema
        if model.schema[name].type != STRING or name not in incoming.names:
            continue
        if any(row[incoming.index(name)] == "" for row in operation.rows.rows):
            position = model.schema.index(name)
            wanted, found = (sum(row[position] is None for row in each) for each in (model.rows, rows.rows))
            wrong = None if wanted == found else f"{name}: {found} nulls instead of {wanted}"
            recorder.judge("contents.empty-partition-text", wrong, columns=(name,))


def _rearranged_only(observation: Observation, rows: Rows, recorder: CheckRecorder) -> None:
    """Where every file action of the step's commits says dataChange=false, nothing may have changed."""
    flags = [add.data_change for commit in observation.commits for add in commit.adds]
    flags += [remove.data_change for commit in observation.commits for remove in commit.removes]
    if observation.before is None or not flags or any(flags) or observation.before.schema != rows.schema:
        return
    try:
        wrong = difference(log_oracle.rows_before(observation), rows)
    except log_oracle.NotKnown:
        return
    where = f"versions {observation.commits[0].version} to {observation.commits[-1].version}"
    recorder.judge("write.data-change-false-keeps-rows", wrong, where)


def look_back(observation: Observation, recorder: CheckRecorder) -> None:
    """Judge the old versions that were looked at against the model."""
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
            wrong = difference(read_observation.expected, log_oracle.answer_to(observation, read_observation))
        except MissingFile as error:
            wrong = str(error)
        except log_oracle.NotKnown as error:
            wrong = str(error.__cause__) if error.__cause__ else None
            if wrong is None:
                continue
        recorder.judge("write.states-stay", wrong, text_of(read_observation.operation))


def schema_difference(expected: Struct, got: Struct) -> str | None:
    """What is different between two schemas as Delta JSON, metadata that writers may add apart."""
    if meaning(expected) == meaning(got):
        return None
    if expected.names != got.names:
        return f"columns {_names(got.names)} instead of {_names(expected.names)}"
    off = [
        f"{left.name!r} is {_column(right)} instead of {_column(left)}"
        for left, right in zip(expected, got, strict=True)
        if meaning(Struct((left,))) != meaning(Struct((right,)))
    ]
    return "; ".join(off)


def _column(field: Any) -> str:
    null = "" if field.nullable else " not null"
    return f"{field.type}{null}" + ("" if field.metadata_json == "{}" else f" {field.metadata_json}")


def _names(names: tuple[str, ...]) -> str:
    return ", ".join(map(repr, names)) or "nothing"


CHECK = Check("contents", JUDGES, check)
OLD_STATES = Check("contents", JUDGES, look_back)
