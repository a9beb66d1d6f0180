"""Does the log, by our own reading of it and of the data files, hold the model's table? If not, the writer is wrong."""

from __future__ import annotations

from typing import Any

from conformance.checks import truth
from conformance.checks.ledger import Check, Ledger, judged_by
from conformance.checks.text import difference, differing_columns
from conformance.observation import Observation
from conformance.schemas import meaning
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


def look(seen: Observation, ledger: Ledger) -> None:
    """Judge the newest version against the model."""
    if seen.log_error is not None:
        return
    if not seen.wrote:
        return
    if isinstance(seen.operation, Drop):
        _dropped(seen, ledger)
        return
    if isinstance(seen.operation, CloneTo):
        _cloned(seen, seen.operation, ledger)
    if seen.after is None:
        if seen.branch is not None and seen.model.exists:
            ledger.judge(_rule(seen) or "write.data-files-readable", "there is no table")
        return
    try:
        after, rows = _own_reading(seen, seen.after)
    except CorruptLog as error:
        ledger.judge("log.loads", f"read anew: {error}")
        return
    except LogError as error:
        if not ledger.has("log.", "dv."):  # which say more exactly what is wrong
            ledger.judge("write.data-files-readable", str(error))
        return
    ledger.judge("write.data-files-readable", None)
    _rearranged_only(seen, rows, ledger)
    if seen.branch is not None and seen.model.exists:
        _against_the_model(seen, after, rows, ledger)


def _own_reading(seen: Observation, after: Snapshot) -> tuple[Snapshot, Rows]:
    """The newest version as we read it: anew and from files alone, where upkeep may have replaced what we remember."""
    truth.require_files(seen, after)
    if not isinstance(seen.operation, READ_COLD):
        return after, seen.reader.rows(after)
    reader = LogReader(seen.folder, zone=seen.reader.zone, stored=seen.reader.stored)
    anew = reader.snapshot()
    return anew, reader.rows(anew)


def _against_the_model(seen: Observation, after: Snapshot, rows: Rows, ledger: Ledger) -> None:
    model = seen.model
    what = f"after {name_of(seen.operation)} (version {after.version})"
    wrong = schema_difference(model.schema, after.schema)
    if _grows(seen):
        moved = wrong is not None and schema_difference(_sorted(model.schema), _sorted(after.schema)) is None
        names = f"{_names(after.schema.names)} instead of {_names(model.schema.names)}"
        ledger.judge("write.column-order", f"{what}: {names}" if moved else None)
        if moved:
            return
    same_columns = ledger.judge("write.schema", f"{what}: {wrong}" if wrong else None)
    same = tuple(after.partition_by) == tuple(model.partition_by)
    wrong = f"{what}: by {_names(after.partition_by)} instead of {_names(model.partition_by)}"
    ledger.judge("write.partitioning", None if same else wrong)
    off = _wrong_properties(seen, after)
    if model.properties:
        ledger.judge("write.properties", f"{what}: {off}" if off else None)
    rule = _rule(seen)
    if not same_columns or rule is None:
        return
    wrong_rows = difference(model.as_rows, rows)
    columns = differing_columns(model.as_rows, rows) if wrong_rows else ()
    if isinstance(seen.operation, SetProperties | UnsetProperties):
        wrong_rows = wrong_rows or off
    ledger.judge(rule, f"{what}: {wrong_rows}" if wrong_rows else None, f"version {after.version}", columns)
    _empty_texts(seen, rows, ledger)


def _grows(seen: Observation) -> bool:
    """Whether the step let the schema grow."""
    match seen.operation:
        case Append(schema_mode="merge") | Overwrite(schema_mode="merge") | Merge(schema_evolution=True):
            return True
    return False


def _sorted(schema: Struct) -> Struct:
    return Struct(tuple(sorted(schema.fields, key=lambda each: each.name)))


def _wrong_properties(seen: Observation, after: Snapshot) -> str | None:
    """Properties that were asked for and are not there, or taken away and still there; what writers add is theirs."""
    found = dict(after.properties)
    named = {f"{FEATURE}{each}" for each in after.protocol.writer_features or ()}
    off = [
        f"{key} is {found.get(key)!r} instead of {value!r}"
        for key, value in seen.model.properties
        if found.get(key) != value and key not in named
    ]
    if isinstance(seen.operation, UnsetProperties):
        off += [f"{key} is still {found[key]!r}" for key in seen.operation.keys if key in found]
    return "; ".join(off) or None


def _rule(seen: Observation) -> str | None:
    """What the operation means for rows has a rule of its own; that a refusal changes nothing is for `outcomes`."""
    named = seen.branch.requirement if seen.branch is not None else ""
    if not named.startswith("contents."):
        return None
    if _nan_decides(seen):
        return "write.nan-order"
    return "write.beyond-core" if _beyond_core(seen) else named


