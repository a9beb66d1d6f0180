"""The honest engine: does what the model says, on real files, small data only. Several of it may write at once."""

from __future__ import annotations

import importlib.metadata
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from delta_adapters.contract import Identity
from delta_adapters.reference import actions
from delta_adapters.reference.capabilities import CAPABILITIES
from delta_adapters.reference.catalog import CatalogedTable
from delta_adapters.reference.commit_builder import CommitBuilder
from delta_adapters.reference.definition import defined
from delta_adapters.reference.files import Layout
from delta_adapters.reference.identity_columns import Exhausted, numbered
from delta_adapters.reference.log_writer import VersionTaken
from delta_adapters.reference.operation_metrics import metrics
from delta_adapters.reference.reading import rejection
from delta_adapters.reference.row_deletes import change_data, with_vectors
from delta_adapters.reference.row_tracking import TRACKING, carried, unnumbered
from delta_adapters.reference.stream_writes import StreamWrites
from delta_models import operations as ops
from delta_models.log import Add, LogError, Snapshot
from delta_models.log.commit_timestamps import version_at
from delta_models.log.reader import live_adds
from delta_models.log.row_ids import is_tracked
from delta_models.outcomes import Committed, NoChange, Outcome, Rejected, Unknown, Unsupported
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


class Reference(StreamWrites, CatalogedTable):
    """An adapter that is its own engine. Its small methods are what liars override."""

    tries = 100  # for one operation: each that fails is a commit of somebody else

    @property
    def identity(self) -> Identity:
        """Who this is."""
        try:
            version = importlib.metadata.version("delta-conformance")
        except importlib.metadata.PackageNotFoundError:
            version = "0"
        home = "https://github.com/delta-conformance/delta-conformance"
        return Identity("reference", version, home, f"{home}/issues")

    @property
    def capabilities(self) -> Mapping[str, Any]:
        """What it claims."""
        return CAPABILITIES

    def start(self, work: Path) -> None:
        """There is nothing to start."""

    def stop(self) -> None:
        """There is nothing to stop."""

    # Operations

    def execute(self, operation: ops.Operation, tag: str) -> Outcome:
        """Perform one operation. Where another writer was faster it is done anew on the table that this one left, as if
        it had been asked for only then: that is one of the orders that both may have, so nothing conflicts."""
        try:
            for _ in range(self.tries):
                try:
                    return self.attempt(operation, tag)
                except VersionTaken:
                    self.reader.forget()
            return Rejected("conflict.other", f"others were faster, {self.tries} times")
        except Exhausted as error:
            return Rejected("overflow", f"{error} has no values left")
        except NotModelled as error:
            return Unsupported(str(error))
        except LogError as error:
            return rejection(error)
        except OSError as error:  # the commit may be there: whoever can't tell, says so
            return Unknown(str(error))

    def attempt(self, operation: ops.Operation, tag: str) -> Outcome:
        """Perform an operation, or raise Taken: there is a commit of its version already."""
        self.began = actions.now()
        snapshot = self.current()
        if snapshot is not None and (missing := self.not_writable(snapshot)):
            return Rejected("unsupported-feature", missing)
        return self.perform(operation, snapshot, tag)

    def perform(self, operation: ops.Operation, snapshot: Snapshot | None, tag: str) -> Outcome:
        """Perform an operation on a table as it is now."""
        done = self.arranged(operation, snapshot, tag)
        if done is not None:
            return done
        outcome = self.changed(operation, snapshot, tag)
        if isinstance(operation, ops.Create) and outcome == Committed():
            self.register(operation)
        return outcome

    def arranged(self, operation: ops.Operation, snapshot: Snapshot | None, tag: str) -> Outcome | None:
        """What concerns files and versions only; None if the operation is of another kind."""
        match operation:
            case ops.SetZone() | ops.Reopen():
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
                return self.pour(operation, tag)
            case ops.DropFeature(feature=feature) if feature == TRACKING:
                return Rejected("unsupported-feature", f"{feature} is not dropped")
            case ops.CompactLog(commits=commits) if snapshot is not None:
                return self.compact_log(snapshot, commits)
        return None

    def changed(self, operation: ops.Operation, snapshot: Snapshot | None, tag: str) -> Outcome:
        """What the model says of the table, as actions."""
        table = self.table(snapshot)
        expected = ModelHistory((State(table, (0, 0), may_remove=False),)).expect(operation).ordinary
        if isinstance(expected.outcome, Rejected):
            return Rejected(expected.outcome.kind, f"{name_of(operation)}: {expected.requirement}")
        if isinstance(operation, ops.Vacuum) and snapshot is not None:
            return self.vacuum(snapshot, operation)
        after = self.numbered(expected.table)
        match operation:
            case ops.Optimize(where=where) | ops.ZOrder(where=where) if snapshot is not None:
                draft = self.compact(snapshot, where)
            case ops.Purge() if snapshot is not None:
                draft = self.purge(snapshot)
            case _:
                draft = self.draft(operation, snapshot, table, after)
        if not draft and isinstance(expected.outcome, NoChange | Committed) and expected.commits[0] == 0:
            return NoChange()
        draft.counts = self.counted(operation, table, after, draft)
        return self.commit(draft, snapshot, name_of(operation), tag)

    def numbered(self, table: Table) -> Table:
        """The table with values for its identity columns where it has to make them up."""
        return numbered(table)

    def counted(
        self, operation: ops.Operation, before: Table, after: Table, draft: CommitBuilder
    ) -> dict[str, int]:
        """What a commit counts of itself."""
        return metrics(operation, before, after, draft.adds, draft.removes)

    def draft(
        self, operation: ops.Operation, snapshot: Snapshot | None, before: Table, after: Table
    ) -> CommitBuilder:
        """The actions that turn one state of the table into another."""
        keep = not isinstance(operation, ops.DropFeature)
        definition = defined(snapshot, before, after, keep_features=keep)
        draft = CommitBuilder(others=list(definition.forms))
        if snapshot is not None and definition.row_columns and not is_tracked(snapshot):
            draft.adds = self.files_to_number(snapshot)  # row tracking is switched on
        transaction = getattr(operation, "transaction", None)
        if transaction is not None:
            if before.transactions == after.transactions:
                return CommitBuilder()  # it was written before
            draft.others.append(actions.transaction(*transaction))
        layout = Layout(definition.schema, after.partition_by, definition.row_columns)
        new, gone = self.moved(operation, snapshot, before, after, draft)
        draft.removes = [actions.remove(each, data_change=True) for each in gone]
        draft.adds += self.write(layout, new, getattr(operation, "files", 1), data_change=True)
        if is_recorded(before) and is_recorded(after) and draft.removes and draft.adds:
            draft.others += self.change_data(layout, before, after)
        return draft

    def files_to_number(self, snapshot: Snapshot) -> list[actions.Form]:
        """The files that row ids are missing for."""
        return list(unnumbered(self.reader, snapshot))

    def moved(
        self,
        operation: ops.Operation,
        snapshot: Snapshot | None,
        before: Table,
        after: Table,
        draft: CommitBuilder,
    ) -> tuple[Sequence[Row], list[Add]]:
        """The rows to be written, and the files that go; files that stay with a deletion vector go into the draft."""
        if isinstance(operation, ops.Append):
            return after.rows[len(before.rows) :], []
        if isinstance(operation, ALTERATIONS):
            return (), []
        replaced = isinstance(operation, ops.Replace | ops.CreateAs)
        whole = isinstance(operation, ops.Overwrite) and operation.where is None and not operation.dynamic
        if snapshot is None or replaced or whole:
            return after.rows, list(live_adds(snapshot)) if snapshot else []
        if after.property("delta.enableDeletionVectors").lower() == "true":
            new, gone, draft.adds, lost = with_vectors(self.reader, snapshot, after)
        else:
            new, gone = self.rewritten(snapshot, after)
            lost = [row for each in gone for row in self.file_rows(snapshot, each)]
        return carried(operation, before, after, lost, new), gone

    def change_data(self, layout: Layout, before: Table, after: Table) -> list[actions.Form]:
        """Write the files that tell of a change."""
        return change_data(self.folder, layout, before, after)

    def rewritten(self, snapshot: Snapshot | None, after: Table) -> tuple[list[Row], list[Add]]:
        """Copy on write: the files of which a row is no longer there go, and what else they held is written again."""
        missing = Counter(after.bag)
        gone: list[Add] = []
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
                gone.append(add)
        by_key = {same_key(after.schema, row): row for row in after.rows}
        return [by_key[key] for key in missing.elements()], gone
