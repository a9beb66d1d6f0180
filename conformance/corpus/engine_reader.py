"""An engine answers, in a host: reads with version, predicate and columns; what it says of protocol and metadata;
change feeds. The rest no adapter can be asked.

Where nothing is expected of a table, the oracle's rows are what the engine's must agree with.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path

from conformance.corpus import expected_states
from conformance.corpus.cases import ACCEPTANCE, LOG, Question
from conformance.corpus.change_feeds import result, without_times
from conformance.corpus.exclusions import named
from conformance.corpus.expectations import compare, compare_rows, files
from conformance.corpus.oracle import dat_facts, feed_range, projected, session_zone
from conformance.corpus.result import FAILED, CaseResult, failed, out_of_scope, passed
from conformance.engine_pool import HEAVY_TIMEOUT, LIGHT_TIMEOUT, is_heavy
from conformance.execution.read_results import changes_of
from delta_adapters.contract import Query
from delta_adapters.environments import EnvironmentProblem
from delta_adapters.host_client import HostClient, ReadReply
from delta_adapters.host_errors import AdapterBug, HostError
from delta_adapters.registry import EngineSpec
from delta_models.expressions import NotEvaluable, compiled
from delta_models.functions import EvaluationError
from delta_models.log import LogError, LogReader, Snapshot
from delta_models.log.parquet import ArrowMismatch, arrow_to_rows
from delta_models.operations import AtVersion, Detail, Latest, Read, ReadChanges
from delta_models.outcomes import Rejected, Unsupported
from delta_models.schema import PRIMITIVES, DataType, Primitive, Struct
from delta_models.sql import SqlError, parse_predicate
from delta_models.values import Rows
from delta_models.wire_names import text_of

_NEVER_ASKED = {
    "txn": "the alphabet has no question for the last transaction of an application",
    "domain_metadata": "the alphabet has no question for the configuration of a metadata domain",
}
_IMPLIED: Mapping[int, tuple[str, ...]] = {2: ("columnMapping",)}  # by a reader version without a list
_TIMES = ("timestamp", "startTimestamp", "endTimestamp")


class NotAvailable(RuntimeError):
    """The engine can't run here."""


