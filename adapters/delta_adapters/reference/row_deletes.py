"""Delete rows from files by deletion vectors, and write the change data of a commit."""

from __future__ import annotations

import json
import uuid
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from delta_adapters.reference import actions
from delta_adapters.reference.files import Layout, to_parquet
from delta_adapters.reference.row_tracking import file_rows
from delta_adapters.reference.value_serialization import partition_folder, path_in_log
from delta_models.log import Add, LogReader, Snapshot, deletion_vectors
from delta_models.log.reader import live_adds
from delta_models.table import Table
from delta_models.table.row_conversion import value_converter
from delta_models.values import Key, Row, bag, row_keyer, same_key


def mark_deleted_rows(
    reader: LogReader, snapshot: Snapshot, after: Table
) -> tuple[list[Row], list[Add], list[actions.Form], list[Row]]:
    """Return what the new state of the table needs, with deletion vectors in place of copies.

    That is: the rows to write, the files to remove, the adds of files with a new deletion vector, and the rows that
    their files lose.
    """
    missing = Counter(after.bag)
    key = row_keyer(after.schema)
    convert = value_converter(snapshot.schema, after.schema)
    removed: list[Add] = []
    marked: list[actions.Form] = []
    lost_rows: list[Row] = []
    for add in live_adds(snapshot):
        deleted = reader.deleted(add)
        held = file_rows(reader, snapshot, add)
        rows = [convert(row) for row in held]
        positions = [index for index in range(len(rows) + len(deleted)) if index not in deleted]
        lost = []
        for position, row, old in zip(positions, rows, held, strict=True):
            row_key = key(row)
            if missing[row_key] > 0:
                missing[row_key] -= 1
            else:
                lost.append(position)
                lost_rows.append(old)
        if lost:
            removed.append(add)
            if len(lost) < len(rows):
                marked.append(_marked(add, deleted | set(lost)))
    by_key = {same_key(after.schema, row): row for row in after.rows}
    return [by_key[row_key] for row_key in (+missing).elements()], removed, marked, lost_rows


def _marked(add: Add, deleted: frozenset[int] | set[int]) -> actions.Form:
    form = actions.add_again(add, data_change=True)
    vector = deletion_vectors.inline_vector(sorted(deleted))
    stats = json.loads(add.stats) if add.stats else {}
    form["add"]["deletionVector"] = vector.to_json()
    if add.stats:
        form["add"]["stats"] = _loose(add.stats, stats)
    return form


def _loose(text: str, stats: dict[str, object]) -> str:
    """Return the statistics as text with loose bounds. The digits of decimals stay as they are written."""
    if "tightBounds" in stats:
        return text.replace('"tightBounds":true', '"tightBounds":false')
    return text[:-1] + ',"tightBounds":false}'


def write_change_data(folder: Path, layout: Layout, before: Table, after: Table) -> list[actions.Form]:
    """Write change data files with the difference of two states, and return their actions."""
    convert = value_converter(before.schema, after.schema)
    old_rows = [convert(row) for row in before.rows]
    old, new = bag(after.schema, old_rows), after.bag
    by_key: dict[Key, Row] = {same_key(after.schema, row): row for row in (*old_rows, *after.rows)}
    changes = [("delete", by_key[key]) for key in (old - new).elements()]
    changes += [("insert", by_key[key]) for key in (new - old).elements()]
    parts: dict[tuple[str | None, ...], list[tuple[str, Row]]] = {}
    for kind, row in changes:
        parts.setdefault(layout.texts(row), []).append((kind, row))
    return [_change_file(folder, layout, texts, members) for texts, members in parts.items()]


def _change_file(
    folder: Path, layout: Layout, texts: Sequence[str | None], members: Sequence[tuple[str, Row]]
) -> actions.Form:
    data_rows = [tuple(row[position] for position in layout.data_positions) for _, row in members]
    table = to_parquet(layout.data_schema, data_rows)
    kinds = pa.array([kind for kind, _ in members], pa.string())
    table = table.append_column("_change_type", kinds)
    name = f"cdc-{uuid.uuid4()}.parquet"
    relative = f"{partition_folder(layout.partition_names, texts)}/{name}" if layout.partition_by else name
    path = folder / "_change_data" / relative
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(table, path)
    values = dict(zip(layout.partition_names, texts, strict=True))
    return actions.cdc(path_in_log(f"_change_data/{relative}"), values, path.stat().st_size)
