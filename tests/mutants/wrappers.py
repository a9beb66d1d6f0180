"""Bases of mutants: the honest engine, wrong in an operation of one kind or in the draft of its commit."""

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


class WrongOperation(Reference):
    """Performs the operations of one `kind` by `perform_wrongly`, which a mutant defines, and all others honestly."""

    kind: type[Any] = ops.Append

    def perform(self, operation: ops.Operation, snapshot: Snapshot | None, tag: str) -> Outcome:
        if isinstance(operation, self.kind):
            return self.perform_wrongly(operation, snapshot, tag)
        return super().perform(operation, snapshot, tag)

    def perform_wrongly(self, operation: Any, snapshot: Snapshot | None, tag: str) -> Outcome:
        raise NotImplementedError

    def perform_honestly(self, operation: ops.Operation, snapshot: Snapshot | None, tag: str) -> Outcome:
        return super().perform(operation, snapshot, tag)

    def commit_forms(self, snapshot: Snapshot, *forms: actions.Form) -> Outcome:
        """Commit the given actions, whatever they are."""
        draft = CommitBuilder(others=list(forms))
        return self.commit(draft, snapshot, "Lie", "")

    def lose_a_file(self, snapshot: Snapshot) -> Outcome:
        """Commit the removal of a live file."""
        return self.commit_forms(snapshot, actions.remove(next(iter(live_adds(snapshot))), data_change=True))

    def write_rows(self, snapshot: Snapshot, *rows: Row) -> Outcome:
        """Commit rows, whatever they are."""
        layout = Layout(snapshot.schema, snapshot.partition_by)
        return self.commit_forms(snapshot, *self.write(layout, rows, 1, data_change=True))


class WrongDraft(Reference):
    """Changes the draft of the commit of operations of one `kind` by `bend`, which a mutant defines."""

    kind: type[Any] = ops.Append

    def draft(
        self, operation: ops.Operation, snapshot: Snapshot | None, before: Table, after: Table
    ) -> CommitBuilder:
        draft = super().draft(operation, snapshot, before, after)
        return self.bend(draft, operation, snapshot) if isinstance(operation, self.kind) else draft

    def bend(self, draft: CommitBuilder, operation: Any, snapshot: Snapshot | None) -> CommitBuilder:
        raise NotImplementedError
