"""How a step is played at a table, with the honest engine and small liars in this process."""

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


def rows(*found: tuple[int, str]) -> Append:
    return Append(Rows(SCHEMA, found))


def is_one() -> Compare:
    return Compare("=", Column(("id",)), Literal(LONG, 1))


class Watched(Reference):
    """The honest engine, with what it was asked."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[Any] = []
        self.opened: list[str] = []

    def open(self, location: str) -> None:
        self.opened.append(location)
        super().open(location)

    def execute(self, operation, tag):
        self.asked.append(operation)
        return super().execute(operation, tag)

    def read(self, read):
        self.asked.append(read)
        return super().read(read)


class Without(Watched):
    """Claims all but some operations."""

    def __init__(self, *names: str) -> None:
        super().__init__()
        self.names = names

    @property
    def capabilities(self):
        claimed = super().capabilities
        kept = {name: each for name, each in claimed["operations"].items() if name not in self.names}
        return {**claimed, "operations": kept}


def engine_session(adapter, name: str) -> EngineSession:
    host: Any = InProcess(adapter)
    return EngineSession(name, host, Capabilities.validated(adapter.capabilities), 60.0)


def table_session(tmp_path, *adapters) -> TableSession:
    engine_sessions = [engine_session(adapter, f"engine-{at}@1") for at, adapter in enumerate(adapters)]
    found = TableSession(tmp_path / "table", engine_sessions, seed=3, tag="t")
    assert not found.open_all()
    return found


def played(where: TableSession, *operations, slot: str | None = None):
    result = []
    for operation in operations:
        result += where.execute(Step(operation, slot))
    return result


def broken(result) -> set[str]:
    return {violation.requirement for each in result for violation in each.violations}


class TestStates:
    def test_a_state_becomes_the_version_of_this_copy(self, tmp_path):
        engine = Watched()
        where = table_session(tmp_path, engine)
        result = played(where, CREATE, Reopen(), rows((1, "a")), rows((2, "b")), Restore(AtState(2)))
        assert not broken(result)
        assert where.log.versions == {0: 0, 1: 0, 2: 1, 3: 2, 4: 3}
        assert next(each for each in engine.asked if isinstance(each, Restore)).at.version == 1

    def test_a_step_that_only_looks_leaves_a_state_to_go_back_to(self, tmp_path):
        where = table_session(tmp_path, Watched())
        result = played(where, CREATE, rows((1, "a")), Read(), Delete(), Restore(AtState(2)))
        assert not broken(result)
        assert where.plays
        assert where.model_history.table.rows == ((1, "a"),)


class TestLooks:
    def test_every_step_is_followed_by_a_read_of_the_newest_rows(self, tmp_path):
        engine = Watched()
        played(table_session(tmp_path, engine), CREATE, rows((1, "a")))
        asked = [name_of(each) for each in engine.asked if each == Read() or not isinstance(each, Read)]
        assert asked == ["Create", "Read", "Append", "Read"]

    def test_what_a_delete_takes_away_is_asked_as_a_filter_before(self, tmp_path):
        engine = Watched()
        result = played(table_session(tmp_path, engine), CREATE, rows((1, "a"), (2, "b")), Delete(is_one()))
        at = next(at for at, each in enumerate(engine.asked) if isinstance(each, Delete))
        assert engine.asked[at - 1] == Read(where=is_one())
        assert sum(each.evidence.get("metamorphic.filter-picks", 0) for each in result) >= 1
        assert not broken(result)

    def test_an_answer_is_not_counted_twice_because_a_filter_is_held_against_it(self, tmp_path):
        result = played(table_session(tmp_path, Watched()), CREATE, rows((1, "a")), Delete(is_one()))
        assert sum(each.evidence.get("read.latest", 0) for each in result) == 3

    def test_reopen_addresses_the_table_through_a_new_link(self, tmp_path):
        engine = Watched()
        result = played(
            table_session(tmp_path, engine), CREATE, rows((1, "a")), Reopen(), rows((2, "b")), Reopen()
        )
        assert not broken(result)
        assert [each.rpartition("/")[2] for each in engine.opened] == ["table", "table-1", "table-2"]
        assert sum(each.evidence.get("read.cold", 0) for each in result) == 2


class TestSharing:
    def test_the_slot_says_who_performs_and_all_read(self, tmp_path):
        first, second = Watched(), Watched()
        where = table_session(tmp_path, first, second)
        result = played(where, CREATE, slot="A") + played(where, rows((1, "a")), slot="B")
        assert not broken(result)
        assert [name_of(each) for each in first.asked if not isinstance(each, Read)] == ["Create"]
        assert [name_of(each) for each in second.asked if not isinstance(each, Read)] == ["Append"]
        assert sum(isinstance(each, Read) for each in first.asked) == sum(
            isinstance(each, Read) for each in second.asked
        )

    def test_what_a_slot_cannot_perform_goes_to_the_next_that_can(self, tmp_path):
        first, second = Without("Merge", "Delete"), Watched()
        where = table_session(tmp_path, first, second)
        result = played(where, CREATE, rows((1, "a")), Delete(), slot="C")
        assert not broken(result)
        assert any(isinstance(each, Delete) for each in second.asked)

    def test_that_a_slot_handed_a_step_on_is_recorded_in_the_history(self, tmp_path):
        first, second = Without("Delete"), Watched()
        where = table_session(tmp_path, first, second)
        chunk = Chunk("shared", "dev", 0, 1)
        history_recorder = HistoryRecorder(chunk, 0, FindingRecorder(tmp_path), lambda _: None)
        steps = [Step(CREATE, "A"), Step(rows((1, "a")), "B"), Step(Delete(), "C"), Step(Reopen(), "C")]
        for step in steps:
            history_recorder.begin_step(step)
            history_recorder.take(where, where.execute(step))
        assert [(each.slot, each.by) for each in history_recorder.steps] == [
            ("A", None), ("B", None), ("C", "B"), ("C", None),
        ]  # fmt: skip
        kept = History(chunk.suite, chunk.profile, chunk.number, chunk.seed, history_recorder.steps)
        assert History.from_json(kept.to_json()) == kept
        assert history_lines(kept)[2].startswith("  2. [C -> B] Delete")

    def test_a_replay_asks_who_performed_whatever_the_others_have_learnt_since(self, tmp_path):
        first, second = Watched(), Watched()
        where = table_session(tmp_path, first, second)
        played(where, CREATE, rows((1, "a")), slot="A")
        assert not broken(where.execute(Step(Delete(), "A", by="B")))
        assert any(isinstance(each, Delete) for each in second.asked)
        assert not any(isinstance(each, Delete) for each in first.asked)

    def test_outcome_and_log_are_judged_once_and_reading_for_each(self, tmp_path):
        where = table_session(tmp_path, Watched(), Watched())
        result = played(where, CREATE, rows((1, "a")), slot="A")
        by_engine = {
            each.engine_session.engine: each.evidence for each in result if each.observation.step == 1
        }
        assert by_engine["engine-0@1"]["outcome.allowed"] == 1
        assert "outcome.allowed" not in by_engine["engine-1@1"]
        assert by_engine["engine-0@1"]["read.latest"] == by_engine["engine-1@1"]["read.latest"] == 1

    def test_a_reader_that_is_wrong_leaves_and_the_table_is_played_on(self, tmp_path):
        class Blind(Watched):
            def read(self, read):
                answer = super().read(read)
                return (
                    Answer(answer.table.slice(0, 0), answer.version) if isinstance(answer, Answer) else answer
                )

        where = table_session(tmp_path, Watched(), Blind())
        result = played(where, CREATE, rows((1, "a")), rows((2, "b")), slot="A")
        assert broken(result) == {"read.latest"}
        assert {each.engine_session.engine for each in result if each.violations} == {"engine-1@1"}
        assert where.plays
        assert not where.engine_sessions[1].plays
        assert len(where.model_history.table.rows) == 2


class TestNotAsked:
    def test_what_only_tidies_up_is_passed_over(self, tmp_path):
        engine = Without("Checkpoint", "Vacuum")
        where = table_session(tmp_path, engine)
        result = played(where, CREATE, Checkpoint(), Vacuum(), rows((1, "a")), Restore(AtState(2)))
        assert where.plays
        assert not broken(result)
        assert where.model_history.step == 5

    def test_without_the_rest_the_copy_would_be_another_so_it_leaves_and_nothing_is_held_against_it(
        self, tmp_path
    ):
        where = table_session(tmp_path, Without("Delete"))
        result = played(where, CREATE, rows((1, "a")), Delete(), rows((2, "b")))
        assert not broken(result)
        assert not where.plays
        assert where.not_asked == "does not claim Delete"


class TestWrong:
    def test_a_copy_that_violated_leaves_the_history(self, tmp_path):
        class Forgetful(Watched):
            def execute(self, operation, tag):
                if isinstance(operation, Append):
                    operation = Append(Rows(SCHEMA, operation.rows.rows[:-1]))
                return super().execute(operation, tag)

        where = table_session(tmp_path, Forgetful())
        result = played(where, CREATE, rows((1, "a"), (2, "b")), rows((3, "c")))
        assert "contents.append" in broken(result)
        assert not where.plays
        assert max(each.observation.step for each in result) == 1

    @pytest.mark.parametrize("done", (True, False))
    def test_after_unknown_the_log_tells_what_happened(self, tmp_path, done):
        class Unsure(Watched):
            def execute(self, operation, tag):
                if isinstance(operation, Update):
                    if done:
                        super().execute(operation, tag)
                    return Unknown("the reply was lost")
                return super().execute(operation, tag)

        where = table_session(tmp_path, Unsure())
        change = Update((("name", Literal(STRING, "z")),), is_one())
        result = played(where, CREATE, rows((1, "a")), change)
        last = next(each for each in result if isinstance(each.observation.operation, Update))
        assert (last.observation.branch is not None) == done
        assert "outcome.told" in broken(result)

    def test_columns_of_other_types_are_malformed_and_not_compared(self, tmp_path):
        class Texts(Watched):
            def read(self, read):
                answer = super().read(read)
                if not isinstance(answer, Answer):
                    return answer
                return Answer(pa.table({"id": pa.array([], pa.string()), "name": pa.array([], pa.string())}))

        result = played(table_session(tmp_path, Texts()), CREATE)
        assert broken(result) == {"read.columns"}
        details = [violation.detail for each in result for violation in each.violations]
        assert "id string, name string instead of id long, name string" in details[0]

    def test_a_file_that_stays_is_told_of_when_it_comes_and_not_at_every_later_step(self, tmp_path):
        class Keeps(Watched):
            """Keeps what the table wants checkpoints to leave out."""

            @property
            def capabilities(self):
                return {**super().capabilities, "properties": ["*"]}

            def checkpoint(self, snapshot):
                publish_checkpoint(
                    self.folder / "_delta_log", checkpoint_actions(snapshot, 0), snapshot.version
                )

        where = table_session(tmp_path, Keeps())
        result = played(
            where, Create(SCHEMA, properties=(("delta.checkpoint.writeStatsAsJson", "false"),)),
            AddConstraint("positive", Compare(">", Column(("id",)), Literal(LONG, 0))), rows((1, "a")), Checkpoint(),
            rows((2, "b")), rows((3, "c")), Checkpoint(),
        )  # fmt: skip
        told = [
            (each.observation.step, violation.where)
            for each in result
            for violation in each.violations
            if violation.requirement == "checkpoint.omits-json-stats"
        ]
        assert told == [(3, f"{2:020}.checkpoint.parquet"), (6, f"{4:020}.checkpoint.parquet")]


class TestSideBySide:
    def test_every_engine_is_sent_a_call_before_the_first_answer_is_waited_for(self, tmp_path):
        calls: list[tuple[str, str]] = []

        class Noted(InProcess):
            """Notes when it is sent a call, and when its answer is waited for."""

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
