"""Expected rows: read from the Parquet files beside a case and compared with an answer, in any order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from conformance.corpus.result import CaseResult, failed, passed
from delta_models.log.parquet import read_data_file
from delta_models.schema import Struct
from delta_models.values import Row, Rows, bag

_SHOWN = 160


def files(folder: Path | None) -> list[Path]:
    """The Parquet files below a folder, without hidden ones and those of temporary folders."""
    if folder is None or not folder.is_dir():
        return []
    inside = (path for path in folder.rglob("*.parquet") if path.is_file())
    return sorted(
        path for path in inside if not any(part[0] in "._" for part in path.relative_to(folder).parts)
    )


def expected_rows(paths: Sequence[Path], schema: Struct) -> list[Row]:
    """The rows of files, with columns in the order of a schema. Raises ValueError if the columns are others."""
    wanted = {name.casefold() for name in schema.names}
    rows: list[Row] = []
    for path in paths:
        inside = read_data_file(path, schema)
        names = {name.casefold() for name in inside.names}
        if names != wanted:
            odd = ", ".join(sorted(names ^ wanted))
            raise ValueError(f"the answer and the expected rows have other columns: {odd}")
        rows += zip(*inside.columns, strict=True) if len(schema) else [()] * inside.length
    return rows


def compare(answer: Rows, paths: Sequence[Path], count: int | None = None) -> CaseResult:
    """Whether an answer holds exactly the expected rows; without files only their number is known."""
    if count is not None and len(answer) != count:
        return failed(f"{len(answer)} rows, expected {count}")
    if not paths:
        return passed("" if count == 0 else "by the number of rows: they were not kept")
    try:
        rows = expected_rows(paths, answer.schema)
    except ValueError as error:
        return failed(str(error))
    return compare_rows(answer, rows)


def compare_rows(answer: Rows, rows: Sequence[Row]) -> CaseResult:
    """Whether two bags of rows are the same."""
    mine, theirs = bag(answer.schema, answer.rows), bag(answer.schema, rows)
    if mine == theirs:
        return passed()
    return failed(f"{_said(theirs - mine, 'missing')}; {_said(mine - theirs, 'not expected')}")


def _said(rows: Counter[object], what: str) -> str:
    total = sum(rows.values())
    if not total:
        return f"no row {what}"
    text = str(next(iter(rows)))
    shown = text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
    return f"{total} {'row' if total == 1 else 'rows'} {what}, such as {shown}"
