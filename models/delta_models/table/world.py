"""The history so far, as the model has it: the state after every step, and which of them can still be read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from delta_models import operations as ops
from delta_models.expressions import columns_of, compiled
from delta_models.outcomes import Committed, NoChange
from delta_models.schema import Struct
from delta_models.table.change import delete, update
from delta_models.table.definition import create, drop
from delta_models.table.expectation import (
    ANY_NUMBER,
    Branch,
    Expectation,
    LookExpectation,
    or_refused,
    refused,
    rewritten,
    unchanged,
)
from delta_models.table.merge import merge
from delta_models.table.properties import set_properties, unset_properties
from delta_models.table.state import NotModelled, Table
from delta_models.table.write import append, overwrite
from delta_models.values import Rows

DEFAULT_RETENTION_HOURS = 168.0

_ON_A_TABLE: dict[type[Any], Callable[[Table, Any], Expectation]] = {
    ops.Drop: drop,
    ops.Append: append,
    ops.Overwrite: overwrite,
    ops.Delete: delete,
    ops.Update: update,
    ops.Merge: merge,
    ops.SetProperties: set_properties,
    ops.UnsetProperties: unset_properties,
}
_KEEPS_FILES = (
    ops.Create,
    ops.Append,
    ops.Checkpoint,
    ops.CompactLog,
    ops.SetProperties,
    ops.UnsetProperties,
)
_TOUCHES_NOTHING = (*ops.LOOKS, ops.Reopen, ops.SwitchActor, ops.SetZone)


@dataclass(frozen=True, slots=True)
class State:
    """What one step left: the table, how many versions it added at least and at most, and whether it may have taken
    files out of the table."""

    table: Table
    commits: tuple[int, int]
    may_remove: bool


@dataclass(frozen=True)
class World:
    """All states so far. `fragile` counts the earliest states whose files a vacuum may have deleted."""

    states: tuple[State, ...] = ()
    fragile: int = 0

    @property
    def table(self) -> Table:
        """The newest state's table."""
        return self.states[-1].table if self.states else Table()

    @property
    def step(self) -> int:
        """The number of the step that comes next."""
        return len(self.states)

    def state(self, step: int) -> Table:
        """The table after a step."""
        return self.states[step].table

    def readable(self) -> tuple[int, ...]:
        """The steps after which the table existed and whose state every engine must still be able to read."""
        return tuple(at for at in range(self.fragile, len(self.states)) if self.states[at].table.exists)

    def expect(self, operation: ops.Operation) -> Expectation:
        """Every legal end of an operation now. Raises NotModelled for what the model does not execute."""
        table = self.table
        if isinstance(operation, ops.Create):
            return create(table, operation)
        if isinstance(operation, _TOUCHES_NOTHING):
            return unchanged(table, "contents.look-changes-nothing", most=0)
        if not table.exists:
            return refused(table, "missing-table", "outcome.missing-table-refused")
        match operation:
            case ops.Restore(at=ops.AtState(step=step)):
                return self._restore(step)
            case ops.Optimize(where=where):
                return _optimize(table, where)
            case ops.ZOrder(where=where):
                return _optimize(table, where)
            case ops.Vacuum():
                ends = unchanged(table, "contents.vacuum", most=2)
                if _hours(operation) >= DEFAULT_RETENTION_HOURS:
                    return ends
                return or_refused(ends, table, ("retention",), "outcome.short-retention-may-be-refused")
            case ops.Checkpoint() | ops.CompactLog() | ops.CleanLog():
                return unchanged(table, "contents.checkpoint", most=0)
        handler = _ON_A_TABLE.get(type(operation))
        if handler is None:
            raise NotModelled(type(operation).__name__)
        return handler(table, operation)

    def after(self, operation: ops.Operation, branch: Branch | None = None) -> World:
        """The history with one more step; without a branch the operation's ordinary end."""
        if branch is None:
            branches = self.expect(operation).branches
            branch = branches[0]
            commits = (min(each.commits[0] for each in branches), max(each.commits[1] for each in branches))
        else:
            commits = branch.commits
        may_remove = commits[1] > 0 and not isinstance(operation, (*_KEEPS_FILES, ops.Vacuum))
        states = (*self.states, State(branch.table, commits, may_remove))
        return World(states, self._fragile_after(operation, states))

    def look(self, read: ops.Read) -> LookExpectation:
        """What a read must return."""
        refusals: tuple[str, ...] = ()
        match read.at:
            case ops.Latest():
                table = self.table
                if not table.exists:
                    return LookExpectation(None, ("missing-table",))
            case ops.AtState(step=step):
                table = self.state(step)
                if step < self.fragile:
                    refusals = ("missing-file", "missing-version")
                if not table.exists or not self.table.exists:
                    return LookExpectation(None, ("missing-version", "missing-table"))
            case _:
                raise NotModelled(type(read.at).__name__)
        try:
            return LookExpectation(_select(table, read), refusals)
        except KeyError:
            return LookExpectation(None, ("schema", "bad-argument"))

    def _restore(self, step: int) -> Expectation:
        now, goal = self.table, self.state(step)
        if not goal.exists:
            return refused(now, ("missing-version", "bad-argument"), "outcome.missing-version-refused")
        ends = rewritten(now, goal, "contents.restore")
        if all(each.commits[0] == 0 for each in self.states[step + 1 :]):
            ends = or_refused(ends, now, ("bad-argument",), "outcome.restore-to-now-may-be-refused")
        if step < self.fragile:
            ends = or_refused(
                ends, now, ("missing-file", "missing-version"), "outcome.vacuumed-state-may-be-refused"
            )
        return ends

    def _fragile_after(self, operation: ops.Operation, states: tuple[State, ...]) -> int:
        if not states[-1].table.exists:
            return len(states)
        if (
            not isinstance(operation, ops.Vacuum)
            or operation.dry_run
            or _hours(operation) >= DEFAULT_RETENTION_HOURS
        ):
            return self.fragile
        removing = [at for at, each in enumerate(states) if each.may_remove]
        return max(self.fragile, removing[-1]) if removing else self.fragile


def _hours(operation: ops.Vacuum) -> float:
    return DEFAULT_RETENTION_HOURS if operation.retention_hours is None else operation.retention_hours


def _optimize(table: Table, where: Any) -> Expectation:
    partitioning = {each.casefold() for each in table.partition_by}
    if any(column.path[0].casefold() not in partitioning for column in columns_of(where)):
        return refused(table, ("bad-argument", "schema"), "outcome.optimize-by-partition-only")
    return Expectation(
        (
            Branch(Committed(), (0, ANY_NUMBER), table, "contents.optimize"),
            Branch(NoChange(), (0, 0), table, "contents.optimize"),
        )
    )


def _select(table: Table, read: ops.Read) -> Rows:
    rows = table.rows
    if read.where is not None:
        picks = compiled(read.where, table.schema)
        rows = tuple(row for row in rows if picks(row) is True)
    if read.columns is None:
        return Rows(table.schema, rows)
    places = [table.schema.index(name) for name in read.columns]
    schema = Struct(tuple(table.schema.fields[at] for at in places))
    return Rows(schema, tuple(tuple(row[at] for at in places) for row in rows))
