"""Races are judged while engines are at the next, from a table that a dear engine makes once; nothing else changes."""

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
def told() -> list[Event]:
    return []


@pytest.fixture
def context(instrumented_engines: InstrumentedEngines, told: list[Event], tmp_path: Path) -> SuiteContext:
    hosts = EnginePool([parse_engine("delta-rs")], tmp_path / "hosts", told.append)
    return SuiteContext(hosts, FindingRecorder(tmp_path), told.append, lambda: False, instrumented_engines)


def twins(instrumented_engines: InstrumentedEngines, *, dear: bool = False) -> WriterGroup:
    players = [
        each for each in (instrumented_engines.get("delta-rs", place) for place in "AB") if each is not None
    ]
    if dear:
        players = [replace(player, engine=replace(player.engine, runs_on_jvm=True)) for player in players]
    return WriterGroup(tuple(players))


def played(
    context: SuiteContext,
    games: Sequence[tuple[WriterGroup, Sequence[RaceScenario]]],
    folder: Path,
    told: list[Event],
) -> tuple[list[RaceOutcome], int]:
    """Pairs, those of each game by one group; what was told of them, and how many operations were asked for."""
    for number, (group, pairs) in enumerate(games):
        game = RaceScenarios(context, CHUNK, folder / f"{number}")
        for at, pair in enumerate(pairs):
            history_recorder = HistoryRecorder(CHUNK, at, context.finding_recorder, told.append)
            stand = group.table_session(context, folder / f"{number}-{at}" / "table", "t")
            assert game.play_pair(history_recorder, stand, pair, group)
            history_recorder.close([stand])
    assert [each for each in told if isinstance(each, HarnessFault)] == []
    raced = [each for each in told if isinstance(each, RaceOutcome)]
    asked = sum(sum(each.operations.values()) for each in told if isinstance(each, HistoryEnded))
    told.clear()
    return raced, asked


def test_a_group_makes_the_table_once_and_the_pairs_come_to_the_same(
    instrumented_engines: InstrumentedEngines, context: SuiteContext, told: list[Event], tmp_path: Path
):
    played(
        context, [(twins(instrumented_engines), PAIRS[:1])], tmp_path / "first", told
    )  # its gates are known from here on
    alone = [(twins(instrumented_engines), [pair]) for pair in PAIRS[:3]]
    played(context, alone, tmp_path / "known", told)
    each_anew, asked = played(context, alone, tmp_path / "anew", told)
    once, fewer = played(context, [(twins(instrumented_engines), PAIRS[:3])], tmp_path / "once", told)
    assert once == each_anew
    assert [each.schedules for each in once] == [4, 4, 4]
    assert asked - fewer == 2 * (len(BEFORE) + len(BEFORE))  # each with a read after it


def test_what_goes_wrong_while_engines_race_is_told_of_that_race_and_the_next_is_played(
    instrumented_engines: InstrumentedEngines,
    context: SuiteContext,
    told: list[Event],
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
    history_recorder = HistoryRecorder(CHUNK, 0, context.finding_recorder, told.append)
    game.play_pair(
        history_recorder, group.table_session(context, tmp_path / "table" / "table", "t"), PAIRS[0], group
    )
    faults = [each for each in told if isinstance(each, HarnessFault)]
    assert ["something of ours" in fault.message for fault in faults] == [True]
    assert [each.schedules for each in told if isinstance(each, RaceOutcome)] == [3]


def test_a_reader_beside_one_who_publishes_in_turn_may_see_what_that_one_has_committed(
    instrumented_engines: InstrumentedEngines, tmp_path: Path
):
    append = PAIRS[0].first
    assert PAIRS[3].name == "Append and Read, table"
    for at, order in enumerate(((0, 0, 0, 1), (1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0))):
        engine_sessions = [engine_session_of(player.engine) for player in twins(instrumented_engines).players]
        weak = replace(engine_sessions[0].capabilities, guarantees={GUARANTEE: False})
        engine_sessions = [replace(engine_session, capabilities=weak) for engine_session in engine_sessions]
        instrumented_processes = [
            player.instrumented_process for player in twins(instrumented_engines).players
        ]
        table_session = RaceTableSession(
            tmp_path / f"{at}" / "table",
            engine_sessions,
            instrumented_processes,
            instrumented_engines.turnstile,
            "t",
            processes=IN_TURN,
        )
        result: list[StepResult] = table_session.open_all()
        for operation in (*BEFORE, Interleave((append, PAIRS[3].second), order)):
            result += table_session.execute(Step(operation))
        race = next(each.observation.race for each in result if each.observation.race is not None)
        assert [gate for place, gate in race.timeline if place == 0] == ["snapshot", "data", "staging"]
        assert race.published[1] == ({0} if order == (0, 0, 0, 1) else set())
        assert len(race.seen[1]) == 5 + (order == (0, 0, 0, 1))
        assert "race.no-dirty-read" not in {
            violation.requirement for each in result for violation in each.violations
        }


class NoTable:
    """All that a race in the background needs of a table, which does what it is told."""

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


def test_what_a_race_raises_is_raised_where_it_is_collected():
    def fails(_step: Step) -> PendingStep:
        raise KeyError("there")

    race = in_background(NoTable(fails))
    race.wait_until_eased()
    race.wait()
    assert race.opened.result() == []
    with pytest.raises(KeyError, match="there"):
        race.collect()


def test_what_opening_the_table_raises_is_raised_where_its_results_are_asked_for():
    race = in_background(NoTable(lambda _: CompletedStep(), opens=False))
    with pytest.raises(KeyError, match="open"):
        race.opened.result()


def test_the_harness_goes_on_as_soon_as_engines_have_only_to_read():
    go_on = threading.Event()
    pending = Mock(spec=PendingRace, wait=lambda: go_on.wait(20), collect=lambda: ([], None))
    race = in_background(NoTable(lambda _: pending))
    race.wait_until_eased()
    go_on.set()
    assert race.collect() == []
