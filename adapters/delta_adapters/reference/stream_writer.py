"""The layer that runs a stream into a table: it plans a batch, commits it under its number, and records it as done."""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Sequence
from pathlib import Path

import pyarrow.parquet as pq

from delta_adapters.reference.maintenance import TableMaintainer
from delta_adapters.streams import arrivals_of, progress_of
from delta_models import operations as ops
from delta_models.log import Snapshot
from delta_models.log.parquet import arrow_to_rows
from delta_models.outcomes import Committed, NoChange, Outcome, Rejected
from delta_models.schema import Struct
from delta_models.values import Row, Rows

PLANNED, DONE = "offsets", "commits"


class StreamWriter(TableMaintainer):
    """The layer of the reference engine that performs `WriteStream`."""

    @abstractmethod
    def perform(self, operation: ops.Operation, snapshot: Snapshot | None, tag: str) -> Outcome:
        """Perform an operation on the table in its current state."""

    def write_stream(self, operation: ops.WriteStream, tag: str) -> Outcome:
        """Write everything that has arrived. A batch that was planned and is not recorded as done comes first."""
        progress = progress_of(self.folder, operation.stream)
        before = self.reader.latest_version()
        while (number := self.plan_batch(progress, arrivals_of(self.folder, operation.stream))) is not None:
            rows = self.batch_rows(progress, operation, number)
            outcome = self.write_batch(operation.stream, number, rows, tag)
            if isinstance(outcome, Rejected):
                return outcome
            self.write_note(progress / DONE, number, ())
        return NoChange() if self.reader.latest_version() == before else Committed()

    def plan_batch(self, progress: Path, arrivals: Path) -> int | None:
        """Return the number of the next batch: a planned one that is not done, or a new one of new files.

        None if there is nothing to write.
        """
        plans = _notes_by_number(progress / PLANNED)
        unfinished = sorted(set(plans) - set(_notes_by_number(progress / DONE)))
        if unfinished:
            return unfinished[0]
        known = {name for path in plans.values() for name in json.loads(path.read_text("utf-8"))}
        new = sorted(str(path) for path in arrivals.glob("*.parquet") if str(path) not in known)
        if not new:
            return None
        number = max(plans, default=-1) + 1
        self.write_note(progress / PLANNED, number, new)
        return number

    @staticmethod
    def batch_rows(progress: Path, operation: ops.WriteStream, number: int) -> Rows:
        """Return the rows of a planned batch."""
        schema: Struct = operation.rows.schema
        rows: list[Row] = []
        for name in json.loads((progress / PLANNED / f"{number}").read_text("utf-8")):
            rows += arrow_to_rows(pq.read_table(name), schema).rows
        return Rows(schema, tuple(rows))

    def write_batch(self, stream: str, number: int, rows: Rows, tag: str) -> Outcome:
        """Append a batch under its number, so that it is not appended twice."""
        self.reader.forget()
        return self.perform(ops.Append(rows, transaction=(stream, number)), self.current(), tag)

    @staticmethod
    def write_note(folder: Path, number: int, names: Sequence[str]) -> None:
        """Write the note of a batch, whole or not at all."""
        folder.mkdir(parents=True, exist_ok=True)
        partial = folder / f".{number}.tmp"
        partial.write_text(json.dumps(list(names)), "utf-8")
        partial.replace(folder / f"{number}")


def _notes_by_number(folder: Path) -> dict[int, Path]:
    return {int(path.name): path for path in folder.glob("*") if path.name.isdigit()}
