"""A mutant of deltalake: it answers queries about states and change feeds with a fault, or refuses them.

The file `fault` beside the table names the fault. Without that file the engine is honest, so one host is enough.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa

from delta_adapters.contract import Answer, Query
from delta_adapters.delta_rs import DeltaRs
from delta_models.operations import Detail, ReadChanges
from delta_models.operations import Read as ReadRows
from delta_models.outcomes import Outcome, Rejected

Reply = Answer | Outcome
Read = Callable[[Query], Reply]
Fault = Callable[[Read, Query], Reply]


class DeltaRsMutant(DeltaRs):
    """deltalake with a fault in one kind of query."""

    def open(self, location: str) -> None:
        super().open(location)
        self._note = Path(location).with_name("fault")

    def read(self, read: Query) -> Reply:
        if self._note.exists():
            kind, fault = FAULTS[self._note.read_text()]
            if isinstance(read, kind):
                return fault(super().read, read)
        return super().read(read)


def _last_change_kept_back(answer_of: Read, query: Query) -> Reply:
    table = _table_of(answer_of(query))
    return Answer(table.slice(0, table.num_rows - 1))


def _all_changes_inserts(answer_of: Read, query: Query) -> Reply:
    table = _table_of(answer_of(query))
    return Answer(_with(table, "_change_type", pa.array(["insert"] * table.num_rows)))


def _refused(_: Read, __: Query) -> Reply:
    return Rejected("bad-argument", "not today")


def _newest(answer_of: Read, _: Query) -> Reply:
    return answer_of(Detail())


def _invented(_: Read, __: Query) -> Reply:
    return Answer(pa.table({"numFiles": [0]}))


def _replaced(part: str, value: Any) -> Fault:
    def read_with_fault(answer_of: Read, query: Query) -> Reply:
        table = _table_of(answer_of(query))
        return Answer(_with(table, part, pa.array([value], table.schema.field(part).type)))

    return read_with_fault


def _table_of(reply: Reply) -> pa.Table:
    if not isinstance(reply, Answer):
        raise TypeError(f"{reply} has no table to change")
    return reply.table


def _with(table: pa.Table, name: str, values: pa.Array) -> pa.Table:
    return table.set_column(table.column_names.index(name), name, values)


FAULTS: dict[str, tuple[type[Query], Fault]] = {
    "the last change is kept back": (ReadChanges, _last_change_kept_back),
    "all changes are inserts": (ReadChanges, _all_changes_inserts),
    "a recorded feed is refused": (ReadChanges, _refused),
    "the table has no properties": (Detail, _replaced("properties", [])),
    "the writer version is 1": (Detail, _replaced("minWriterVersion", 1)),
    "no features are listed": (Detail, _replaced("writerFeatures", [])),
    "there are no columns": (Detail, _replaced("schemaString", '{"type": "struct", "fields": []}')),
    "the newest version is meant": (Detail, _newest),
    "the state is refused": (Detail, _refused),
    "a table is described that is not there": (Detail, _invented),
    "rows are read where there is no schema": (ReadRows, _invented),
}
