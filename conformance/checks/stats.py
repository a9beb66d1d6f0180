"""Do the statistics of each new file bound the values that are really in it? Readers skip files by them."""

from __future__ import annotations

from itertools import compress

from conformance.checks.bounds import FileRows, judge_file
from conformance.checks.ledger import Check, Ledger
from conformance.observation import Observation
from delta_models.log import Add, LogError, LogReader, Snapshot
from delta_models.schema import Struct

JUDGES = (
    "stats.is-json",
    "stats.num-records",
    "stats.null-count",
    "stats.min-bounds",
    "stats.max-bounds",
    "stats.tight",
    "stats.nan-bounds",
    "stats.known-columns",
)


def look(seen: Observation, ledger: Ledger) -> None:
    """Judge the files that the step added and that are live after it."""
    if not seen.wrote or seen.after is None or seen.log_error is not None:
        return
    for add in new_files(seen):
        try:
            stats = add.statistics
        except ValueError as error:
            ledger.judge("stats.is-json", str(error), add.path)
            continue
        if stats is None:
            continue
        ledger.judge("stats.is-json", None)
        try:
            rows = physical_rows(seen.reader, seen.after, add)
        except LogError:
            continue  # `contents` says that the file can't be read
        for each in judge_file(stats, rows):
            wrong = f"{each.column}: {each.wrong}" if each.wrong and each.column else each.wrong
            columns = (each.column.partition(".")[0],) if each.column else ()
            ledger.judge(each.requirement, wrong, add.path, columns)


def new_files(seen: Observation) -> list[Add]:
    """The adds of the step's commits that are live at its end."""
    if seen.after is None:
        return []
    return [add for commit in seen.commits for add in commit.adds if seen.after.live.get(add.key) is add]


def physical_rows(reader: LogReader, snapshot: Snapshot, add: Add) -> FileRows:
    """The data columns of a file: all rows, and those that its deletion vector leaves."""
    partitioning = {each.casefold() for each in snapshot.partition_by}
    positions = [at for at, each in enumerate(snapshot.schema) if each.name.casefold() not in partitioning]
    inside = reader.file_columns(snapshot, add)
    schema = Struct(tuple(snapshot.schema.fields[at] for at in positions))
    columns = [inside.columns[at] for at in positions]
    physical = list(zip(*columns, strict=True)) if columns else [()] * inside.length
    deleted = reader.deleted(add)
    valid = (
        list(compress(physical, (at not in deleted for at in range(inside.length)))) if deleted else physical
    )
    return FileRows(schema, physical, valid)


CHECK = Check("stats", JUDGES, look)