class HostReader:
    """One engine in its host; it is started again when it dies."""

    def __init__(self, spec: EngineSpec, work: Path) -> None:
        self._timeout = HEAVY_TIMEOUT if is_heavy(spec) else LIGHT_TIMEOUT
        try:
            self._host = HostClient.start(spec, work).ready()
        except (EnvironmentProblem, HostError, OSError) as error:
            raise NotAvailable(str(error).splitlines()[0]) from error
        self._name = str(self._host.identity)
        self._open: Path | None = None
        self.work = work
        self._copy, self._copies = work / "table", 0

    @property
    def name(self) -> str:
        """Its name and version, as the adapter itself says."""
        return self._name

    def close(self) -> None:
        """Let the host stop."""
        self._host.close()

    def judge(self, question: Question) -> CaseResult:
        """The verdict on what the engine answers."""
        form = question.form
        if question.problem:
            return failed(question.problem)
        reason = named().reasons.get((question.corpus, question.case, question.spec))
        if reason is not None:
            return out_of_scope(reason)  # the oracle is asked all the same; an engine's time is dear
        if question.kind in _NEVER_ASKED:
            return out_of_scope(_NEVER_ASKED[question.kind])
        if any(form.get(each) is not None for each in _TIMES):
            return out_of_scope("the times of the commits were lost when the table was copied")
        try:
            verdict = self._judge(question)
        except AdapterBug as error:
            verdict = failed(str(error).splitlines()[0])
        except HostError as error:
            self._host.restart().ready()
            self._open = None
            verdict = failed(str(error).splitlines()[0])
        if verdict.result == FAILED and (foreign := _foreign_type(question)):
            return out_of_scope(f"the type {foreign} is none of the protocol's; the engine: {verdict.why}")
        return verdict

    def _judge(self, question: Question) -> CaseResult:
        must_fail = isinstance(question.form.get("error"), dict)
        match question.kind:
            case "cdf":
                return self._judge_feed(question, must_fail=must_fail)
            case "snapshot" | "snapshotConstruction" if not must_fail:
                return self._judge_state(question)
            case "version":
                verdict = self._judge_rows(question, must_fail=must_fail)
                return verdict if verdict.result == FAILED else self._with_facts(question, verdict)
            case "read" | "table" | "snapshot" | "snapshotConstruction":
                return self._judge_rows(question, must_fail=must_fail)
        return out_of_scope(f"no spec of type {question.kind!r} is known")

    def _judge_rows(self, question: Question, *, must_fail: bool) -> CaseResult:
        form = question.form
        reader = _reader(question)
        wanted = form.get("version") if question.spec != "latest" else None
        state = _state(reader, wanted)
        read = _read(question, state, reader)
        if isinstance(read, CaseResult):
            return read
        reply = self._ask(question, read)
        if reply.table is None:
            return (
                _refused(reply.outcome, must_fail=must_fail)
                if must_fail
                else self._excused(reply.outcome, reader, state)
            )
        if must_fail:
            return failed(f"read, expected {form['error'].get('errorCode')}")
        if state is None:
            return failed("read, though the oracle refuses the table")
        try:
            columns = state.schema
        except LogError as error:
            return failed(f"read, though the oracle refuses the table: {str(error).splitlines()[0]}")
        if read.columns is not None:
            columns = projected(Rows(columns, ()), list(read.columns)).schema
        try:
            answer = arrow_to_rows(reply.table, columns)
        except ArrowMismatch as error:
            return failed(f"its rows do not fit the schema: {error}")
        verdict = _compared(question, answer, reader, state)
        if verdict.result == FAILED and _zone_decides(question, answer, reader, state):
            return out_of_scope(
                f"the rows are those of a session in UTC; expected are those of {reader.zone}"
            )
        return verdict

    def _judge_state(self, question: Question) -> CaseResult:
        """What it says of protocol and metadata, as far as it says it."""
        form = question.form
        expected, version = form.get("expected"), form.get("version")
        if not isinstance(expected, dict):
            return out_of_scope("the spec says nothing of the state that it expects")
        if expected_states.is_no_table(form):
            reply = self._ask(question, Detail())
            missing = isinstance(reply.outcome, Rejected) and reply.outcome.kind == "missing-table"
            return (
                passed("refused: there is no table")
                if missing
                else failed(f"no table is {text_of(reply.outcome)}")
            )
        reader = _reader(question)
        return self._facts(question, reader, version, expected_states.wanted(expected))

    def _with_facts(self, question: Question, rows: CaseResult) -> CaseResult:
        """The verdict on a version's rows, unless what is said of the table is wrong."""
        asked = dat_facts(question.form)
        version = asked.pop("version")
        verdict = self._facts(question, _reader(question), version, asked)
        return verdict if verdict.result == FAILED else rows

    def _facts(
        self, question: Question, reader: LogReader, version: object, asked: Mapping[str, object]
    ) -> CaseResult:
        state = _state(reader, version)
        newest = version is None or (state is not None and version == reader.latest_version())
        look = Detail() if newest or not isinstance(version, int) else Detail(AtVersion(version))
        lacking = self._host.capabilities.covers(look)
        if lacking is not None:
            return out_of_scope(lacking)
        reply = self._ask(question, look)
        if reply.table is None:
            if state is None:
                return out_of_scope(
                    "refused; the oracle finds no state either, only what a checksum says of it"
                )
            return self._feature_refused(reply.outcome, state) or _refused(reply.outcome, must_fail=False)
        if version is not None and reply.version not in {None, version}:
            return failed(f"version {reply.version}, expected {version}")
        found = expected_states.compare_told(reply.table.to_pylist()[0], asked)
        if found.wrong:
            return failed("; ".join(found.wrong))
        if not found.told:
            return out_of_scope("it says nothing of what is expected")
        return passed(f"not told: {', '.join(found.untold)}" if found.untold else "")

    def _judge_feed(self, question: Question, *, must_fail: bool) -> CaseResult:
        """The changes that it tells between two versions."""
        reader = _reader(question)
        first, last = feed_range(reader, question.form)
        look = ReadChanges(AtVersion(first), None if last is None else AtVersion(last))
        lacking = self._host.capabilities.covers(look)
        if lacking is not None:
            return out_of_scope(lacking)
        reply = self._ask(question, look)
        if must_fail:
            return (
                failed(f"told, expected {question.form['error'].get('errorCode')}")
                if reply.table is not None
                else _refused(reply.outcome, must_fail=True)
            )
        try:
            columns = without_times(reader.changes(first, last)).schema
        except LogError as error:
            return (
                passed("refused, as the oracle does")
                if reply.table is None
                else failed(f"told, though the oracle refuses: {str(error).splitlines()[0]}")
            )
        if reply.table is None:
            excuse = self._feature_refused(reply.outcome, _state(reader, last))
            return excuse or _refused(reply.outcome, must_fail=False)
        answer = changes_of(reply.table, columns)
        if isinstance(answer, str):
            return failed(answer)
        return result(reader, question, answer, first, last)

    def _ask(self, question: Question, look: Query) -> ReadReply:
        if self._open != question.table:
            self._host.open(str(self._placed(question.table)))
            self._open = question.table
        return self._host.read(look, timeout=self._timeout)

    def _placed(self, table: Path) -> Path:
        """The table, or a copy without the checksums that Hadoop leaves beside files: some tables were edited after
        that, and a file system that refuses them says nothing of the engine."""
        if not any((table / LOG).glob(".*.crc")):
            return table
        self._copies += 1
        shutil.rmtree(self._copy, ignore_errors=True)
        self._copy = self._copy.with_name(f"table{self._copies}")  # what an engine knows it knows by path
        shutil.copytree(table, self._copy, symlinks=True, ignore=shutil.ignore_patterns(".*.crc"))
        return self._copy

    def _feature_refused(self, outcome: object, state: Snapshot | None) -> CaseResult | None:
        """The verdict on a refusal for a feature that the engine does not claim to read."""
        if state is None:
            return None
        listed, implied = state.protocol.reader_features, _IMPLIED.get(state.protocol.min_reader, ())
        features = set(implied if listed is None else listed)
        lacking = self._host.capabilities.covers_features(features, writing=False)
        if lacking is not None and isinstance(outcome, Rejected) and outcome.kind == "unsupported-feature":
            return out_of_scope(lacking)
        return None

    def _excused(self, outcome: object, reader: LogReader, state: Snapshot | None) -> CaseResult:
        """A refusal that is right: of what nobody can read, or of a feature that the engine does not claim to read."""
        if state is None:
            return passed("refused, as the oracle does")
        excuse = self._feature_refused(outcome, state)
        if excuse is not None:
            return excuse
        try:
            reader.rows(state)
        except LogError as error:
            return out_of_scope(f"the oracle finds no rows either: {str(error).splitlines()[0]}")
        return _refused(outcome, must_fail=False)


