"""Rules for change data: its files, their kinds of change, and whether they tell how one state became the next."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from delta_models.log import changes, paths
from delta_models.log.commits import Commit
from delta_models.log.errors import LogError
from delta_models.log.reader import LogReader
from delta_models.log.state import Snapshot
from delta_models.requirements.base import Verdict, of_many
from delta_models.values import Key, row_key

_KINDS = {"insert": 1, "update_postimage": 1, "delete": -1, "update_preimage": -1}


def judge(reader: LogReader, before: Snapshot | None, after: Snapshot, commit: Commit) -> Iterator[Verdict]:
    """The rules on the change data of a commit; nothing for one without."""
    if not commit.cdcs:
        return
    missing = [cdc.path for cdc in commit.cdcs if not paths.resolve(reader.folder, cdc.path).exists()]
    yield from of_many("cdc.file-exists", len(commit.cdcs) - len(missing))
    for path in missing:
        yield "cdc.file-exists", f"{path}: there is no such file"
    if missing:
        return
    for cdc in commit.cdcs:
        size = paths.resolve(reader.folder, cdc.path).stat().st_size
        wrong = None if size == cdc.size else f"{cdc.path} has {size} bytes, the log says {cdc.size}"
        yield "cdc.file-size", wrong
    try:
        recorded = list(changes.commit_changes(reader, after, commit))
        old = reader.rows(before).rows if before is not None else ()
        new = reader.rows(after).rows
    except LogError as error:
        yield "cdc.readable", str(error)
        return
    yield from of_many("cdc.readable", len(commit.cdcs))
    unknown = sorted({str(kind) for _, kind in recorded} - _KINDS.keys())
    if unknown:
        yield "cdc.change-types", f"{', '.join(unknown)} are no kinds of change"
        return
    yield "cdc.change-types", None
    if before is None or before.metadata.schema_string != after.metadata.schema_string:
        return  # the rows of the two states cannot be compared
    schema = after.schema
    difference: Counter[Key] = Counter()
    for row in new:
        difference[row_key(schema, row)] += 1
    for row in old:
        difference[row_key(schema, row)] -= 1
    for row, kind in recorded:
        difference[row_key(schema, row)] -= _KINDS[kind]
    differing = [(key, count) for key, count in difference.items() if count]
    wrong = None
    if differing:
        key, count = differing[0]
        side = "is told too seldom" if count > 0 else "is told too often"
        wrong = f"{len(differing)} rows differ from the difference of the states; {key} {side}"
    yield "cdc.equals-difference", wrong
