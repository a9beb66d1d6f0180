"""Do files stay whose rows an operation does not concern? An append or a change of the definition removes none.

A file that gets another deletion vector counts as removed: that too needs a row that the operation concerns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from conformance.checks import log_oracle
from conformance.checks.names import CheckName
from conformance.checks.recorder import Check, CheckRecorder, judged_by
from conformance.observations.observation import Observation
from delta_models.expressions import Expression, NotEvaluable, compile_expression
from delta_models.functions import EvaluationError
from delta_models.log import Add, LogError, Snapshot
from delta_models.operations import (
    AddColumn,
    AddConstraint,
    Append,
    Cluster,
    Delete,
    DropColumn,
    DropConstraint,
    EnableFeature,
    Merge,
    MergeClause,
    RenameColumn,
    ReorderColumn,
    SetDefault,
    SetNullable,
    SetProperties,
    UnsetProperties,
    Update,
    WidenColumn,
)
from delta_models.outcomes import Committed
from delta_models.requirements import Checked, checked
from delta_models.table import NotModelled, Table
from delta_models.table.merge import merge
from delta_models.values import Row, Rows

JUDGES = judged_by(CheckName.FILE_PRESERVATION)
DEFINITION_OPERATIONS = (
    AddColumn, AddConstraint, Cluster, DropColumn, DropConstraint, EnableFeature, RenameColumn, ReorderColumn,
    SetDefault, SetNullable, SetProperties, UnsetProperties, WidenColumn,
)  # fmt: skip
RULE = "write.untouched-files-stay"

IsConcerned = Callable[[tuple[Row, ...]], bool]


def check(observation: Observation, recorder: CheckRecorder) -> Iterator[Checked]:
    """Judge the commits of a step that had files to remove."""
    before = observation.before
    if (
        not observation.wrote
        or before is None
        or observation.log_error is not None
        or not observation.commits
    ):
        return
    if observation.race is not None or not isinstance(observation.outcome, Committed) or not before.live:
        return
    if isinstance(observation.operation, DEFINITION_OPERATIONS):
        yield from _check_definition(observation, before)
        return
    if recorder.has("contents."):
        return  # wrong contents need other files
    is_concerned = _concerned_rows(observation, before)
    if is_concerned is None:
        return
    try:
        needless = [
            add
            for add in _removed_files(observation, before)
            if not is_concerned(observation.reader.file_rows(before, add))
        ]
    except (LogError, NotEvaluable, EvaluationError, NotModelled, KeyError):
        return  # another check reports it, or the model does not know
    problem = (
        f"{len(needless)} files are gone that hold no row concerned, such as {needless[0].path}"
        if needless
        else None
    )
    yield checked(RULE, problem)


def _check_definition(observation: Observation, before: Snapshot) -> Iterator[Checked]:
    live = {add.path for add in before.live.values()}
    added = {add.path for commit in observation.commits for add in commit.adds}
    gone = sorted(path for path in _removed_paths(observation) if path not in added)
    new = sorted(added - live)
    problem = f"files have come or gone: {', '.join((new + gone)[:3])}" if new or gone else None
    yield checked("write.definition-keeps-files", problem)


def _removed_paths(observation: Observation) -> set[str]:
    return {remove.path for commit in observation.commits for remove in commit.removes}


def _removed_files(observation: Observation, before: Snapshot) -> Iterator[Add]:
    """Return the files of before that the step removed, or gave another deletion vector."""
    removed = {remove.key for commit in observation.commits for remove in commit.removes}
    return (add for key, add in before.live.items() if key in removed)


def _concerned_rows(observation: Observation, before: Snapshot) -> IsConcerned | None:
    """Return whether the step concerns one of some rows, as a function of the rows; None if the model does not know."""
    match observation.operation:
        case Append():
            return lambda _: False
        case Delete(where=where) | Update(where=where):
            return _concerned_by_predicate(where, before)
        case Merge() as operation:
            return _concerned_by_merge(operation, before)
    return None


def _concerned_by_predicate(where: Expression | None, before: Snapshot) -> IsConcerned | None:
    schema = before.schema
    if where is None:
        return lambda _: True
    if log_oracle.is_beyond_core(where, schema):
        return None
    selects = compile_expression(where, schema)

    def is_concerned(rows: tuple[Row, ...]) -> bool:
        return log_oracle.nan_matters([where], Rows(schema, rows)) or any(
            selects(row) is True for row in rows
        )

    return is_concerned


def _concerned_by_merge(operation: Merge, before: Snapshot) -> IsConcerned | None:
    if any(clause.when == "not-matched-by-source" for clause in operation.clauses):
        return None
    if log_oracle.is_beyond_core(operation.on, before.schema) or log_oracle.nan_matters(
        [operation.on], operation.source
    ):
        return None
    probe = replace(operation, clauses=(MergeClause("matched", "delete"),), schema_evolution=False)
    table = Table(exists=True, schema=before.schema, partition_by=before.partition_by)

    def is_concerned(rows: tuple[Row, ...]) -> bool:
        end = merge(table.with_rows(rows), probe).ordinary
        return not isinstance(end.outcome, Committed) or len(end.table.rows) < len(rows)

    return is_concerned


CHECK = Check(CheckName.FILE_PRESERVATION, JUDGES, check)