def picks_beyond_core(seen: Observation) -> bool:
    """Whether a step picks rows by what engines may understand differently: NaN, functions, operands of two types."""
    return _nan_decides(seen) or _beyond_core(seen)


def _beyond_core(seen: Observation) -> bool:
    """Whether rows were picked by a predicate that is none of the portable core."""
    match seen.operation:
        case Delete(where=where) | Update(where=where) | Overwrite(where=where) if seen.before is not None:
            return truth.beyond_core(where, seen.before.schema)
        case Merge():
            return bool(functions_of(seen.operation))
    return False


def _nan_decides(seen: Observation) -> bool:
    match seen.operation:
        case Delete(where=where) | Update(where=where) | Overwrite(where=where) if where is not None:
            expressions: tuple[Expression | None, ...] = (where,)
            sources: tuple[Rows, ...] = ()
        case Merge(source=source, on=on, clauses=clauses):
            expressions, sources = (on, *(each.condition for each in clauses)), (source,)
        case _:
            return False
    try:
        return truth.nan_matters(expressions, truth.rows_before(seen), *sources)
    except truth.NotKnown:
        return False


def _cloned(seen: Observation, operation: CloneTo, ledger: Ledger) -> None:
    """The clone holds the rows of the state that was cloned."""
    if not isinstance(seen.outcome, Committed):
        return
    at = operation.at
    version = seen.versions.get(at.step) if isinstance(at, AtState) else None
    reader = LogReader(seen.folder.parent / operation.target, zone=seen.reader.zone)
    try:
        original = seen.reader.snapshot(version)
        rows, clone = seen.reader.rows(original), reader.snapshot()
        wrong = schema_difference(original.schema, clone.schema) or difference(rows, reader.rows(clone))
    except LogError as error:
        wrong = str(error)
    ledger.judge("contents.clone", wrong, operation.target)


def _dropped(seen: Observation, ledger: Ledger) -> None:
    """A managed table's files go with it, an external one's stay."""
    rule = _rule(seen)
    if rule is None:
        return
    if seen.model.exists:
        kept = (
            seen.after is not None and seen.before is not None and seen.after.version == seen.before.version
        )
        ledger.judge(rule, None if kept else "the table is no longer what it was")
        return
    left = (
        sorted(each.name for each in seen.folder.rglob("*") if each.is_file()) if seen.folder.is_dir() else []
    )
    ledger.judge(rule, f"files are left: {', '.join(left[:5])}" if left else None)


def _empty_texts(seen: Observation, rows: Rows, ledger: Ledger) -> None:
    """Where the step wrote an empty string into a partition column, it must have become null."""
    operation, model = seen.operation, seen.model
    if not isinstance(operation, Append | Overwrite) or not isinstance(seen.outcome, Committed):
        return
    for name in model.partition_by:
        incoming = operation.rows.schema
        if model.schema[name].type != STRING or name not in incoming.names:
            continue
        if any(row[incoming.index(name)] == "" for row in operation.rows.rows):
            position = model.schema.index(name)
            wanted, found = (sum(row[position] is None for row in each) for each in (model.rows, rows.rows))
            wrong = None if wanted == found else f"{name}: {found} nulls instead of {wanted}"
            ledger.judge("contents.empty-partition-text", wrong, columns=(name,))


def _rearranged_only(seen: Observation, rows: Rows, ledger: Ledger) -> None:
    """Where every file action of the step's commits says dataChange=false, nothing may have changed."""
    flags = [each.data_change for commit in seen.commits for each in commit.adds]
    flags += [each.data_change for commit in seen.commits for each in commit.removes]
    if seen.before is None or not flags or any(flags) or seen.before.schema != rows.schema:
        return
    try:
        wrong = difference(truth.rows_before(seen), rows)
    except truth.NotKnown:
        return
    where = f"versions {seen.commits[0].version} to {seen.commits[-1].version}"
    ledger.judge("write.data-change-false-keeps-rows", wrong, where)


def look_back(seen: Observation, ledger: Ledger) -> None:
    """Judge the old versions that were looked at against the model."""
    if seen.log_error is not None or not (seen.wrote or isinstance(seen.operation, Read)):
        return
    for each in seen.looks:
        if each.kind != "state" or each.expected is None:
            continue
        if not isinstance(each.operation, Read):
            continue
        try:
            truth.require_files(seen, truth.snapshot_for(seen, each.operation))
            wrong = difference(each.expected, truth.answer_to(seen, each))
        except MissingFile as error:
            wrong = str(error)
        except truth.NotKnown as error:
            wrong = str(error.__cause__) if error.__cause__ else None
            if wrong is None:
                continue
        ledger.judge("write.states-stay", wrong, text_of(each.operation))


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


CHECK = Check("contents", JUDGES, look)
OLD_STATES = Check("contents", JUDGES, look_back)
