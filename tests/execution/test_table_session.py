"""How a table session executes a step, with the honest engine and small mutants in this process."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from conformance.execution.engine_session import EngineSession
from conformance.execution.history_recorder import HistoryRecorder
from conformance.execution.step_result import StepResult
from conformance.execution.table_session import TableSession, execute_step
from conformance.findings.recorder import FindingRecorder
from conformance.findings.text import history_lines
from conformance.histories import Chunk, History, Step
from delta_adapters.capabilities import Capabilities
from delta_adapters.contract import Answer
from delta_adapters.host_client import Pending
from delta_adapters.reference import Reference
from delta_adapters.reference.log_writer import checkpoint_actions, publish_checkpoint
from delta_models.expressions import Column, Compare, Literal
from delta_models.operations import (
    AddConstraint,
    Append,
    AtState,
    Checkpoint,
    Create,
    Delete,
    Read,
    Reopen,
    Restore,
    Update,
    Vacuum,
)
from delta_models.outcomes import Unknown
from delta_models.schema import LONG, STRING, struct
from delta_models.values import Rows
from delta_models.wire_names import name_of
from tests.mutants.stage import InProcess

SCHEMA = struct(("id", LONG), ("name", STRING))
CREATE = Create(SCHEMA)


def rows(*values: tuple[int, str]) -> Append:
    return Append(Rows(SCHEMA, values))


def is_one() -> Compare:
    return Compare("=", Column(("id",)), Literal(LONG, 1))


class Watched(Reference):
    """The honest engine, which records the calls it received."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: list[Any] = []
        self.opened: list[str] = []

    def open(self, location: str) -> None:
        self.opened.append(location)
        super().open(location)

    def execute(self, operation, tag):
        self.calls.append(operation)
        return super().execute(operation, tag)

    def read(self, read):
        self.calls.append(read)
        return super().read(read)


class Without(Watched):
    """Declares all operations except some."""

    def __init__(self, *names: str) -> None:
        super().__init__()
        self.names = names

    @property
    def capabilities(self):
        claimed = super().capabilities
        kept = {name: options for name, options in claimed["operations"].items() if name not in self.names}
        return {**claimed, "operations": kept}


def engine_session(adapter, name: str) -> EngineSession:
    host: Any = InProcess(adapter)
    return EngineSession(name, host, Capabilities.validated(adapter.capabilities), 60.0)


def table_session(tmp_path, *adapters) -> TableSession:
    engine_sessions = [
        engine_session(adapter, f"engine-{number}@1") for number, adapter in enumerate(adapters)
    ]
    session = TableSession(tmp_path / "table", engine_sessions, seed=3, tag="t")
    assert not session.open_all()
    return session


def execute_steps(where: TableSession, *operations, slot: str | None = None):
    result = []
    for operation in operations:
        result += where.execute(Step(operation, slot))
    return result


def broken(result) -> set[str]:
    return {violation.requirement for step_result in result for violation in step_result.violations}


class TestStates:
    def test_a_state_becomes_the_version_of_this_copy(self, tmp_path):
        engine = Watched()
        where = table_session(tmp_path, engine)
        result = execute_steps(where, CREATE, Reopen(), rows((1, "a")), rows((2, "b")), Restore(AtState(2)))
        assert not broken(result)
        assert where.log.versions == {0: 0, 1: 0, 2: 1, 3: 2, 4: 3}
        assert next(call for call in engine.calls if isinstance(call, Restore)).at.version == 1

    def test_a_step_that_only_reads_leaves_a_state_to_restore(self, tmp_path):
        where = table_session(tmp_path, Watched())
        result = execute_steps(where, CREATE, rows((1, "a")), Read(), Delete(), Restore(AtState(2)))
        assert not broken(result)
        assert where.plays
        assert where.model_history.table.rows == ((1, "a"),)


class TestReads:
    def test_every_step_is_followed_by_a_read_of_the_newest_rows(self, tmp_path):
        engine = Watched()
        execute_steps(table_session(tmp_path, engine), CREATE, rows((1, "a")))
        names = [name_of(call) for call in engine.calls if call == Read() or not isinstance(call, Read)]
        assert names == ["Create", "Read", "Append", "Read"]

    def test_the_predicate_of_a_delete_is_read_as_a_filter_before(self, tmp_path):
        engine = Watched()
        result = execute_steps(
            table_session(tmp_path, engine), CREATE, rows((1, "a"), (2, "b")), Delete(is_one())
        )
        position = next(position for position, call in enumerate(engine.calls) if isinstance(call, Delete))
        assert engine.calls[position - 1] == Read(where=is_one())
        assert sum(step_result.evidence.get("metamorphic.filter-picks", 0) for step_result in result) >= 1
        assert not broken(result)

    def test_an_answer_compared_with_a_filter_is_counted_once(self, tmp_path):
        result = execute_steps(table_session(tmp_path, Watched()), CREATE, rows((1, "a")), Delete(is_one()))
        assert sum(step_result.evidence.get("read.latest", 0) for step_result in result) == 3

    def test_reopen_addresses_the_table_through_a_new_link(self, tmp_path):
        engine = Watched()
        result = execute_steps(
            table_session(tmp_path, engine), CREATE, rows((1, "a")), Reopen(), rows((2, "b")), Reopen()
        )
        assert not broken(result)
        assert [location.rpartition("/")[2] for location in engine.opened] == ["table", "table-1", "table-2"]
        assert sum(step_result.evidence.get("read.cold", 0) for step_result in result) == 2


