"""The reference engine: it does on real files what the model computes. Several of them may write at the same time."""

from __future__ import annotations

import importlib.metadata
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, tzinfo
from pathlib import Path
from typing import Any

from delta_adapters.contract import Identity
from delta_adapters.reference import actions
from delta_adapters.reference.actions import CommitBuilder
from delta_adapters.reference.capabilities import CAPABILITIES
from delta_adapters.reference.catalog import TableCatalog
from delta_adapters.reference.definition import is_append_only, redefine
from delta_adapters.reference.files import Layout
from delta_adapters.reference.identity_columns import Exhausted, with_identity_values
from delta_adapters.reference.log_writer import VersionTaken
from delta_adapters.reference.operation_metrics import operation_metrics
from delta_adapters.reference.row_deletes import mark_deleted_rows, write_change_data
from delta_adapters.reference.row_tracking import TRACKING, adds_without_row_ids, with_known_ids
from delta_adapters.reference.stream_writer import StreamWriter
from delta_adapters.reference.table_reader import rejection
from delta_models import operations as ops
from delta_models.casts.explicit import find_zone
from delta_models.log import Add, LogError, Snapshot
from delta_models.log.commit_timestamps import version_at
from delta_models.log.reader import live_adds
from delta_models.log.row_ids import is_tracked
from delta_models.outcomes import Committed, NoChange, Outcome, Rejected, Unknown, Unsupported
from delta_models.sql import NotUnderstood
from delta_models.table import ModelHistory, NotModelled, Table
from delta_models.table.change_feed import is_recorded
from delta_models.table.history_model import State
from delta_models.table.row_conversion import value_converter
from delta_models.values import Row, bag, same_key
from delta_models.wire_names import name_of

ALTERATIONS = (
    ops.AddColumn, ops.DropColumn, ops.RenameColumn, ops.ReorderColumn, ops.WidenColumn, ops.SetNullable,
    ops.SetDefault, ops.SetProperties, ops.UnsetProperties, ops.AddConstraint, ops.DropConstraint,
    ops.EnableFeature, ops.DropFeature, ops.Cluster,
)  # fmt: skip


