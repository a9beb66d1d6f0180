"""Golden tables: the rows must be as expected. Without expected rows the log itself is judged by a second reader."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable

from conformance.corpus.cases import Question
from conformance.corpus.expectations import compare, files
from conformance.corpus.naive_log_reader import RawLog
from conformance.corpus.rejection_reasons import state_problems
from conformance.corpus.result import CaseResult, failed, passed
from delta_models.log import LogError, LogReader, MissingFile, Snapshot, validity
from delta_models.schema import Struct
from delta_models.values import Row, row_keyer

_NO_EXPECTATION = "nothing is expected"


class RowBalance:
    """A bag of rows whose counts may be negative."""

    def __init__(self, schema: Struct) -> None:
        self._key = row_keyer(schema)
        self._counts: Counter[Hashable] = Counter()

    def add(self, row: Row, count: int) -> None:
        """Add a row a number of times."""
        self._counts[self._key(row)] += count

    def extend(self, rows: Iterable[Row], count: int) -> None:
        """Add rows, each a number of times."""
        for row in rows:
            self.add(row, count)

    @property
    def even(self) -> bool:
        """Whether all counts are zero."""
        return not any(self._counts.values())


def judge(reader: LogReader, question: Question) -> CaseResult:
    """Judge how the oracle reads a table."""
    expected = files(question.rows)
    try:
        state = reader.snapshot()
    except LogError as error:
        if expected:
            return failed(f"refused: {error}")
        return _refusal(question, state_problems(reader, None), error)
    problem = _log(reader, question, state)
    if problem:
        return failed(problem)
    damage = "" if expected else _damaged_checkpoint(reader, question)
    if damage:
        return passed(f"its checkpoint is refused for {damage}; the commits alone give the state")
    try:
        rows = reader.rows(state)
    except LogError as error:
        return failed(f"no rows: {error}") if expected else _without_rows(question, state, error)
    if expected:
        return compare(rows, expected)
    problem = _counts(reader, state)
    return (
        failed(problem) if problem else passed(f"{_NO_EXPECTATION}: the log is right, and its counts of rows")
    )


def _refusal(question: Question, reasons: list[str], error: LogError) -> CaseResult:
    raw = RawLog.of(question.table)
    confirmed = next((reason for reason in reasons if raw.confirms(reason)), None)
    if confirmed is None:
        return failed(f"refused, and a second look does not show why: {error}")
    return passed(f"refused for {confirmed}: {error}")


def _log(reader: LogReader, question: Question, state: Snapshot) -> str:
    """The fault of the state, if any: all ways to load it, and adds minus removes, must give the same files."""
    for start, compactions in reader.load_paths(state.version):
        try:
            other = reader.replay_from(state.version, start, compactions)
        except LogError:
            continue  # a damaged checkpoint is one that a reader goes around
        if set(other.live) != set(state.live) or other.protocol != state.protocol:
            return f"loaded from {start or 'the first commit'} the state is another one"
    raw = RawLog.of(question.table)
    if raw.whole:
        mine = {_plain(file.key) for file in state.live.values()}
        if mine != raw.live():
            return f"{len(mine)} live files, {len(raw.live())} by a second look"
    return ""


def _damaged_checkpoint(reader: LogReader, question: Question) -> str:
    """The rule that a checkpoint violates, as the naive reader confirms. The oracle avoids it, as readers may."""
    raw = RawLog.of(question.table)
    broken = (folder_breach.requirement for folder_breach in validity.folder_breaches(reader, "reference"))
    return next((rule for rule in broken if rule.startswith("checkpoint.") and raw.confirms(rule)), "")


def _plain(key: tuple[str, str | None]) -> tuple[str, str | None]:
    path, vector = key
    return (f"/{path[5:].lstrip('/')}" if path.startswith("file:") else path), vector


def _without_rows(question: Question, state: Snapshot, error: LogError) -> CaseResult:
    raw = RawLog.of(question.table)
    if not state.metadata.schema_string:
        return passed(f"{_NO_EXPECTATION}: the log is right; it names no schema, so that there are no rows")
    absent = [file.path for file in state.live.values() if raw.missing(file.path)]
    if isinstance(error, MissingFile) and absent:
        return passed(
            f"{_NO_EXPECTATION}: the log is right; {len(absent)} of its data files are placeholders"
        )
    return failed(f"no rows: {error}")


def _counts(reader: LogReader, state: Snapshot) -> str:
    """The fault of the row counts that the log gives for its files, if any."""
    for add in state.live.values():
        try:
            statistics = add.statistics
        except ValueError:
            continue  # a matter of the validity of the log, not of the rows
        said = (statistics or {}).get("numRecords")
        rows = len(reader.file_rows(state, add)) + len(reader.deleted(add))
        if isinstance(said, int) and said != rows:
            return f"{add.path} has {rows} rows, the log says {said}"
    return ""