class TestSharing:
    def test_the_slot_names_the_engine_that_performs_and_all_read(self, tmp_path):
        first, second = Watched(), Watched()
        where = table_session(tmp_path, first, second)
        result = execute_steps(where, CREATE, slot="A") + execute_steps(where, rows((1, "a")), slot="B")
        assert not broken(result)
        assert [name_of(call) for call in first.calls if not isinstance(call, Read)] == ["Create"]
        assert [name_of(call) for call in second.calls if not isinstance(call, Read)] == ["Append"]
        assert sum(isinstance(call, Read) for call in first.calls) == sum(
            isinstance(call, Read) for call in second.calls
        )

    def test_a_step_that_a_slot_cannot_perform_goes_to_the_next_that_can(self, tmp_path):
        first, second = Without("Merge", "Delete"), Watched()
        where = table_session(tmp_path, first, second)
        result = execute_steps(where, CREATE, rows((1, "a")), Delete(), slot="C")
        assert not broken(result)
        assert any(isinstance(call, Delete) for call in second.calls)

    def test_the_history_records_that_a_slot_handed_a_step_on(self, tmp_path):
        first, second = Without("Delete"), Watched()
        where = table_session(tmp_path, first, second)
        chunk = Chunk("shared", "dev", 0, 1)
        history_recorder = HistoryRecorder(chunk, 0, FindingRecorder(tmp_path), lambda _: None)
        steps = [Step(CREATE, "A"), Step(rows((1, "a")), "B"), Step(Delete(), "C"), Step(Reopen(), "C")]
        for step in steps:
            history_recorder.begin_step(step)
            history_recorder.take(where, where.execute(step))
        assert [(step.slot, step.by) for step in history_recorder.steps] == [
            ("A", None), ("B", None), ("C", "B"), ("C", None),
        ]  # fmt: skip
        kept = History(chunk.suite, chunk.profile, chunk.number, chunk.seed, history_recorder.steps)
        assert History.from_json(kept.to_json()) == kept
        assert history_lines(kept)[2].startswith("  2. [C -> B] Delete")

    def test_a_replay_uses_the_recorded_engine_although_others_can_perform_now(self, tmp_path):
        first, second = Watched(), Watched()
        where = table_session(tmp_path, first, second)
        execute_steps(where, CREATE, rows((1, "a")), slot="A")
        assert not broken(where.execute(Step(Delete(), "A", by="B")))
        assert any(isinstance(call, Delete) for call in second.calls)
        assert not any(isinstance(call, Delete) for call in first.calls)

    def test_outcome_and_log_are_judged_once_and_reads_per_engine(self, tmp_path):
        where = table_session(tmp_path, Watched(), Watched())
        result = execute_steps(where, CREATE, rows((1, "a")), slot="A")
        by_engine = {
            step_result.engine_session.engine: step_result.evidence
            for step_result in result
            if step_result.observation.step == 1
        }
        assert by_engine["engine-0@1"]["outcome.allowed"] == 1
        assert "outcome.allowed" not in by_engine["engine-1@1"]
        assert by_engine["engine-0@1"]["read.latest"] == by_engine["engine-1@1"]["read.latest"] == 1

    def test_a_reader_with_wrong_answers_leaves_and_the_table_continues(self, tmp_path):
        class Blind(Watched):
            def read(self, read):
                answer = super().read(read)
                return (
                    Answer(answer.table.slice(0, 0), answer.version) if isinstance(answer, Answer) else answer
                )

        where = table_session(tmp_path, Watched(), Blind())
        result = execute_steps(where, CREATE, rows((1, "a")), rows((2, "b")), slot="A")
        assert broken(result) == {"read.latest"}
        assert {step_result.engine_session.engine for step_result in result if step_result.violations} == {
            "engine-1@1"
        }
        assert where.plays
        assert not where.engine_sessions[1].plays
        assert len(where.model_history.table.rows) == 2


class TestUnsupportedSteps:
    def test_a_maintenance_step_that_no_engine_supports_is_skipped(self, tmp_path):
        engine = Without("Checkpoint", "Vacuum")
        where = table_session(tmp_path, engine)
        result = execute_steps(where, CREATE, Checkpoint(), Vacuum(), rows((1, "a")), Restore(AtState(2)))
        assert where.plays
        assert not broken(result)
        assert where.model_history.step == 5

    def test_a_copy_that_would_diverge_leaves_without_a_violation(self, tmp_path):
        where = table_session(tmp_path, Without("Delete"))
        result = execute_steps(where, CREATE, rows((1, "a")), Delete(), rows((2, "b")))
        assert not broken(result)
        assert not where.plays
        assert where.not_asked == "does not claim Delete"


