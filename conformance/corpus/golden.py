"""Golden tables: rows as expected; without an expectation the log itself is judged, and a refusal by a second look."""

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
        """One row, so many times."""
        self._counts[self._key(row)] += count

    def extend(self, rows: Iterable[Row], count: int) -> None:
        """Many rows, each so many times."""
        for row in rows:
            self.add(row, count)

    @property
    def even(self) -> bool:
        """Whether nothing is left over."""
        return not any(self._counts.values())


def judge(reader: LogReader, question: Question) -> CaseResult:
    """The verdict on a table."""
    expected = files(question.rows)
    try:
        state = reader.snapshot()
    except LogError as error:
        if expected:
            return failed(f"refused: {error}")
        return _refusal(question, state_problems(reader, None), error)
    wrong = _log(reader, question, state)
    if wrong:
        return failed(wrong)
    damage = "" if expected else _damaged_checkpoint(reader, question)
    if damage:
        return passed(f"its checkpoint is refused for {damage}; the commits alone give the state")
    try:
        rows = reader.rows(state)
    except LogError as error:
        return failed(f"no rows: {error}") if expected else _without_rows(question, state, error)
    if expected:
        return compare(rows, expected)
    wrong = _counts(reader, state)
    return failed(wrong) if wrong else passed(f"{_NO_EXPECTATION}: the log is right, and its counts of rows")


def _refusal(question: Question, reasons: list[str], error: LogError) -> CaseResult:
    raw = RawLog.of(question.table)
    confirmed = next((reason for reason in reasons if raw.confirms(reason)), None)
    if confirmed is None:
        return failed(f"refused, and a second look does not show why: {error}")
    return passed(f"refused for {confirmed}: {error}")


def _log(reader: LogReader, question: Question, state: Snapshot) -> str:
    """What is wrong with the state: each way to load it gives the same, and so do adds minus removes."""
    for start, compactions in reader.ways(state.version):
        try:
            other = reader.replayed(state.version, start, compactions)
        except LogError:
            continue  # a damaged checkpoint is one that a reader goes around
        if set(other.live) != set(state.live) or other.protocol != state.protocol:
            return f"loaded from {start or 'the first commit'} the state is another one"
    raw = RawLog.of(question.table)
    if raw.whole:
        mine = {_plain(each.key) for each in state.live.values()}
        if mine != raw.live():
            return f"{len(mine)} live files, {len(raw.live())} by a second look"
    return ""


def _damaged_checkpoint(reader: LogReader, question: Question) -> str:
    """The rule that a checkpoint breaks, as a second look confirms; the oracle goes around it, as readers may."""
    raw = RawLog.of(question.table)
    broken = (folder_breach.requirement for folder_breach in validity.folder_breaches(reader, "reference"))
    return next((each for each in broken if each.startswith("checkpoint.") and raw.confirms(each)), "")


def _plain(key: tuple[str, str | None]) -> tuple[str, str | None]:
    path, vector = key
    return (f"/{path[5:].lstrip('/')}" if path.startswith("file:") else path), vector


def _without_rows(question: Question, state: Snapshot, error: LogError) -> CaseResult:
    raw = RawLog.of(question.table)
    if not state.metadata.schema_string:
        return passed(f"{_NO_EXPECTATION}: the log is right; it names no schema, so that there are no rows")
    absent = [each.path for each in state.live.values() if raw.missing(each.path)]
    if isinstance(error, MissingFile) and absent:
        return passed(
            f"{_NO_EXPECTATION}: the log is right; {len(absent)} of its data files are placeholders"
        )
    return failed(f"no rows: {error}")


def _counts(reader: LogReader, state: Snapshot) -> str:
    """What is wrong with the numbers of rows that the log gives for its files."""
    for add in state.live.values():
        try:
            statistics = add.statistics
        except ValueError:
            continue  # a matter of the validity of the log, not of the rows
        said = (statistics or {}).get("numRecords")
        found = len(reader.file_rows(state, add)) + len(reader.deleted(add))
        if isinstance(said, int) and said != found:
            return f"{add.path} has {found} rows, the log says {said}"
    return ""
