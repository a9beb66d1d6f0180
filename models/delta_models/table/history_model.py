"""The history so far as the model has it: the state after each step, and which states can still be read.

`ModelHistory` is the oracle: it says what an operation, a read, a change feed or a stream may answer.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, tzinfo
from itertools import pairwise
from typing import Any

from delta_models import operations as ops
from delta_models.casts.explicit import find_zone
from delta_models.expressions import columns_of, compile_expression
from delta_models.functions import EvaluationError
from delta_models.outcomes import Committed, NoChange
from delta_models.schema import Struct
from delta_models.table import alter, properties_and_constraints
from delta_models.table.change_feed import ChangesExpectation, is_recorded, step_changes
from delta_models.table.char_varchar import refuse_too_long_texts
from delta_models.table.definition import clone, convert, create, create_as, drop, replace_table
from delta_models.table.expectation import (
    ANY_NUMBER,
    AllowedOutcome,
    Expectation,
    ReadExpectation,
    allow_refusal,
    expect_change,
    expect_no_change,
    expect_refusal,
    expect_rewrite,
    refuse_losses_in_append_only,
)
from delta_models.table.identity import allow_identity_overflow
from delta_models.table.merge import merge
from delta_models.table.retention import file_retention, log_retention
from delta_models.table.row_conversion import BrokenRule, check_rules
from delta_models.table.state import NotModelled, Table
from delta_models.table.streams import StreamExpectation, expect_stream_read, expect_stream_write
from delta_models.table.update_delete import delete, update
from delta_models.table.void_columns import refuse_void_rows
from delta_models.table.write import append, overwrite
from delta_models.values import Rows
from delta_models.wire_names import name_of

_ANYWHERE: dict[type[Any], Callable[[Table, Any], Expectation]] = {
    ops.Create: create,
    ops.Replace: replace_table,
    ops.CreateAs: create_as,
    ops.ConvertFromParquet: convert,
}
_ON_A_TABLE: dict[type[Any], Callable[[Table, Any], Expectation]] = {
    ops.Drop: drop,
    ops.CloneTo: clone,
    ops.Append: append,
    ops.Overwrite: overwrite,
    ops.Delete: delete,
    ops.Update: update,
    ops.Merge: merge,
    ops.AddColumn: alter.add_column,
    ops.DropColumn: alter.drop_column,
    ops.RenameColumn: alter.rename_column,
    ops.ReorderColumn: alter.reorder_column,
    ops.WidenColumn: alter.widen_column,
    ops.SetNullable: alter.set_nullable,
    ops.SetDefault: alter.set_default,
    ops.SetProperties: properties_and_constraints.set_properties,
    ops.UnsetProperties: properties_and_constraints.unset_properties,
    ops.AddConstraint: properties_and_constraints.add_constraint,
    ops.DropConstraint: properties_and_constraints.drop_constraint,
    ops.DropFeature: properties_and_constraints.drop_feature,
}
_MAY_REMOVE_FILES = (
    ops.Replace, ops.CreateAs, ops.Restore, ops.Overwrite, ops.Delete, ops.Update, ops.Merge,
    ops.DropFeature, ops.Optimize, ops.ZOrder, ops.Purge, ops.Interleave,
)  # fmt: skip
_WRITES_ROWS = (ops.Append, ops.Overwrite, ops.Update, ops.Merge)
_TOUCHES_NOTHING = (*ops.QUERIES, ops.Reopen, ops.SwitchActor, ops.SetZone, ops.AdvanceClock)


@dataclass(frozen=True, slots=True)
class State:
    """What one step left behind.

    `commits` is the least and the largest number of versions that it may have added. `may_remove`: it may have taken
    files out of the table. `hour` is the hour of the history at which it ended.
    """

    table: Table
    commits: tuple[int, int]
    may_remove: bool
    operation: ops.Operation | None = None
    hour: int = 0


@dataclass(frozen=True)
class ModelHistory:
    """All states so far.

    Every engine must still be able to read the states from `first_readable` on. Earlier ones may be gone: a vacuum may
    have deleted their files, or the log's clean-up their versions. What the steps before `first_recorded` wrote to
    record their changes may be gone too: a vacuum takes such files by their age, whether the state can still be read or
    not. `hours` have passed since the beginning. `zone` is the time zone of the session that performs the next step,
    `zones` are all that there have been.
    """

    states: tuple[State, ...] = ()
    first_readable: int = 0
    hours: int = 0
    first_recorded: int = 0
    zone: tzinfo = UTC
    zones: tuple[tzinfo, ...] = (UTC,)

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

    def readable_steps(self) -> tuple[int, ...]:
        """The steps whose state every engine must still be able to read, as far as the table existed."""
        return tuple(
            step for step in range(self.first_readable, len(self.states)) if self.states[step].table.exists
        )

    def recorded_steps(self) -> tuple[int, ...]:
        """The steps whose change data no vacuum may have deleted."""
        return tuple(range(self.first_recorded, len(self.states)))

    def in_zone(self, zone: tzinfo) -> ModelHistory:
        """Return the same history for a session with this time zone."""
        return self if zone is self.zone else replace(self, zone=zone)

    def expect(self, operation: ops.Operation) -> Expectation:
        """The outcomes that an operation may have now. Raises NotModelled for what the model does not execute."""
        table = self.table
        if table.zone is not self.zone:
            table = replace(table, zone=self.zone)
        if isinstance(operation, _TOUCHES_NOTHING):
            return expect_no_change(table, "contents.look-changes-nothing", most=0)
        handler = _ANYWHERE.get(type(operation))
        if handler is not None:
            return refuse_void_rows(table, handler(table, operation))
        if not table.exists:
            return expect_refusal(table, "missing-table", "outcome.missing-table-refused")
        expectation = self._expect_on_table(table, operation)
        if len(self.zones) > 1 and isinstance(operation, _MAY_REMOVE_FILES):
            return _allow_rules_of_another_zone(table, expectation)
        return expectation

    def _expect_on_table(self, table: Table, operation: ops.Operation) -> Expectation:
        if isinstance(operation, ops.WriteStream):
            return expect_stream_write(self, operation)
        if isinstance(operation, ops.EnableFeature):
            known = any(state.table.may_support(operation.feature) for state in self.states)
            return properties_and_constraints.enable_feature(table, operation, known=known)
        handler = _ON_A_TABLE.get(type(operation))
        if handler is None:
            return self._expect_maintenance(table, operation)
        expectation = handler(table, operation)
        if not isinstance(operation, _WRITES_ROWS):
            return expectation
        return allow_identity_overflow(
            table, refuse_too_long_texts(table, refuse_void_rows(table, expectation))
        )

    def after(self, operation: ops.Operation, reached: AllowedOutcome | None = None) -> ModelHistory:
        """Return the history with one more step, which ended in the given outcome, or else in its ordinary one."""
        if reached is None:
            allowed_outcomes = self.expect(operation).allowed_outcomes
            reached = allowed_outcomes[0]
            ranges = [allowed.commits for allowed in allowed_outcomes]
            commits = (min(least for least, _ in ranges), max(most for _, most in ranges))
        else:
            commits = reached.commits
        hours = self.hours + (operation.hours if isinstance(operation, ops.AdvanceClock) else 0)
        may_remove = commits[1] > 0 and isinstance(operation, _MAY_REMOVE_FILES)
        state = State(reached.table, commits, may_remove, operation, hours)
        zone = find_zone(operation.zone) if isinstance(operation, ops.SetZone) else self.zone
        zones = self.zones if zone in self.zones else (*self.zones, zone)
        history = replace(self, states=(*self.states, state), hours=hours, zone=zone, zones=zones)
        return _mark_unreadable(history, operation)

    def expect_read(self, read: ops.Read) -> ReadExpectation:
        """What a read must return."""
        refusals: tuple[str, ...] = ()
        match read.at:
            case ops.Latest():
                table = self.table
                if not table.exists:
                    return ReadExpectation(None, ("missing-table",))
            case ops.AtState(step=step) | ops.AtTime(step=step):
                table = self.state(step)
                if step < self.first_readable:
                    refusals = ("missing-file", "missing-version")
                if not table.exists or not self.table.exists:
                    return ReadExpectation(None, ("missing-version", "missing-table"))
            case _:
                raise NotModelled(name_of(read.at))
        try:
            return ReadExpectation(_select(table, read, self.zone), refusals)
        except KeyError:
            return ReadExpectation(None, ("schema", "bad-argument"))

    def expect_changes(self, read: ops.ReadChanges) -> ChangesExpectation:
        """The change feed from the step `first` to the step `last`, both included.

        Raises NotModelled if the schema changes on the way: then the protocol leaves open how older rows look.
        """
        if not isinstance(read.first, ops.AtState) or not isinstance(
            read.last, ops.AtState | ops.Latest | None
        ):
            raise NotModelled(f"changes from {name_of(read.first)}")
        first = read.first.step
        last = read.last.step if isinstance(read.last, ops.AtState) else self.step - 1
        if first > last or not self.table.exists:
            return ChangesExpectation(None, ("bad-argument", "missing-version", "missing-table"))
        tables = [self.state(step) for step in range(first, last + 1)]
        if not all(map(is_recorded, tables)):
            return ChangesExpectation(
                None, ("bad-argument", "missing-file", "missing-version", "unsupported-feature")
            )
        if any(table.schema != tables[-1].schema for table in tables):
            raise NotModelled("changes across a change of the schema")
        before = [self.state(first - 1) if first else Table(), *tables]
        steps = tuple(step_changes(step, *pair) for step, pair in enumerate(pairwise(before), start=first))
        vacuumed = any(state.may_remove for state in self.states[first : min(last + 1, self.first_recorded)])
        gone = vacuumed or first < self.first_readable
        return ChangesExpectation(steps, ("missing-file", "missing-version") if gone else ())

    def expect_stream(self, query: ops.ReadStream, began: int, last: int) -> StreamExpectation:
        """What a streaming reader must have received by now.

        The step `began` is the one of its first query, `last` that of the query before this one.
        """
        return expect_stream_read(self, query, began, last)

    def _expect_maintenance(self, table: Table, operation: ops.Operation) -> Expectation:
        """The outcomes of maintenance, which keeps the rows, and of a restore."""
        match operation:
            case ops.Restore(at=ops.AtState(step=step) | ops.AtTime(step=step)):
                return self._expect_restore(step)
            case ops.Optimize(where=where) | ops.ZOrder(where=where):
                return _expect_optimize(table, where)
            case ops.Purge():
                return _expect_optimize(table, None)
            case ops.Cluster(columns=columns):
                return _expect_cluster(table, columns)
            case ops.Vacuum(retention_hours=hours):
                expectation = expect_no_change(table, "contents.vacuum", most=2)
                if hours is None or hours >= file_retention(table):
                    return expectation
                return allow_refusal(
                    expectation, table, ("retention",), "outcome.short-retention-may-be-refused"
                )
            case ops.CompactLog():
                expectation = expect_no_change(table, "contents.checkpoint", most=0)
                return allow_refusal(
                    expectation, table, ("bad-argument",), "outcome.nothing-to-compact-may-be-refused"
                )
            case ops.Checkpoint() | ops.CleanLog():
                return expect_no_change(table, "contents.checkpoint", most=0)
        raise NotModelled(name_of(operation))

    def _expect_restore(self, step: int) -> Expectation:
        present, goal = self.table, self.state(step)
        if not goal.exists:
            return expect_refusal(
                present, ("missing-version", "bad-argument"), "outcome.missing-version-refused"
            )
        features = tuple(sorted({*present.features, *goal.features}))
        goal = replace(
            goal,
            name=present.name,
            managed=present.managed,
            transactions=present.transactions,
            features=features,
        )
        expectation = expect_rewrite(present, goal, "contents.restore")
        if all(state.commits[0] == 0 for state in self.states[step + 1 :]):
            expectation = allow_refusal(
                expectation, present, ("bad-argument",), "outcome.restore-to-now-may-be-refused"
            )
        if step < self.first_readable:
            expectation = allow_refusal(
                expectation,
                present,
                ("missing-file", "missing-version"),
                "outcome.vacuumed-state-may-be-refused",
            )
        return refuse_losses_in_append_only(present, expectation)


def _allow_rules_of_another_zone(table: Table, expectation: Expectation) -> Expectation:
    """The same outcomes, and a refusal if rows of the table do not keep its rules in the present time zone."""
    try:
        check_rules(table, table.rows)
    except (BrokenRule, EvaluationError):
        return allow_refusal(
            expectation, table, ("constraint",), "outcome.rules-of-another-zone-may-be-refused"
        )
    return expectation


def _mark_unreadable(model_history: ModelHistory, operation: ops.Operation) -> ModelHistory:
    """The history with its bounds moved past the states and changes that the newest step may have made unreadable."""
    if not model_history.table.exists:
        gone = len(model_history.states)
        return replace(model_history, first_readable=gone, first_recorded=gone)
    first_readable, first_recorded = model_history.first_readable, model_history.first_recorded
    for vacuum in _vacuums(operation):
        hours = vacuum.retention_hours
        kept = file_retention(model_history.table) if hours is None else hours
        first_readable = max(first_readable, _count_vacuumed(model_history, kept))
        first_recorded = max(first_recorded, _count_older(model_history, kept))
    if model_history.hours:
        first_readable = max(first_readable, _count_expired(model_history))
    if (first_readable, first_recorded) == (model_history.first_readable, model_history.first_recorded):
        return model_history
    return replace(model_history, first_readable=first_readable, first_recorded=first_recorded)


def _vacuums(operation: ops.Operation) -> tuple[ops.Vacuum, ...]:
    """The vacuums of a step that may delete files, alone or among writers at once."""
    together = operation.operations if isinstance(operation, ops.Interleave) else (operation,)
    return tuple(one for one in together if isinstance(one, ops.Vacuum) and not one.dry_run)


def _count_vacuumed(model_history: ModelHistory, kept: float) -> int:
    """The number of earliest states whose files a vacuum may have deleted.

    These are the states before the last step that removed files longer ago than the retention.
    """
    removing = [
        step
        for step, state in enumerate(model_history.states)
        if state.may_remove and model_history.hours - state.hour >= kept
    ]
    return removing[-1] if removing else 0


def _count_older(model_history: ModelHistory, kept: float) -> int:
    """The number of earliest steps that are at least as old as the retention."""
    return sum(model_history.hours - state.hour >= kept for state in model_history.states)


def _count_expired(model_history: ModelHistory) -> int:
    """The number of earliest states that are older than the log's retention and not the newest version."""
    kept = log_retention(model_history.table)
    last = max((step for step, state in enumerate(model_history.states) if state.commits[1] > 0), default=0)
    old = [step for step in range(last) if model_history.hours - model_history.states[step].hour >= kept]
    return old[-1] + 1 if old else 0