def _reader(question: Question) -> LogReader:
    return LogReader(question.table, zone=session_zone(question), copied=question.corpus == ACCEPTANCE)


def _state(reader: LogReader, version: object) -> Snapshot | None:
    try:
        return reader.snapshot(version if isinstance(version, int) else None)
    except LogError:
        return None


def _foreign_type(question: Question) -> DataType | None:
    """A type of a column that the protocol does not have, and later runtimes do; None if there is none."""
    try:
        schema = LogReader(question.table, copied=question.corpus == ACCEPTANCE).snapshot().schema
    except LogError:
        return None
    plain = (field.type for field in schema if isinstance(field.type, Primitive))
    return next((each for each in plain if each not in PRIMITIVES.values()), None)


def _read(question: Question, state: Snapshot | None, reader: LogReader) -> Read | CaseResult:
    """What to ask the adapter; a verdict if it can't be put into words."""
    form = question.form
    version = form.get("version") if question.spec != "latest" else None
    predicate, columns = form.get("predicate"), form.get("columns")
    where = None
    if predicate is not None:
        schema = state.schema if state is not None else Struct()
        try:
            where = parse_predicate(str(predicate), schema, reader.zone)
        except SqlError as error:
            return out_of_scope(f"the predicate is no tree: {error}")
    at = Latest() if version is None else AtVersion(int(version))
    return Read(at, where, None if columns is None else tuple(columns))


def _refused(outcome: object, *, must_fail: bool) -> CaseResult:
    match outcome:
        case Unsupported(reason=reason):
            return out_of_scope(reason)
        case Rejected(kind=kind, message=message):
            if must_fail:
                return passed(f"refused: {kind}")
            return failed(f"refused ({kind}): {message}")
    return failed(f"no rows: {text_of(outcome)}")


def _zone_decides(question: Question, answer: Rows, reader: LogReader, state: Snapshot) -> bool:
    """Whether the answer is right for UTC, in which hosts run, where the expected rows are those of another zone."""
    anew = LogReader(question.table, copied=question.corpus == ACCEPTANCE)
    predicate = question.form.get("predicate")
    try:
        rows = anew.rows(anew.snapshot(state.version))
        if predicate is not None:
            where = parse_predicate(str(predicate), rows.schema, reader.zone)  # as it was sent
            picks = compiled(where, rows.schema, anew.zone)
            rows = Rows(rows.schema, tuple(row for row in rows.rows if picks(row) is True))
        columns = question.form.get("columns")
        right = rows if columns is None else projected(rows, list(columns))
    except (LogError, SqlError, NotEvaluable, EvaluationError, KeyError):
        return False
    return reader.zone != anew.zone and compare_rows(answer, right.rows) == passed()


def _compared(question: Question, answer: Rows, reader: LogReader, state: Snapshot) -> CaseResult:
    expected = question.form.get("expected")
    count = expected.get("rowCount") if isinstance(expected, dict) else None
    found = files(question.rows)
    if found or count is not None:
        return compare(answer, found, count)
    try:
        rows = reader.rows(state)
    except LogError as error:
        return failed(f"read, though the oracle finds no rows: {error}")
    verdict = compare_rows(answer, rows.rows)
    return passed("nothing is expected: the oracle reads the same") if verdict == passed() else verdict
