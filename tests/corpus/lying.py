"""deltalake with a lie, or a refusal that nothing excuses, about what a corpus asks beside rows.

The lie's name stands in the file `lie` beside the table. Without that file it is honest, so that one host is enough.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa

from delta_adapters.contract import Answer, Query
from delta_adapters.delta_rs import DeltaRs
from delta_models.operations import Detail, Read, ReadChanges
from delta_models.outcomes import Outcome, Rejected

Said = Answer | Outcome
Ask = Callable[[Query], Said]
Lie = Callable[[Ask, Query], Said]


class Liar(DeltaRs):
    """It lies about one kind of question."""

    def open(self, location: str) -> None:
        super().open(location)
        self._note = Path(location).with_name("lie")

    def read(self, read: Query) -> Said:
        if self._note.exists():
            about, lie = LIES[self._note.read_text()]
            if isinstance(read, about):
                return lie(super().read, read)
        return super().read(read)


def _last_change_kept_back(ask: Ask, look: Query) -> Said:
    table = _answer(ask(look))
    return Answer(table.slice(0, table.num_rows - 1))


def _all_changes_inserts(ask: Ask, look: Query) -> Said:
    table = _answer(ask(look))
    return Answer(_with(table, "_change_type", pa.array(["insert"] * table.num_rows)))


def _refused(_: Ask, __: Query) -> Said:
    return Rejected("bad-argument", "not today")


def _newest(ask: Ask, _: Query) -> Said:
    return ask(Detail())


def _invented(_: Ask, __: Query) -> Said:
    return Answer(pa.table({"numFiles": [0]}))


def _said(part: str, lie: Any) -> Lie:
    def told(ask: Ask, look: Query) -> Said:
        table = _answer(ask(look))
        return Answer(_with(table, part, pa.array([lie], table.schema.field(part).type)))

    return told


def _answer(said: Said) -> pa.Table:
    if not isinstance(said, Answer):
        raise TypeError(f"there is nothing to bend in {said}")
    return said.table


def _with(table: pa.Table, name: str, values: pa.Array) -> pa.Table:
    return table.set_column(table.column_names.index(name), name, values)


LIES: dict[str, tuple[type[Query], Lie]] = {
    "the last change is kept back": (ReadChanges, _last_change_kept_back),
    "all changes are inserts": (ReadChanges, _all_changes_inserts),
    "a recorded feed is refused": (ReadChanges, _refused),
    "the table has no properties": (Detail, _said("properties", [])),
    "the writer version is 1": (Detail, _said("minWriterVersion", 1)),
    "no features are listed": (Detail, _said("writerFeatures", [])),
    "there are no columns": (Detail, _said("schemaString", '{"type": "struct", "fields": []}')),
    "the newest version is meant": (Detail, _newest),
    "the state is refused": (Detail, _refused),
    "a table is described that is not there": (Detail, _invented),
    "rows are read where there is no schema": (Read, _invented),
}