def _expect_optimize(table: Table, where: Any) -> Expectation:
    partitioning = {name.casefold() for name in table.partition_by}
    if any(column.path[0].casefold() not in partitioning for column in columns_of(where)):
        return expect_refusal(table, ("bad-argument", "schema"), "outcome.optimize-by-partition-only")
    return Expectation(
        (
            AllowedOutcome(Committed(), (0, ANY_NUMBER), table, "contents.optimize"),
            AllowedOutcome(NoChange(), (0, 0), table, "contents.optimize"),
        )
    )


def _expect_cluster(table: Table, columns: tuple[str, ...]) -> Expectation:
    known = {name.casefold() for name in table.schema.names}
    if table.partition_by or any(column.casefold() not in known for column in columns):
        return expect_refusal(
            table, ("bad-argument", "schema", "unsupported-feature"), "outcome.bad-clustering-refused"
        )
    if columns == table.cluster_by:
        return expect_no_change(table, "contents.cluster")
    return expect_change(replace(table, cluster_by=columns), "contents.cluster")


def _select(table: Table, read: ops.Read, zone: tzinfo) -> Rows:
    rows = table.rows
    if read.where is not None:
        picks = compile_expression(read.where, table.schema, zone)
        rows = tuple(row for row in rows if picks(row) is True)
    if read.columns is None:
        return Rows(table.schema, rows)
    places = [table.schema.index(name) for name in read.columns]
    schema = Struct(tuple(table.schema.fields[place] for place in places))
    return Rows(schema, tuple(tuple(row[place] for place in places) for row in rows))