class Reference(StreamWriter, TableCatalog):
    """An adapter that is its own engine. Mutants override its small methods."""

    attempts = 100  # for one operation: an attempt fails if another writer committed first
    zone: tzinfo = UTC  # of the session; it belongs to a history, so to a table

    @property
    def identity(self) -> Identity:
        """The engine's name and version."""
        try:
            version = importlib.metadata.version("delta-conformance")
        except importlib.metadata.PackageNotFoundError:
            version = "0"
        home = "https://github.com/delta-conformance/delta-conformance"
        return Identity("reference", version, home, f"{home}/issues")

    @property
    def capabilities(self) -> Mapping[str, Any]:
        """The capability document."""
        return CAPABILITIES

    def start(self, work: Path) -> None:
        """Do nothing: there is nothing to start."""

    def stop(self) -> None:
        """Do nothing: there is nothing to stop."""

    def open(self, location: str) -> None:
        """Address the table at this path."""
        home = getattr(self, "folder", None)
        super().open(location)
        if home is None or home.resolve() != self.folder.resolve():
            self.zone = UTC

    # Operations

    def execute(self, operation: ops.Operation, tag: str) -> Outcome:
        """Perform one operation.

        If another writer committed first, perform it again on the table that this writer left. That is one of the two
        orders that both operations may have, so nothing conflicts.
        """
        try:
            for _ in range(self.attempts):
                try:
                    return self.attempt(operation, tag)
                except VersionTaken:
                    self.reader.forget()
            return Rejected("conflict.other", f"others were faster, {self.attempts} times")
        except Exhausted as error:
            return Rejected("overflow", f"{error} has no values left")
        except (NotModelled, NotUnderstood) as error:  # what another engine wrote may be in its own SQL
            return Unsupported(str(error))
        except LogError as error:
            return rejection(error)
        except OSError as error:  # the commit may exist
            return Unknown(str(error))

    def attempt(self, operation: ops.Operation, tag: str) -> Outcome:
        """Perform an operation. Raises VersionTaken if another writer has committed its version."""
        self.began = actions.now()
        snapshot = self.current()
        if snapshot is not None and (missing := self.why_not_writable(snapshot)):
            return Rejected("unsupported-feature", missing)
        return self.perform(operation, snapshot, tag)

    def perform(self, operation: ops.Operation, snapshot: Snapshot | None, tag: str) -> Outcome:
        """Perform an operation on the table in its current state."""
        outcome_on_files = self.perform_on_files(operation, snapshot, tag)
        if outcome_on_files is not None:
            return outcome_on_files
        outcome = self.apply_model(operation, snapshot, tag)
        if isinstance(operation, ops.Create) and outcome == Committed():
            self.register(operation)
        return outcome

    def perform_on_files(
        self, operation: ops.Operation, snapshot: Snapshot | None, tag: str
    ) -> Outcome | None:
        """Perform an operation that concerns only files and versions. Return None for other operations."""
        match operation:
            case ops.SetZone(zone=zone):
                self.zone = find_zone(zone)
                return NoChange()
            case ops.Reopen():
                return NoChange()
            case ops.Drop() if snapshot is not None:
                return self.drop()
            case ops.Checkpoint() if snapshot is not None:
                self.checkpoint(snapshot)
                return Committed()
            case ops.Restore(at=ops.AtVersion(version=version)) if snapshot is not None:
                return self.restore(snapshot, version, tag)
            case ops.Restore(at=ops.AtTimestamp(micros=micros)) if snapshot is not None:
                return self.restore(snapshot, version_at(self.reader, micros), tag)
            case ops.Restore(at=ops.AtState()):
                return Unsupported("a state by the number of a step")
            case ops.CloneTo() if snapshot is not None:
                return self.clone(operation, tag)
            case ops.ConvertFromParquet() if snapshot is None:
                return self.convert(operation, tag)
            case ops.WriteStream() if snapshot is not None:
                return self.write_stream(operation, tag)
            case ops.DropFeature(feature=feature) if feature == TRACKING:
                return Rejected("unsupported-feature", f"{feature} is not dropped")
            case ops.CompactLog(commits=commits) if snapshot is not None:
                return self.compact_log(snapshot, commits)
        return None

    def apply_model(self, operation: ops.Operation, snapshot: Snapshot | None, tag: str) -> Outcome:
        """Let the model compute the new table, and commit the actions that lead to it."""
        table = self.table(snapshot)
        history = ModelHistory((State(table, (0, 0), may_remove=False),), zone=self.zone)
        expected = history.expect(operation).ordinary
        if isinstance(expected.outcome, Rejected):
            return Rejected(expected.outcome.kind, f"{name_of(operation)}: {expected.requirement}")
        if isinstance(operation, ops.Vacuum) and snapshot is not None:
            return self.vacuum(snapshot, operation)
        after = self.fill_identity_columns(expected.table)
        match operation:
            case ops.Optimize(where=where) | ops.ZOrder(where=where) if snapshot is not None:
                draft = self.compact(snapshot, where)
            case ops.Purge() if snapshot is not None:
                draft = self.purge(snapshot)
            case _:
                draft = self.draft(operation, snapshot, table, after)
                defines = isinstance(operation, ops.Replace | ops.CreateAs)
                if snapshot is not None and defines and draft.removes and is_append_only(snapshot):
                    return Rejected("append-only", f"{name_of(operation)} would remove files")
        if not draft and isinstance(expected.outcome, NoChange | Committed) and expected.commits[0] == 0:
            return NoChange()
        draft.counts = self.count_operation(operation, table, after, draft)
        return self.commit(draft, snapshot, name_of(operation), tag)

    def fill_identity_columns(self, table: Table) -> Table:
        """Return the table with values for the identity columns that the engine has to generate."""
        return with_identity_values(table)

    def count_operation(
        self, operation: ops.Operation, before: Table, after: Table, draft: CommitBuilder
    ) -> dict[str, int]:
        """Return the operation metrics of a commit."""
        return operation_metrics(operation, before, after, draft.adds, draft.removes)

    def draft(
        self, operation: ops.Operation, snapshot: Snapshot | None, before: Table, after: Table
    ) -> CommitBuilder:
        """Return the actions that turn one state of the table into another. Writes the data files."""
        keep = not isinstance(operation, ops.DropFeature)
        definition = redefine(snapshot, before, after, keep_features=keep)
        draft = CommitBuilder(others=list(definition.forms))
        if snapshot is not None and definition.row_columns and not is_tracked(snapshot):
            draft.adds = self.files_without_row_ids(snapshot)  # row tracking is switched on
        transaction = getattr(operation, "transaction", None)
        if transaction is not None:
            if before.transactions == after.transactions:
                return CommitBuilder()  # the table has this transaction already
            draft.others.append(actions.transaction(*transaction))
        layout = Layout(definition.schema, after.partition_by, definition.row_columns)
        new, removed = self.rows_and_removals(operation, snapshot, before, after, draft)
        draft.removes = [actions.remove(file, data_change=True) for file in removed]
        draft.adds += self.write(layout, new, getattr(operation, "files", 1), data_change=True)
        if is_recorded(before) and is_recorded(after) and draft.removes and draft.adds:
            draft.others += self.write_change_data(layout, before, after)
        return draft

    def files_without_row_ids(self, snapshot: Snapshot) -> list[actions.Form]:
        """Return adds for the files without row ids."""
        return list(adds_without_row_ids(self.reader, snapshot))

    def rows_and_removals(
        self,
        operation: ops.Operation,
        snapshot: Snapshot | None,
        before: Table,
        after: Table,
        draft: CommitBuilder,
    ) -> tuple[Sequence[Row], list[Add]]:
        """Return the rows to write and the files to remove. Files that get a deletion vector go into the draft."""
        if isinstance(operation, ops.Append):
            return after.rows[len(before.rows) :], []
        if isinstance(operation, ALTERATIONS):
            return (), []
        replaced = isinstance(operation, ops.Replace | ops.CreateAs)
        whole = isinstance(operation, ops.Overwrite) and operation.where is None and not operation.dynamic
        if snapshot is None or replaced or whole:
            return after.rows, list(live_adds(snapshot)) if snapshot else []
        if after.property("delta.enableDeletionVectors").lower() == "true":
            new, removed, draft.adds, lost = mark_deleted_rows(self.reader, snapshot, after)
        else:
            new, removed = self.copy_on_write(snapshot, after)
            lost = [row for file in removed for row in self.file_rows(snapshot, file)]
        return with_known_ids(operation, before, after, lost, new), removed

    def write_change_data(self, layout: Layout, before: Table, after: Table) -> list[actions.Form]:
        """Write the files of change data, and return their actions."""
        return write_change_data(self.folder, layout, before, after)

    def copy_on_write(self, snapshot: Snapshot | None, after: Table) -> tuple[list[Row], list[Add]]:
        """Return the rows to write and the files to remove: a file that loses a row goes, its other rows are copied."""
        missing = Counter(after.bag)
        removed: list[Add] = []
        convert = value_converter(snapshot.schema, after.schema) if snapshot else None
        for add in live_adds(snapshot) if snapshot else ():
            held = (
                bag(after.schema, map(convert, self.file_rows(snapshot, add)))
                if snapshot and convert
                else Counter()
            )
            if held <= missing:
                missing -= held
            else:
                removed.append(add)
        by_key = {same_key(after.schema, row): row for row in after.rows}
        return [by_key[key] for key in missing.elements()], removed
