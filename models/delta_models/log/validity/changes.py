"""Rules for change data: its files, their kinds of change, and whether they tell how one state became the next."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from delta_models.log import changes, paths
from delta_models.log.commits import Commit
from delta_models.log.errors import LogError
from delta_models.log.reader import LogReader
from delta_models.log.state import Snapshot
from delta_models.requirements.base import Violation
from delta_models.values import Key, row_key

_KINDS = {"insert": 1, "update_postimage": 1, "delete": -1, "update_preimage": -1}


def violations(
    reader: LogReader, before: Snapshot | None, after: Snapshot, commit: Commit
) -> Iterator[Violation]:
    """Breaches of the rules on the change data of a commit; nothing for one without."""
    if not commit.cdcs:
        return
    missing = [each.path for each in commit.cdcs if not paths.resolve(reader.folder, each.path).exists()]
    for path in missing:
        yield Violation("cdc.file-exists", f"{path}: there is no such file", commit.name)
    if missing:
        return
    for cdc in commit.cdcs:
        size = paths.resolve(reader.folder, cdc.path).stat().st_size
        if size != cdc.size:
            yield Violation(
                "cdc.file-size", f"{cdc.path} has {size} bytes, the log says {cdc.size}", commit.name
            )
    try:
        told = list(changes.commit_changes(reader, after, commit))
        old = reader.rows(before).rows if before is not None else ()
        new = reader.rows(after).rows
    except LogError as error:
        yield Violation("cdc.readable", str(error), commit.name)
        return
    unknown = sorted({str(kind) for _, kind in told} - _KINDS.keys())
    if unknown:
        yield Violation("cdc.change-types", f"{', '.join(unknown)} are no kinds of change", commit.name)
        return
    if before is None or before.metadata.schema_string != after.metadata.schema_string:
        return  # the rows of the two states cannot be compared
    schema = after.schema
    difference: Counter[Key] = Counter()
    for row in new:
        difference[row_key(schema, row)] += 1
    for row in old:
        difference[row_key(schema, row)] -= 1
    for row, kind in told:
        difference[row_key(schema, row)] -= _KINDS[kind]
    wrong = [(key, count) for key, count in difference.items() if count]
    if wrong:
        key, count = wrong[0]
        side = "is told too seldom" if count > 0 else "is told too often"
        detail = f"{len(wrong)} rows differ from the difference of the states; {key} {side}"
        yield Violation("cdc.equals-difference", detail, commit.name)
