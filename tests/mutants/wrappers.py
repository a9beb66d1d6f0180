"""The honest engine with a place for a lie: in an operation of one kind, or in the draft of its commit."""

from __future__ import annotations

from typing import Any

from delta_adapters.reference import CommitBuilder, Reference, actions
from delta_adapters.reference.files import Layout
from delta_models import operations as ops
from delta_models.log import Snapshot
from delta_models.log.reader import live_adds
from delta_models.outcomes import Outcome
from delta_models.table import Table
from delta_models.values import Row


class OnOne(Reference):
    """Lies in the operations of one kind, `kind`; `crook` is the lie, told instead of the honest way."""

    kind: type[Any] = ops.Append

    def perform(self, operation: ops.Operation, snapshot: Snapshot | None, tag: str) -> Outcome:
        if isinstance(operation, self.kind):
            return self.crook(operation, snapshot, tag)
        return super().perform(operation, snapshot, tag)

    def crook(self, operation: Any, snapshot: Snapshot | None, tag: str) -> Outcome:
        raise NotImplementedError

    def honest(self, operation: ops.Operation, snapshot: Snapshot | None, tag: str) -> Outcome:
        return super().perform(operation, snapshot, tag)

    def slip_in(self, snapshot: Snapshot, *forms: actions.Form) -> Outcome:
        """Commit whatever is given."""
        draft = CommitBuilder(others=list(forms))
        return self.commit(draft, snapshot, "Lie", "")

    def lose_a_file(self, snapshot: Snapshot) -> Outcome:
        """Commit that a live file is gone."""
        return self.slip_in(snapshot, actions.remove(next(iter(live_adds(snapshot))), data_change=True))

    def write_rows(self, snapshot: Snapshot, *found: Row) -> Outcome:
        """Commit rows, whatever they are."""
        layout = Layout(snapshot.schema, snapshot.partition_by)
        return self.slip_in(snapshot, *self.write(layout, found, 1, data_change=True))


class ButDrafts(Reference):
    """Lies in the draft of the operations of one kind."""

    kind: type[Any] = ops.Append

    def draft(
        self, operation: ops.Operation, snapshot: Snapshot | None, before: Table, after: Table
    ) -> CommitBuilder:
        draft = super().draft(operation, snapshot, before, after)
        return self.bend(draft, operation, snapshot) if isinstance(operation, self.kind) else draft

    def bend(self, draft: CommitBuilder, operation: Any, snapshot: Snapshot | None) -> CommitBuilder:
        raise NotImplementedError
