"""Do the answers of one engine agree with each other, whatever the table holds?

- A filter returns the rows that we select from the engine's own unfiltered answer.
- DELETE removes the rows that the same predicate selects.
- Maintenance of files or of the log changes no answer, and nor does the session's time zone.
- A change of the table's definition changes no value in the columns that stay.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from conformance.checks import log_oracle
from conformance.checks.file_preservation import DEFINITION_OPERATIONS
from conformance.checks.formatting import difference, differing_columns
from conformance.checks.names import CheckName
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
from delta_models.requirements import Checked, checked
from delta_models.schema import Struct
from delta_models.table.row_conversion import value_converter
from delta_models.values import Rows, bag, same_key
from delta_models.wire_names import name_of, text_of

JUDGES = judged_by(CheckName.METAMORPHIC)
MAINTENANCE_OPERATIONS = (Checkpoint, CleanLog, CompactLog, Optimize, Purge, Reopen, Vacuum, ZOrder)


def check(observation: Observation, _recorder: CheckRecorder) -> Iterator[Checked]:
    """Judge the answers of this step that can be compared."""
    for read_observation in observation.looks:
        if (
            read_observation.kind == "filter"
            and isinstance(read_observation.operation, Read)
            and read_observation.answer is not None
        ):
            yield from _check_filter(observation, read_observation.operation, read_observation.answer)
    if observation.log_error is not None:
        return
    if (
        observation.wrote
        and isinstance(observation.operation, Delete)
        and isinstance(observation.outcome, Committed)
    ):
        yield from _check_delete(observation, observation.operation)
    if isinstance(observation.operation, MAINTENANCE_OPERATIONS):
        yield from _check_answer_stays(observation, "metamorphic.upkeep-keeps-answer")
    if isinstance(observation.operation, DEFINITION_OPERATIONS):
        yield from _check_columns_stay(observation)
    if isinstance(observation.operation, SetZone):
        yield from _check_answer_stays(observation, "metamorphic.zone-keeps-answer")


def _check_filter(observation: Observation, read: Read, answer: Rows) -> Iterator[Checked]:
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
        if log_oracle.nan_matters([read.where], other.answer) or log_oracle.is_beyond_core(
            read.where, other.answer.schema
        ):
            return
        try:
            selected = log_oracle.select_rows(read, other.answer)
        except log_oracle.NotKnown:
            return
        problem = difference(selected, answer)
        columns = differing_columns(selected, answer) if problem else ()
        yield checked("metamorphic.filter-picks", problem, text_of(read.where), columns, read)
        return


def _check_delete(observation: Observation, operation: Delete) -> Iterator[Checked]:
    try:
        before, after = log_oracle.rows_before(observation), log_oracle.rows_after(observation)
    except log_oracle.NotKnown:
        return
    if before.schema != after.schema or log_oracle.nan_matters([operation.where], before):
        return
    if log_oracle.is_beyond_core(operation.where, before.schema):
        return
    try:
        selected = tuple(row for row in before.rows if holds(operation.where, before.schema, row))
    except NotEvaluable:
        return
    missing = bag(before.schema, before.rows) - bag(after.schema, after.rows)
    by_key = {same_key(before.schema, row): row for row in before.rows}
    deleted = Rows(before.schema, tuple(by_key[key] for key in missing.elements()))
    problem = difference(Rows(before.schema, selected), deleted)
    yield checked("metamorphic.delete-takes-what-filter-picks", problem, text_of(operation.where))


def _check_answer_stays(observation: Observation, rule: str) -> Iterator[Checked]:
    """If the rows in the log stay, the answer must stay. Another check judges whether they stay."""
    try:
        before, after = log_oracle.rows_before(observation), log_oracle.rows_after(observation)
    except log_oracle.NotKnown:
        return
    if difference(before, after) is not None:
        return
    for read_observation in observation.looks:
        if read_observation.kind in {"latest", "reopen"} and read_observation.answer is not None:
            problem = difference(before, read_observation.answer)
            where = f"{read_observation.kind} read after {name_of(observation.operation)}"
            yield checked(rule, problem, where)


def _check_columns_stay(observation: Observation) -> Iterator[Checked]:
    """Judge the values in columns that both schemas have, after a new name or a wider type."""
    try:
        before, after = log_oracle.rows_before(observation), log_oracle.rows_after(observation)
    except log_oracle.NotKnown:
        return
    old, new = _shared_columns(before.schema, after.schema, observation.operation)
    schema = _part(after.schema, new)
    try:
        convert = value_converter(_part(before.schema, old, after.schema, new), schema)
        expected = Rows(schema, tuple(convert(tuple(row[index] for index in old)) for row in before.rows))
    except (NotAssignable, Overflow):
        return  # no operation may give a column such a type: the rules of the log report it
    if difference(expected, _columns(after, new)) is not None:
        return  # the rows in the log differ, for which the writer is to blame
    for read_observation in observation.looks:
        if read_observation.kind not in {"latest", "reopen"} or read_observation.answer is None:
            continue
        if read_observation.answer.schema.names == after.schema.names:
            problem = difference(expected, _columns(read_observation.answer, new))
            where = f"{read_observation.kind} read after {name_of(observation.operation)}"
            yield checked("metamorphic.definition-keeps-answer", problem, where)


def _shared_columns(before: Struct, after: Struct, operation: Operation) -> tuple[list[int], list[int]]:
    """Return the positions of the columns that are in both, in the one and in the other."""
    renamed = {}
    if isinstance(operation, RenameColumn) and len(operation.path) == 1:
        renamed[operation.path[0].casefold()] = operation.name.casefold()
    positions = {name.casefold(): position for position, name in enumerate(after.names)}
    names = [renamed.get(name.casefold(), name.casefold()) for name in before.names]
    pairs = [(position, positions[name]) for position, name in enumerate(names) if name in positions]
    return [old for old, _ in pairs], [new for _, new in pairs]


def _part(
    schema: Struct, positions: list[int], named: Struct | None = None, by: list[int] | None = None
) -> Struct:
    """Return some columns of a schema, under the names of other columns if `named` gives them."""
    fields = [schema.fields[position] for position in positions]
    if named is not None and by is not None:
        names = [named.fields[position].name for position in by]
        fields = [replace(field, name=name) for field, name in zip(fields, names, strict=True)]
    return Struct(tuple(fields))


def _columns(rows: Rows, positions: list[int]) -> Rows:
    return Rows(
        _part(rows.schema, positions),
        tuple(tuple(row[position] for position in positions) for row in rows.rows),
    )


CHECK = Check(CheckName.METAMORPHIC, JUDGES, check)
