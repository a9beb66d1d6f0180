"""Answers of one engine that must agree with each other, whatever the table holds.

A predicate picks the same rows as a filter, evaluated by us on the engine's own unfiltered answer, and as the rows that
DELETE takes away; and no upkeep of files or of the log changes an answer, nor does the session's time zone, nor, in the
columns that stay, a change of the table's definition.
"""

from __future__ import annotations

from dataclasses import replace

from conformance.checks import log_oracle
from conformance.checks.file_preservation import DEFINITION
from conformance.checks.formatting import difference, differing_columns
from conformance.checks.recorder import Check, CheckRecorder, judged_by
from conformance.observations.observation import Observation
from delta_models.casts.assignment import NotAssignable, Overflow
from delta_models.expressions import NotEvaluable, holds
from delta_models.operations import (
    Checkpoint,
    CleanLog,
    CompactLog,
    Delete,
    Operation,
    Optimize,
    Purge,
    Read,
    RenameColumn,
    Reopen,
    SetZone,
    Vacuum,
    ZOrder,
)
from delta_models.outcomes import Committed
from delta_models.schema import Struct
from delta_models.table.row_conversion import value_converter
from delta_models.values import Rows, bag, same_key
from delta_models.wire_names import name_of, text_of

JUDGES = judged_by("metamorphic")
UPKEEP = (Checkpoint, CleanLog, CompactLog, Optimize, Purge, Reopen, Vacuum, ZOrder)


def check(observation: Observation, recorder: CheckRecorder) -> None:
    """Judge what can be compared in this step."""
    for read_observation in observation.looks:
        if (
            read_observation.kind == "filter"
            and isinstance(read_observation.operation, Read)
            and read_observation.answer is not None
        ):
            _filter(observation, read_observation.operation, read_observation.answer, recorder)
    if observation.log_error is not None:
        return
    if (
        observation.wrote
        and isinstance(observation.operation, Delete)
        and isinstance(observation.outcome, Committed)
    ):
        _delete(observation, observation.operation, recorder)
    if isinstance(observation.operation, UPKEEP):
        _keeps_answer(observation, "metamorphic.upkeep-keeps-answer", recorder)
    if isinstance(observation.operation, DEFINITION):
        _keeps_columns(observation, recorder)
    if isinstance(observation.operation, SetZone):
        _keeps_answer(observation, "metamorphic.zone-keeps-answer", recorder)


def _filter(observation: Observation, read: Read, answer: Rows, recorder: CheckRecorder) -> None:
    for other in observation.looks:
        unfiltered = isinstance(other.operation, Read) and other.operation.where is None
        whole = unfiltered and isinstance(other.operation, Read) and other.operation.columns is None
        if (
            not whole
            or other.answer is None
            or not isinstance(other.operation, Read)
            or other.operation.at != read.at
        ):
            continue
        if log_oracle.nan_matters([read.where], other.answer) or log_oracle.beyond_core(
            read.where, other.answer.schema
        ):
            return
        try:
            picked = log_oracle.pick(read, other.answer)
        except log_oracle.NotKnown:
            return
        wrong = difference(picked, answer)
        columns = differing_columns(picked, answer) if wrong else ()
        recorder.judge("metamorphic.filter-picks", wrong, text_of(read.where), columns, read)
        return


def _delete(observation: Observation, operation: Delete, recorder: CheckRecorder) -> None:
    try:
        before, after = log_oracle.rows_before(observation), log_oracle.rows_after(observation)
    except log_oracle.NotKnown:
        return
    if before.schema != after.schema or log_oracle.nan_matters([operation.where], before):
        return
    if log_oracle.beyond_core(operation.where, before.schema):
        return
    try:
        picked = tuple(row for row in before.rows if holds(operation.where, before.schema, row))
    except NotEvaluable:
        return
    gone = bag(before.schema, before.rows) - bag(after.schema, after.rows)
    by_key = {same_key(before.schema, row): row for row in before.rows}
    taken = Rows(before.schema, tuple(by_key[key] for key in gone.elements()))
    wrong = difference(Rows(before.schema, picked), taken)
    recorder.judge("metamorphic.delete-takes-what-filter-picks", wrong, text_of(operation.where))


def _keeps_answer(observation: Observation, rule: str, recorder: CheckRecorder) -> None:
    """The log's rows are the same before and after, or another check says so: then the answer must be as well."""
    try:
        before, after = log_oracle.rows_before(observation), log_oracle.rows_after(observation)
    except log_oracle.NotKnown:
        return
    if difference(before, after) is not None:
        return
    for read_observation in observation.looks:
        if read_observation.kind in {"latest", "reopen"} and read_observation.answer is not None:
            wrong = difference(before, read_observation.answer)
            where = f"{read_observation.kind} read after {name_of(observation.operation)}"
            recorder.judge(rule, wrong, where)


def _keeps_columns(observation: Observation, recorder: CheckRecorder) -> None:
    """What is in the columns that both schemas have, whatever they are called and however wide they have become."""
    try:
        before, after = log_oracle.rows_before(observation), log_oracle.rows_after(observation)
    except log_oracle.NotKnown:
        return
    old, new = _shared(before.schema, after.schema, observation.operation)
    schema = _part(after.schema, new)
    try:
        convert = value_converter(_part(before.schema, old, after.schema, new), schema)
        expected = Rows(schema, tuple(convert(tuple(row[at] for at in old)) for row in before.rows))
    except (NotAssignable, Overflow):
        return  # types that none of these operations may give a column: told by the rules of the log
    if difference(expected, _columns(after, new)) is not None:
        return  # the log's rows are others: the writer's matter
    for read_observation in observation.looks:
        if read_observation.kind not in {"latest", "reopen"} or read_observation.answer is None:
            continue
        if read_observation.answer.schema.names == after.schema.names:
            wrong = difference(expected, _columns(read_observation.answer, new))
            where = f"{read_observation.kind} read after {name_of(observation.operation)}"
            recorder.judge("metamorphic.definition-keeps-answer", wrong, where)


def _shared(before: Struct, after: Struct, operation: Operation) -> tuple[list[int], list[int]]:
    """The places of the columns that are in both."""
    renamed = {}
    if isinstance(operation, RenameColumn) and len(operation.path) == 1:
        renamed[operation.path[0].casefold()] = operation.name.casefold()
    places = {candidate.casefold(): at for at, candidate in enumerate(after.names)}
    names = [renamed.get(candidate.casefold(), candidate.casefold()) for candidate in before.names]
    pairs = [(at, places[name]) for at, name in enumerate(names) if name in places]
    return [old for old, _ in pairs], [new for _, new in pairs]


def _part(
    schema: Struct, places: list[int], named: Struct | None = None, by: list[int] | None = None
) -> Struct:
    """Some columns of a schema, under the names that others have."""
    fields = [schema.fields[at] for at in places]
    if named is not None and by is not None:
        names = [named.fields[at].name for at in by]
        fields = [replace(field, name=name) for field, name in zip(fields, names, strict=True)]
    return Struct(tuple(fields))


def _columns(rows: Rows, places: list[int]) -> Rows:
    return Rows(_part(rows.schema, places), tuple(tuple(row[at] for at in places) for row in rows.rows))


CHECK = Check("metamorphic", JUDGES, check)
