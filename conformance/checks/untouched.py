"""Do files stay whose rows an operation leaves alone? Who only appends or changes a definition takes none away.

A file that gets another deletion vector counts as taken away: for that, too, a row of it must be concerned.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from conformance.checks import truth
from conformance.checks.ledger import Check, Ledger, judged_by
from conformance.observation import Observation
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

JUDGES = judged_by("untouched")
DEFINITION = (
    AddColumn, AddConstraint, Cluster, DropColumn, DropConstraint, EnableFeature, RenameColumn, ReorderColumn,
    SetDefault, SetNullable, SetProperties, UnsetProperties, WidenColumn,
)  # fmt: skip
RULE = "write.untouched-files-stay"

Concerned = Callable[[tuple[Row, ...]], bool]


def look(seen: Observation, ledger: Ledger) -> None:
    """Judge the commits of a step that had files to take away."""
    before = seen.before
    if not seen.wrote or before is None or seen.log_error is not None or not seen.commits:
        return
    if seen.race is not None or not isinstance(seen.outcome, Committed) or not before.live:
        return
    if isinstance(seen.operation, DEFINITION):
        _definition(seen, before, ledger)
        return
    concerned = None if ledger.has("contents.") else _concerned(seen, before)  # it did what it should not
    if concerned is None:
        return
    try:
        spared = [add for add in _gone(seen, before) if not concerned(seen.reader.file_rows(before, add))]
    except (LogError, NotEvaluable, EvaluationError, NotModelled, KeyError):
        return  # told by others, or beyond what can be said
    wrong = (
        f"{len(spared)} files are gone that hold no row concerned, such as {spared[0].path}"
        if spared
        else None
    )
    ledger.judge(RULE, wrong)


def _definition(seen: Observation, before: Snapshot, ledger: Ledger) -> None:
    paths = {add.path for add in before.live.values()}
    added = {add.path for commit in seen.commits for add in commit.adds}
    gone = sorted(path for path in _removed(seen) if path not in added)
    new = sorted(added - paths)
    wrong = f"files have come or gone: {', '.join((new + gone)[:3])}" if new or gone else None
    ledger.judge("write.definition-keeps-files", wrong)


def _removed(seen: Observation) -> set[str]:
    return {each.path for commit in seen.commits for each in commit.removes}


def _gone(seen: Observation, before: Snapshot) -> Iterator[Add]:
    """The files of before that the step took away, or gave another deletion vector."""
    removed = {each.key for commit in seen.commits for each in commit.removes}
    return (add for key, add in before.live.items() if key in removed)


def _concerned(seen: Observation, before: Snapshot) -> Concerned | None:
    """What tells of the rows of a file whether the step has to do with one of them; None where nothing can."""
    match seen.operation:
        case Append():
            return lambda _: False
        case Delete(where=where) | Update(where=where):
            return _picked(where, before)
        case Merge() as operation:
            return _joined(operation, before)
    return None


def _picked(where: Expression | None, before: Snapshot) -> Concerned | None:
    schema = before.schema
    if where is None:
        return lambda _: True
    if truth.beyond_core(where, schema):
        return None
    picks = compiled(where, schema)

    def concerned(rows: tuple[Row, ...]) -> bool:
        return truth.nan_matters([where], Rows(schema, rows)) or any(picks(row) is True for row in rows)

    return concerned


def _joined(operation: Merge, before: Snapshot) -> Concerned | None:
    if any(each.when == "not-matched-by-source" for each in operation.clauses):
        return None
    if truth.beyond_core(operation.on, before.schema) or truth.nan_matters([operation.on], operation.source):
        return None
    found = replace(operation, clauses=(MergeClause("matched", "delete"),), schema_evolution=False)
    table = Table(exists=True, schema=before.schema, partition_by=before.partition_by)

    def concerned(rows: tuple[Row, ...]) -> bool:
        ends = merge(table.with_rows(rows), found).ordinary
        return not isinstance(ends.outcome, Committed) or len(ends.table.rows) < len(rows)

    return concerned


CHECK = Check("untouched", JUDGES, look)