class TestViolations:
    def test_a_copy_that_violated_leaves_the_history(self, tmp_path):
        class Forgetful(Watched):
            def execute(self, operation, tag):
                if isinstance(operation, Append):
                    operation = Append(Rows(SCHEMA, operation.rows.rows[:-1]))
                return super().execute(operation, tag)

        where = table_session(tmp_path, Forgetful())
        result = execute_steps(where, CREATE, rows((1, "a"), (2, "b")), rows((3, "c")))
        assert "contents.append" in broken(result)
        assert not where.plays
        assert max(step_result.observation.step for step_result in result) == 1

    @pytest.mark.parametrize("done", (True, False))
    def test_after_an_unknown_outcome_the_log_decides_what_happened(self, tmp_path, done):
        class Unsure(Watched):
            def execute(self, operation, tag):
                if isinstance(operation, Update):
                    if done:
                        super().execute(operation, tag)
                    return Unknown("the reply was lost")
                return super().execute(operation, tag)

        where = table_session(tmp_path, Unsure())
        change = Update((("name", Literal(STRING, "z")),), is_one())
        result = execute_steps(where, CREATE, rows((1, "a")), change)
        last = next(
            step_result for step_result in result if isinstance(step_result.observation.operation, Update)
        )
        assert (last.observation.branch is not None) == done
        assert "outcome.told" in broken(result)

    def test_columns_of_other_types_are_malformed_and_not_compared(self, tmp_path):
        class Texts(Watched):
            def read(self, read):
                answer = super().read(read)
                if not isinstance(answer, Answer):
                    return answer
                return Answer(pa.table({"id": pa.array([], pa.string()), "name": pa.array([], pa.string())}))

        result = execute_steps(table_session(tmp_path, Texts()), CREATE)
        assert broken(result) == {"read.columns"}
        details = [violation.detail for step_result in result for violation in step_result.violations]
        assert "id string, name string instead of id long, name string" in details[0]

    def test_a_file_with_a_violation_is_reported_once_and_not_at_later_steps(self, tmp_path):
        class Keeps(Watched):
            """Writes into checkpoints what the table properties want them to omit."""

            @property
            def capabilities(self):
                return {**super().capabilities, "properties": ["*"]}

            def checkpoint(self, snapshot):
                publish_checkpoint(
                    self.folder / "_delta_log", checkpoint_actions(snapshot, 0), snapshot.version
                )

        where = table_session(tmp_path, Keeps())
        result = execute_steps(
            where, Create(SCHEMA, properties=(("delta.checkpoint.writeStatsAsJson", "false"),)),
            AddConstraint("positive", Compare(">", Column(("id",)), Literal(LONG, 0))), rows((1, "a")), Checkpoint(),
            rows((2, "b")), rows((3, "c")), Checkpoint(),
        )  # fmt: skip
        reported = [
            (step_result.observation.step, violation.where)
            for step_result in result
            for violation in step_result.violations
            if violation.requirement == "checkpoint.omits-json-stats"
        ]
        assert reported == [(3, f"{2:020}.checkpoint.parquet"), (6, f"{4:020}.checkpoint.parquet")]


class TestSideBySide:
    def test_every_engine_is_sent_a_call_before_the_first_answer_is_awaited(self, tmp_path):
        calls: list[tuple[str, str]] = []

        class Noted(InProcess):
            """Notes when it is sent a call, and when its answer is awaited."""

            def __init__(self, name: str) -> None:
                super().__init__(Reference())
                self.name = name

            def submit(self, operation, tag="", timeout=0):
                return self.noted(name_of(operation), super().submit(operation, tag, timeout))

            def submit_read(self, read, timeout=0):
                return self.noted(name_of(read), super().submit_read(read, timeout))

            def noted(self, call, pending):
                calls.append((self.name, f"submit {call}"))

                def collect():
                    calls.append((self.name, f"collect {call}"))
                    return pending.result()

                return Pending(collect)

        tables = []
        for name in ("one", "two"):
            host: Any = Noted(name)
            capabilities = Capabilities.validated(host.adapter.capabilities)
            session = EngineSession(f"{name}@1", host, capabilities, 60.0)
            tables.append(TableSession(tmp_path / name / "table", [session], seed=3, tag="t"))
            assert not tables[-1].open_all()
        results: list[StepResult] = []
        execute_step(tables, Step(CREATE), lambda _, step_results: results.extend(step_results))
        assert not broken(results)
        assert calls == [
            ("one", "submit Create"), ("two", "submit Create"),
            ("one", "collect Create"), ("one", "submit Read"), ("two", "collect Create"), ("two", "submit Read"),
            ("one", "collect Read"), ("two", "collect Read"),
        ]  # fmt: skip
