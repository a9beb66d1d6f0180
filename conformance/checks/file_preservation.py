"""Do files stay whose rows an operation leaves alone? Who only appends or changes a definition takes none away.

A file that gets another deletion vector counts as taken away: for that, too, a row of it must be concerned.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from conformance.checks import log_oracle
from conformance.checks.names import CheckName
from conformance.checks.recorder import Check, CheckRecorder, judged_by
from conformance.observations.observation import Observation
from delta_models.expressions import Expression, NotEvaluable, compiled
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


def check(observation: Observation, recorder: CheckRecorder) -> None:
    """Judge the commits of a step that had files to take away."""
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
        _definition(observation, before, recorder)
        return
    concerned = (
        None if recorder.has("contents.") else _concerned(observation, before)
    )  # it did what it should not
    if concerned is None:
        return
    try:
        spared = [
            add
            for add in _gone(observation, before)
            if not concerned(observation.reader.file_rows(before, add))
        ]
    except (LogError, NotEvaluable, EvaluationError, NotModelled, KeyError):
        return  # told by others, or beyond what can be said
    problem = (
        f"{len(spared)} files are gone that hold no row concerned, such as {spared[0].path}"
        if spared
        else None
    )
    recorder.record(RULE, problem)


def _definition(observation: Observation, before: Snapshot, recorder: CheckRecorder) -> None:
    paths = {add.path for add in before.live.values()}
    added = {add.path for commit in observation.commits for add in commit.adds}
    gone = sorted(path for path in _removed(observation) if path not in added)
    new = sorted(added - paths)
    problem = f"files have come or gone: {', '.join((new + gone)[:3])}" if new or gone else None
    recorder.record("write.definition-keeps-files", problem)


def _removed(observation: Observation) -> set[str]:
    return {remove.path for commit in observation.commits for remove in commit.removes}


def _gone(observation: Observation, before: Snapshot) -> Iterator[Add]:
    """The files of before that the step took away, or gave another deletion vector."""
    removed = {remove.key for commit in observation.commits for remove in commit.removes}
    return (add for key, add in before.live.items() if key in removed)


def _concerned(observation: Observation, before: Snapshot) -> IsConcerned | None:
    """What tells of the rows of a file whether the step has to do with one of them; None where nothing can."""
    match observation.operation:
        case Append():
            return lambda _: False
        case Delete(where=where) | Update(where=where):
            return _picked(where, before)
        case Merge() as operation:
            return _joined(operation, before)
    return None


def _picked(where: Expression | None, before: Snapshot) -> IsConcerned | None:
    schema = before.schema
    if where is None:
        return lambda _: True
    if log_oracle.is_beyond_core(where, schema):
        return None
    picks = compiled(where, schema)

    def concerned(rows: tuple[Row, ...]) -> bool:
        return log_oracle.nan_matters([where], Rows(schema, rows)) or any(picks(row) is True for row in rows)

    return concerned


def _joined(operation: Merge, before: Snapshot) -> IsConcerned | None:
    if any(clause.when == "not-matched-by-source" for clause in operation.clauses):
        return None
    if log_oracle.is_beyond_core(operation.on, before.schema) or log_oracle.nan_matters(
        [operation.on], operation.source
    ):
        return None
    found = replace(operation, clauses=(MergeClause("matched", "delete"),), schema_evolution=False)
    table = Table(exists=True, schema=before.schema, partition_by=before.partition_by)

    def concerned(rows: tuple[Row, ...]) -> bool:
        ends = merge(table.with_rows(rows), found).ordinary
        return not isinstance(ends.outcome, Committed) or len(ends.table.rows) < len(rows)

    return concerned


CHECK = Check(CheckName.FILE_PRESERVATION, JUDGES, check)
