"""A race is judged while the engines play the next one; an expensive engine creates its table only once."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

from conformance.engine_pool import EnginePool
from conformance.events.types import Event, HarnessFault, HistoryEnded, RaceOutcome
from conformance.execution.history_recorder import HistoryRecorder
from conformance.execution.pending_reads import CompletedStep, PendingStep
from conformance.execution.step_result import StepResult
from conformance.fault_injection.instrumented_engines import InstrumentedEngines
from conformance.findings.recorder import FindingRecorder
from conformance.histories import Chunk, Step
from conformance.suites.context import SuiteContext, engine_session_of
from conformance.suites.races.background import BackgroundRace
from conformance.suites.races.scenarios import BEFORE, PAIRS, RaceScenario
from conformance.suites.races.session import GUARANTEE, IN_TURN, PendingRace, RaceTableSession
from conformance.suites.races.suite import RaceScenarios
from conformance.suites.races.writer_groups import WriterGroup
from delta_adapters.registry import parse_engine
from delta_models.operations import Interleave

CHUNK = Chunk("races", "dev", 0, 1, histories=3, steps=4)


@pytest.fixture(scope="module")
def instrumented_engines(tmp_path_factory: pytest.TempPathFactory) -> Iterator[InstrumentedEngines]:
    made = InstrumentedEngines(
        {"delta-rs": parse_engine("delta-rs")}, tmp_path_factory.mktemp("arena"), lambda _: None
    )
    yield made
    made.close()


@pytest.fixture
def events() -> list[Event]:
    return []


@pytest.fixture
def context(instrumented_engines: InstrumentedEngines, events: list[Event], tmp_path: Path) -> SuiteContext:
    hosts = EnginePool([parse_engine("delta-rs")], tmp_path / "hosts", events.append)
    return SuiteContext(hosts, FindingRecorder(tmp_path), events.append, lambda: False, instrumented_engines)


def twins(instrumented_engines: InstrumentedEngines, *, runs_on_jvm: bool = False) -> WriterGroup:
    players = [
        player
        for player in (instrumented_engines.get("delta-rs", place) for place in "AB")
        if player is not None
    ]
    if runs_on_jvm:
        players = [replace(player, engine=replace(player.engine, runs_on_jvm=True)) for player in players]
    return WriterGroup(tuple(players))


def race_pairs(
    context: SuiteContext,
    games: Sequence[tuple[WriterGroup, Sequence[RaceScenario]]],
    folder: Path,
    events: list[Event],
) -> tuple[list[RaceOutcome], int]:
    """Race pairs, those of each game by one group; return their race outcomes and the number of operations."""
    for number, (group, pairs) in enumerate(games):
        game = RaceScenarios(context, CHUNK, folder / f"{number}")
        for pair_number, pair in enumerate(pairs):
            history_recorder = HistoryRecorder(CHUNK, pair_number, context.finding_recorder, events.append)
            table_session = group.table_session(context, folder / f"{number}-{pair_number}" / "table", "t")
            assert game.play_pair(history_recorder, table_session, pair, group)
            history_recorder.close([table_session])
    assert [event for event in events if isinstance(event, HarnessFault)] == []
    raced = [event for event in events if isinstance(event, RaceOutcome)]
    operations = sum(sum(event.operations.values()) for event in events if isinstance(event, HistoryEnded))
    events.clear()
    return raced, operations


def test_a_group_creates_the_table_once_with_the_same_results(
    instrumented_engines: InstrumentedEngines, context: SuiteContext, events: list[Event], tmp_path: Path
):
    race_pairs(
        context, [(twins(instrumented_engines), PAIRS[:1])], tmp_path / "first", events
    )  # its gates are known from here on
    alone = [(twins(instrumented_engines), [pair]) for pair in PAIRS[:3]]
    race_pairs(context, alone, tmp_path / "known", events)
    each_anew, operations = race_pairs(context, alone, tmp_path / "anew", events)
    once, fewer = race_pairs(context, [(twins(instrumented_engines), PAIRS[:3])], tmp_path / "once", events)
    assert once == each_anew
    assert [event.schedules for event in once] == [4, 4, 4]
    assert operations - fewer == 2 * (len(BEFORE) + len(BEFORE))  # each with a read after it


def test_a_harness_fault_is_reported_for_its_race_and_the_next_race_is_played(
    instrumented_engines: InstrumentedEngines,
    context: SuiteContext,
    events: list[Event],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
):
    real, calls = RaceTableSession.submit, []

    def second_fails(table_session: RaceTableSession, step: Step) -> PendingStep:
        if isinstance(step.operation, Interleave):
            calls.append(step)
        if len(calls) == 2:
            calls.append(step)
            raise LookupError("something of ours")
        return real(table_session, step)

    monkeypatch.setattr(RaceTableSession, "submit", second_fails)
    group = twins(instrumented_engines)
    game = RaceScenarios(context, CHUNK, tmp_path / "game")
    history_recorder = HistoryRecorder(CHUNK, 0, context.finding_recorder, events.append)
    game.play_pair(
        history_recorder, group.table_session(context, tmp_path / "table" / "table", "t"), PAIRS[0], group
    )
    faults = [event for event in events if isinstance(event, HarnessFault)]
    assert ["something of ours" in fault.message for fault in faults] == [True]
    assert [event.schedules for event in events if isinstance(event, RaceOutcome)] == [3]


def test_a_reader_beside_a_serialized_writer_may_see_its_commits(
    instrumented_engines: InstrumentedEngines, tmp_path: Path
):
    append = PAIRS[0].first
    assert PAIRS[3].name == "Append and Read, table"
    for number, order in enumerate(((0, 0, 0, 1), (1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0))):
        engine_sessions = [engine_session_of(player.engine) for player in twins(instrumented_engines).players]
        weak = replace(engine_sessions[0].capabilities, guarantees={GUARANTEE: False})
        engine_sessions = [replace(engine_session, capabilities=weak) for engine_session in engine_sessions]
        instrumented_processes = [
            player.instrumented_process for player in twins(instrumented_engines).players
        ]
        table_session = RaceTableSession(
            tmp_path / f"{number}" / "table",
            engine_sessions,
            instrumented_processes,
            instrumented_engines.turnstile,
            "t",
            processes=IN_TURN,
        )
        result: list[StepResult] = table_session.open_all()
        for operation in (*BEFORE, Interleave((append, PAIRS[3].second), order)):
            result += table_session.execute(Step(operation))
        race = next(
            step_result.observation.race for step_result in result if step_result.observation.race is not None
        )
        assert [gate for place, gate in race.timeline if place == 0] == ["snapshot", "data", "staging"]
        assert race.published[1] == ({0} if order == (0, 0, 0, 1) else set())
        assert len(race.seen[1]) == 5 + (order == (0, 0, 0, 1))
        assert "race.no-dirty-read" not in {
            violation.requirement for step_result in result for violation in step_result.violations
        }


class NoTable:
    """A table session that only answers what a race in the background calls."""

    def __init__(self, submit: Callable[[Step], PendingStep], *, opens: bool = True) -> None:
        self.submit = submit
        self.plays = True
        self._opens = opens

    def open_all(self) -> list[StepResult]:
        if not self._opens:
            raise KeyError("open")
        return []


def in_background(table: Any) -> BackgroundRace:
    return BackgroundRace(table, Step(Interleave((), ())))


def test_an_error_of_a_race_is_raised_when_it_is_collected():
    def fails(_step: Step) -> PendingStep:
        raise KeyError("there")

    race = in_background(NoTable(fails))
    race.wait_until_eased()
    race.wait()
    assert race.opened.result() == []
    with pytest.raises(KeyError, match="there"):
        race.collect()


def test_an_error_of_opening_the_table_is_raised_when_its_results_are_collected():
    race = in_background(NoTable(lambda _: CompletedStep(), opens=False))
    with pytest.raises(KeyError, match="open"):
        race.opened.result()


def test_the_harness_continues_once_engines_only_have_to_read():
    go_on = threading.Event()
    pending = Mock(spec=PendingRace, wait=lambda: go_on.wait(20), collect=lambda: ([], None))
    race = in_background(NoTable(lambda _: pending))
    race.wait_until_eased()
    go_on.set()
    assert race.collect() == []
