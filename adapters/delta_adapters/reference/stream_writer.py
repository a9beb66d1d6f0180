"""How the honest engine runs a stream that writes into a table: a batch is planned, committed by number, noted done."""

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
    """A table that a stream writes into. Its small methods are what liars override."""

    @abstractmethod
    def perform(self, operation: ops.Operation, snapshot: Snapshot | None, tag: str) -> Outcome:
        """Perform an operation on the table as it is now."""

    def write_stream(self, operation: ops.WriteStream, tag: str) -> Outcome:
        """Write all that has arrived, the batch first of which it is not known whether it was written."""
        progress = progress_of(self.folder, operation.stream)
        before = self.reader.latest_version()
        while (number := self.plan_batch(progress, arrivals_of(self.folder, operation.stream))) is not None:
            rows = self.batch(progress, operation, number)
            outcome = self.write_batch(operation.stream, number, rows, tag)
            if isinstance(outcome, Rejected):
                return outcome
            self.write_note(progress / DONE, number, ())
        return NoChange() if self.reader.latest_version() == before else Committed()

    def plan_batch(self, progress: Path, arrivals: Path) -> int | None:
        """The next batch: one that was planned and not noted as done, or a new one of what has arrived since."""
        plans = _numbered(progress / PLANNED)
        open_ones = sorted(set(plans) - set(_numbered(progress / DONE)))
        if open_ones:
            return open_ones[0]
        known = {name for path in plans.values() for name in json.loads(path.read_text("utf-8"))}
        new = sorted(str(each) for each in arrivals.glob("*.parquet") if str(each) not in known)
        if not new:
            return None
        number = max(plans, default=-1) + 1
        self.write_note(progress / PLANNED, number, new)
        return number

    @staticmethod
    def batch(progress: Path, operation: ops.WriteStream, number: int) -> Rows:
        """The rows of a batch that was planned."""
        schema: Struct = operation.rows.schema
        rows: list[Row] = []
        for name in json.loads((progress / PLANNED / f"{number}").read_text("utf-8")):
            rows += arrow_to_rows(pq.read_table(name), schema).rows
        return Rows(schema, tuple(rows))

    def write_batch(self, stream: str, number: int, rows: Rows, tag: str) -> Outcome:
        """Append a batch under its number, under which it is not appended again."""
        self.reader.forget()
        return self.perform(ops.Append(rows, transaction=(stream, number)), self.current(), tag)

    @staticmethod
    def write_note(folder: Path, number: int, names: Sequence[str]) -> None:
        """Note of a batch, whole or not at all."""
        folder.mkdir(parents=True, exist_ok=True)
        partial = folder / f".{number}.tmp"
        partial.write_text(json.dumps(list(names)), "utf-8")
        partial.replace(folder / f"{number}")


def _numbered(folder: Path) -> dict[int, Path]:
    return {int(path.name): path for path in folder.glob("*") if path.name.isdigit()}
