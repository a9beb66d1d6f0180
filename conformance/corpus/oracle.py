"""The oracle: the reference model, which answers every kind of question from the log and the files alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, tzinfo
from typing import Any
from zoneinfo import ZoneInfo

from conformance.corpus import change_feeds, expected_states, golden, metadata_column
from conformance.corpus.cases import ACCEPTANCE, Question
from conformance.corpus.error_codes import accepted, agrees, code_of
from conformance.corpus.exclusions import load_exclusions
from conformance.corpus.expectations import compare, files
from conformance.corpus.rejection_reasons import row_problems, state_problems
from conformance.corpus.result import CaseResult, failed, out_of_scope, passed
from conformance.error_names import error_name
from delta_models.casts.explicit import Unreadable, read_timestamp
from delta_models.expressions import NotEvaluable, compile_expression
from delta_models.functions import EvaluationError
from delta_models.log import LogError, LogReader, NoTable, Snapshot
from delta_models.schema import Struct
from delta_models.sql import SqlError, parse_predicate
from delta_models.values import Rows

NAME = "reference"
SESSION = ZoneInfo("America/Los_Angeles")  # of those who captured the acceptance workloads


class OracleRefusal(Exception):
    """The oracle refuses to answer; `reasons` are all reasons that it can name."""

    def __init__(self, reasons: list[str], detail: str) -> None:
        super().__init__(detail)
        self.reasons = reasons


def session_zone(question: Question) -> tzinfo:
    """The zone of the session in which the expected rows were written."""
    own = load_exclusions().zones.get((question.corpus, question.case))
    return own or (SESSION if question.corpus == ACCEPTANCE else UTC)


class Oracle:
    """Answers questions one after the other. It caches the parsed files of the last table."""

    name = NAME

    def __init__(self) -> None:
        self._reader: LogReader | None = None

    def judge(self, question: Question) -> CaseResult:
        """Answer the question and judge the answer."""
        if question.problem:
            return failed(question.problem)
        answer = _ANSWERS.get(question.kind)
        if answer is None:
            return out_of_scope(f"no spec of type {question.kind!r} is known")
        reader = self._of(question)
        error = question.form.get("error")
        try:
            verdict = answer(reader, question)
        except OracleRefusal as refusal:
            return _refused(refusal, error)
        except LogError as refusal:
            return _refused(OracleRefusal([error_name(refusal)], str(refusal)), error)
        except (SqlError, NotEvaluable, EvaluationError) as refusal:
            return _refused(OracleRefusal([error_name(refusal)], str(refusal)), error)
        return _had_to_fail(reader, question, error) if isinstance(error, dict) else verdict

    def _of(self, question: Question) -> LogReader:
        zone = session_zone(question)
        if self._reader is None or (self._reader.folder, self._reader.zone) != (question.table, zone):
            self._reader = LogReader(question.table, zone=zone, copied=question.corpus == ACCEPTANCE)
        return self._reader


def _refused(refusal: OracleRefusal, error: object) -> CaseResult:
    if not isinstance(error, dict):
        return failed(f"refused: {refusal}")
    code = code_of(error)
    reason = agrees(code, refusal.reasons)
    if reason is not None:
        return passed(f"refused for {reason}")
    what = ", ".join(refusal.reasons) or "no reason that has a name"
    means = ", ".join(accepted(code)) or "nothing known here"
    return failed(f"refused for {what}, while {code} means {means}")


def _had_to_fail(reader: LogReader, question: Question, error: Mapping[str, Any]) -> CaseResult:
    """The verdict on an answer where the spec expects an error, which a stricter reader may have to raise."""
    reasons = state_problems(reader, wanted_version(reader, question.form))
    if reasons:
        return _refused(OracleRefusal(reasons, ", ".join(reasons)), error)
    return failed(f"answered, expected {error.get('errorCode')}: nothing is wrong with it")


def wanted_version(reader: LogReader, form: Mapping[str, Any]) -> int | None:
    """The version that a spec asks for; None for the newest. Raises OracleRefusal for a time without a version."""
    if form.get("timestamp") is None:
        version = form.get("version")
        return version if isinstance(version, int) else None
    try:
        micros = read_timestamp(str(form["timestamp"]), reader.zone)
    except Unreadable as error:
        raise OracleRefusal(["no-timestamp"], str(error)) from error
    try:
        return reader.version_at(micros, beyond=False)
    except LogError as error:
        first = min(reader.commit_times().values(), default=0)
        reason = "time-before-first" if micros < first * 1000 else "time-after-last"
        raise OracleRefusal([reason, error_name(error)], str(error)) from error


def _state(reader: LogReader, version: int | None) -> Snapshot:
    try:
        return reader.snapshot(version)
    except LogError as error:
        raise OracleRefusal(state_problems(reader, version), str(error)) from error


def _rows(reader: LogReader, state: Snapshot) -> Rows:
    try:
        return reader.rows(state)
    except LogError as error:
        raise OracleRefusal(row_problems(reader, state, error), str(error)) from error


# Reads


def _read(reader: LogReader, question: Question) -> CaseResult:
    form = question.form
    state = _state(reader, wanted_version(reader, form))
    expected = form.get("expected") or {}
    predicate = form.get("predicate")
    if predicate is None:
        rows = _rows(reader, state)
    elif metadata_column.NAME in str(predicate):
        parse_predicate(str(predicate), metadata_column.schema_with(state), reader.zone)
        rows = filtered(metadata_column.rows_with(reader, state), str(predicate), reader.zone)
        rows = projected(rows, list(state.schema.names))
    else:
        parse_predicate(
            str(predicate), state.schema, reader.zone
        )  # before its rows are read, as an engine does
        rows = filtered(_rows(reader, state), str(predicate), reader.zone)
    rows = projected(rows, form.get("columns"))
    expected_files = files(question.rows)
    if not expected_files and "rowCount" not in expected and "error" not in form:
        return out_of_scope("the spec says nothing of the rows that it expects")
    return compare(rows, expected_files, expected.get("rowCount"))


def filtered(rows: Rows, predicate: str, zone: tzinfo) -> Rows:
    """The rows that satisfy a predicate in SQL."""
    picks = compile_expression(parse_predicate(predicate, rows.schema, zone), rows.schema, zone)
    return Rows(rows.schema, tuple(row for row in rows.rows if picks(row) is True))


def projected(rows: Rows, columns: list[str] | None) -> Rows:
    """Some columns of rows, in the order of their names; None: all."""
    if columns is None:
        return rows
    try:
        positions = [rows.schema.index(name) for name in columns]
    except KeyError as error:
        raise OracleRefusal(["NoSuchColumn"], str(error.args[0])) from error
    schema = Struct(tuple(rows.schema.fields[position] for position in positions))
    return Rows(schema, tuple(tuple(row[position] for position in positions) for row in rows.rows))


# States


def _snapshot(reader: LogReader, question: Question) -> CaseResult:
    form = question.form
    version = wanted_version(reader, form)
    expected = form.get("expected")
    try:
        protocol, metadata = reader.describe(version)
    except NoTable:
        if expected_states.is_no_table(form):
            return passed("there is no table: the state before the first commit")
        raise
    except LogError as error:
        raise OracleRefusal(state_problems(reader, version), str(error)) from error
    if not isinstance(expected, dict):
        return out_of_scope("the spec says nothing of the state that it expects")
    asked = expected.get("version")
    if asked is not None and asked != (reader.latest_version() if version is None else version):
        return failed(f"version {version}, expected {asked}")
    differences = expected_states.compare(
        expected_states.facts_of_log(protocol, metadata), expected_states.facts_of_spec(expected)
    ).differences
    return failed("; ".join(differences)) if differences else passed()


def _transaction(reader: LogReader, question: Question) -> CaseResult:
    expected = question.form.get("expected") or {}
    state = _state(reader, wanted_version(reader, question.form))
    transaction = state.transactions.get(str(expected.get("appId")))
    wanted = expected.get("txnVersion")
    if transaction is None:
        return passed() if wanted is None else failed(f"no transaction of {expected.get('appId')!r}")
    if transaction.version != wanted:
        return failed(f"transaction {transaction.version}, expected {wanted}")
    time = expected.get("lastUpdated")
    if time is not None and transaction.last_updated != time:
        return failed(f"lastUpdated {transaction.last_updated}, expected {time}")
    return passed()


def _domain(reader: LogReader, question: Question) -> CaseResult:
    expected = question.form.get("expected") or {}
    state = _state(reader, wanted_version(reader, question.form))
    domain = state.domains.get(str(expected.get("domain")))
    if expected.get("removed"):
        return passed() if domain is None else failed("the domain is there, and should be removed")
    if domain is None:
        return failed(f"there is no domain {expected.get('domain')!r}")
    wanted = expected.get("configuration")
    if domain.configuration != wanted:
        return failed(f"configuration {domain.configuration!r}, expected {wanted!r}")
    return passed()


# Change feeds


def _change_feed(reader: LogReader, question: Question) -> CaseResult:
    form = question.form
    first, last = feed_range(reader, form)
    if last is not None and first > last:
        raise OracleRefusal(["backward-range"], f"from version {first} to {last}")
    latest = _state(reader, None).version
    if first > latest:
        raise OracleRefusal(
            ["MissingVersion", "backward-range"], f"from version {first}, the newest is {latest}"
        )
    last = None if last is None else min(last, latest)
    return change_feeds.result(
        reader, question, change_feeds.without_times(reader.changes(first, last)), first, last
    )


def feed_range(reader: LogReader, form: Mapping[str, Any]) -> tuple[int, int | None]:
    """The versions between which a spec asks for changes, both included."""
    first, last = form.get("startVersion"), form.get("endVersion")
    if first is None and form.get("startTimestamp") is not None:
        first = wanted_version(reader, {"timestamp": form["startTimestamp"]})
    if last is None and form.get("endTimestamp") is not None:
        last = wanted_version(reader, {"timestamp": form["endTimestamp"]})
    return int(first or 0), None if last is None else int(last)


# DAT


def dat_facts(form: Mapping[str, Any]) -> dict[str, object]:
    """The facts that DAT expects of a version, beside its rows."""
    return {
        "version": form.get("version"),
        "configuration": form.get("properties"),
        "minReaderVersion": form.get("min_reader_version"),
        "minWriterVersion": form.get("min_writer_version"),
    }


def _version(reader: LogReader, question: Question) -> CaseResult:
    form = question.form
    state = _state(reader, None if question.spec == "latest" else form.get("version"))
    wanted = dat_facts(form)
    facts = {**expected_states.facts_of_log(state.protocol, state.metadata), "version": state.version}
    differences = expected_states.compare(facts, wanted).differences
    if differences:
        return failed("; ".join(differences))
    expected = files(question.rows)
    if not expected:
        return failed("the case has no expected rows")
    return compare(_rows(reader, state), expected)


_ANSWERS: dict[str, Callable[[LogReader, Question], CaseResult]] = {
    "read": _read,
    "snapshot": _snapshot,
    "snapshotConstruction": _snapshot,
    "cdf": _change_feed,
    "txn": _transaction,
    "domain_metadata": _domain,
    "version": _version,
    "table": golden.judge,
}
