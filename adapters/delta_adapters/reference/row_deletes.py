"""Which rows stay in which files: by copying what is left of a file, or by a deletion vector on it; and the change data
that tells of it."""

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
from delta_adapters.reference.row_tracking import rows_of
from delta_adapters.reference.value_serialization import partition_folder, path_in_log
from delta_models.log import Add, LogReader, Snapshot, deletion_vectors
from delta_models.log.reader import live_adds
from delta_models.table import Table
from delta_models.table.row_conversion import value_converter
from delta_models.values import Key, Row, bag, row_keyer, same_key


def with_vectors(
    reader: LogReader, snapshot: Snapshot, after: Table
) -> tuple[list[Row], list[Add], list[actions.Form], list[Row]]:
    """Rows to be written, files to be removed, files that come back with a deletion vector, and the rows that their
    files lose."""
    missing = Counter(after.bag)
    key = row_keyer(after.schema)
    convert = value_converter(snapshot.schema, after.schema)
    gone: list[Add] = []
    marked: list[actions.Form] = []
    away: list[Row] = []
    for add in live_adds(snapshot):
        deleted = reader.deleted(add)
        held = rows_of(reader, snapshot, add)
        rows = [convert(row) for row in held]
        places = [at for at in range(len(rows) + len(deleted)) if at not in deleted]
        lost = []
        for at, row, old in zip(places, rows, held, strict=True):
            keyed = key(row)
            if missing[keyed] > 0:
                missing[keyed] -= 1
            else:
                lost.append(at)
                away.append(old)
        if lost:
            gone.append(add)
            if len(lost) < len(rows):
                marked.append(_marked(add, deleted | set(lost)))
    by_key = {same_key(after.schema, row): row for row in after.rows}
    return [by_key[each] for each in (+missing).elements()], gone, marked, away


def _marked(add: Add, deleted: frozenset[int] | set[int]) -> actions.Form:
    form = actions.add_again(add, data_change=True)
    vector = deletion_vectors.inline_vector(sorted(deleted))
    stats = json.loads(add.stats) if add.stats else {}
    form["add"]["deletionVector"] = vector.to_json()
    if add.stats:
        form["add"]["stats"] = _loose(add.stats, stats)
    return form


def _loose(text: str, stats: dict[str, object]) -> str:
    """The statistics, wide from now on; the digits of decimals stay as they are written."""
    if "tightBounds" in stats:
        return text.replace('"tightBounds":true', '"tightBounds":false')
    return text[:-1] + ',"tightBounds":false}'


def change_data(folder: Path, layout: Layout, before: Table, after: Table) -> list[actions.Form]:
    """Change data files with the difference of two states."""
    convert = value_converter(before.schema, after.schema)
    old_rows = [convert(row) for row in before.rows]
    old, new = bag(after.schema, old_rows), after.bag
    by_key: dict[Key, Row] = {same_key(after.schema, row): row for row in (*old_rows, *after.rows)}
    told = [("delete", by_key[key]) for key in (old - new).elements()]
    told += [("insert", by_key[key]) for key in (new - old).elements()]
    parts: dict[tuple[str | None, ...], list[tuple[str, Row]]] = {}
    for kind, row in told:
        parts.setdefault(layout.texts(row), []).append((kind, row))
    return [_change_file(folder, layout, texts, members) for texts, members in parts.items()]


def _change_file(
    folder: Path, layout: Layout, texts: Sequence[str | None], members: Sequence[tuple[str, Row]]
) -> actions.Form:
    inside = [tuple(row[at] for at in layout.data_positions) for _, row in members]
    table = to_parquet(layout.data_schema, inside)
    kinds = pa.array([kind for kind, _ in members], pa.string())
    table = table.append_column("_change_type", kinds)
    name = f"cdc-{uuid.uuid4()}.parquet"
    below = f"{partition_folder(layout.partition_names, texts)}/{name}" if layout.partition_by else name
    path = folder / "_change_data" / below
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(table, path)
    values = dict(zip(layout.partition_names, texts, strict=True))
    return actions.cdc(path_in_log(f"_change_data/{below}"), values, path.stat().st_size)
