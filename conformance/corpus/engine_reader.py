"""Questions to an engine in a host: reads, protocol and metadata, and change feeds. Adapters have no other queries.

If the corpus expects nothing of a table, the engine's rows must agree with those of the oracle.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path

from conformance.corpus import expected_states
from conformance.corpus.cases import ACCEPTANCE, LOG, Question
from conformance.corpus.change_feeds import result, without_times
from conformance.corpus.exclusions import load_exclusions
from conformance.corpus.expectations import compare, compare_rows, files
from conformance.corpus.oracle import dat_facts, feed_range, projected, session_zone
from conformance.corpus.result import FAILED, CaseResult, failed, out_of_scope, passed
from conformance.engine_pool import JVM_TIMEOUT, NATIVE_TIMEOUT, runs_on_jvm
from conformance.execution.read_results import changes_of
from delta_adapters.contract import Query
from delta_adapters.environments import EnvironmentProblem
from delta_adapters.host_client import HostClient, ReadReply
from delta_adapters.host_errors import AdapterBug, HostError
from delta_adapters.registry import EngineSpec
from delta_models.expressions import NotEvaluable, compile_expression
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
    """One engine in its host, which is started again when it dies."""

    def __init__(self, spec: EngineSpec, work: Path) -> None:
        self._timeout = JVM_TIMEOUT if runs_on_jvm(spec) else NATIVE_TIMEOUT
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
        """The engine's name and version, as its adapter reports them."""
        return self._name

    def close(self) -> None:
        """Stop the host."""
        self._host.close()

    def judge(self, question: Question) -> CaseResult:
        """Ask the engine and judge its answer."""
        form = question.form
        if question.problem:
            return failed(question.problem)
        reason = load_exclusions().reasons.get((question.corpus, question.case, question.spec))
        if reason is not None:
            return out_of_scope(reason)  # the oracle answers it all the same; an engine's time is costly
        if question.kind in _NEVER_ASKED:
            return out_of_scope(_NEVER_ASKED[question.kind])
        if any(form.get(name) is not None for name in _TIMES):
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
        """Judge the protocol and the metadata that the engine reports."""
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
        return self._facts(question, reader, version, expected_states.facts_of_spec(expected))

    def _with_facts(self, question: Question, rows: CaseResult) -> CaseResult:
        """The verdict on a version's rows, or a failure if the reported protocol or metadata are wrong."""
        expected = dat_facts(question.form)
        version = expected.pop("version")
        verdict = self._facts(question, _reader(question), version, expected)
        return verdict if verdict.result == FAILED else rows

    def _facts(
        self, question: Question, reader: LogReader, version: object, expected: Mapping[str, object]
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
        comparison = expected_states.compare_reported(reply.table.to_pylist()[0], expected)
        if comparison.differences:
            return failed("; ".join(comparison.differences))
        if not comparison.reported:
            return out_of_scope("it says nothing of what is expected")
        return passed(f"not told: {', '.join(comparison.unreported)}" if comparison.unreported else "")

    def _judge_feed(self, question: Question, *, must_fail: bool) -> CaseResult:
        """Judge the changes that the engine reports between two versions."""
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
        """The table, or a copy without the checksum files of Hadoop.

        Some tables were edited later, and a file system that rejects their checksums says nothing about the engine.
        """
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
        """The verdict on a refusal, right if the table is unreadable, or if it has an unclaimed feature."""
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
    """The type of a column that the protocol does not define but later runtimes do; None if there is none."""
    try:
        schema = LogReader(question.table, copied=question.corpus == ACCEPTANCE).snapshot().schema
    except LogError:
        return None
    plain = (field.type for field in schema if isinstance(field.type, Primitive))
    return next((name for name in plain if name not in PRIMITIVES.values()), None)


def _read(question: Question, state: Snapshot | None, reader: LogReader) -> Read | CaseResult:
    """The read that the question means; a verdict if no read of the contract expresses it."""
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
            picks = compile_expression(where, rows.schema, anew.zone)
            rows = Rows(rows.schema, tuple(row for row in rows.rows if picks(row) is True))
        columns = question.form.get("columns")
        right = rows if columns is None else projected(rows, list(columns))
    except (LogError, SqlError, NotEvaluable, EvaluationError, KeyError):
        return False
    return reader.zone != anew.zone and compare_rows(answer, right.rows) == passed()


def _compared(question: Question, answer: Rows, reader: LogReader, state: Snapshot) -> CaseResult:
    expected = question.form.get("expected")
    count = expected.get("rowCount") if isinstance(expected, dict) else None
    expected_files = files(question.rows)
    if expected_files or count is not None:
        return compare(answer, expected_files, count)
    try:
        rows = reader.rows(state)
    except LogError as error:
        return failed(f"read, though the oracle finds no rows: {error}")
    verdict = compare_rows(answer, rows.rows)
    return passed("nothing is expected: the oracle reads the same") if verdict == passed() else verdict
