"""Plays pairs of operations at once: in all orders of their gates, or in some that are drawn.

One race is judged while the engines read after the next, also where that is another pair's. All begin from one table,
which each group makes once a chunk; a table that is judged is made good and used again.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from conformance.execution.history_recorder import HistoryRecorder
from conformance.execution.table_pool import TablePool
from conformance.execution.table_session import StepResult, play
from conformance.fault_injection.interleaving import schedules
from conformance.findings import FindingError
from conformance.generation.choices import RandomChoices
from conformance.histories import HISTORIES, Chunk, Step
from conformance.suites.context import SuiteContext
from conformance.suites.races.background import BackgroundTask
from conformance.suites.races.generated import tell_failures
from conformance.suites.races.scenario_result import ScenarioResult
from conformance.suites.races.scenarios import BEFORE, PAIRS, RaceScenario
from conformance.suites.races.session import RaceTableSession
from conformance.suites.races.shrinking import FindingShrinker
from conformance.suites.races.writer_groups import WriterGroup, groups
from delta_models.operations import Interleave, Operation
from delta_models.requirements import races

EVERY_ORDER = {
    "orders": PAIRS[:HISTORIES],
    "more-orders": PAIRS[HISTORIES:],
}  # by the name in a profile's plan


@dataclass(frozen=True, slots=True)
class _Turn:
    """A race that is to be played at a table of its own."""

    match: ScenarioResult
    race: Interleave
    table_session: RaceTableSession


_orders = functools.cache(lambda *gates: tuple(schedules(gates)))
Closing = Callable[[], None]  # what is to be done once all turns before it are judged


class RaceScenarios:
    """A chunk: a pair a history, each in so many orders as the chunk has steps, or in all."""

    def __init__(self, context: SuiteContext, chunk: Chunk, work: Path) -> None:
        self._dealer = context
        self._chunk = chunk
        self._work = work
        self._ended = 0
        self._dice = RandomChoices(chunk.seed)
        self._witnesses = FindingShrinker(context, work / "again")
        self._tables: dict[tuple[str, ...], RaceTableSession] = {}
        self._spares = TablePool()
        self._laid = 0
        self._every = chunk.table in EVERY_ORDER
        some = EVERY_ORDER.get(chunk.table) or self._dice.some(PAIRS, chunk.histories)
        self._pairs = tuple(some)[: chunk.histories]

    @property
    def complete(self) -> bool:
        """Whether every pair was played."""
        return self._ended == len(self._pairs)

    def play_all(self) -> None:
        """One pair after another."""
        self._play(self._of_all())

    def play_pair(
        self,
        history_recorder: HistoryRecorder,
        stand: RaceTableSession,
        pair: RaceScenario,
        group: WriterGroup,
    ) -> bool:
        """Play a pair by a group; whether its engines can."""
        if not self._can(group, pair):
            return False
        self._play(self._of_pair(ScenarioResult(history_recorder, group, stand, pair)))
        return True

    # What there is to play, made as it is asked for

    def _of_all(self) -> Iterator[_Turn | Closing]:
        for number, pair in enumerate(self._pairs):
            if self._dealer.is_over():
                return
            history_recorder = HistoryRecorder(
                self._chunk, number, self._dealer.finding_recorder, self._dealer.tell
            )
            stands = []
            for at, group in enumerate(groups(self._dealer, self._chunk, number)):
                tag = f"{self._chunk.name}-{number}"
                stand = group.table_session(self._dealer, self._work / f"{number}-{at}" / "table", tag)
                if self._can(group, pair):
                    stands.append(stand)
                    yield from self._of_pair(ScenarioResult(history_recorder, group, stand, pair))
            yield partial(self._close, history_recorder, stands)

    def _close(self, history_recorder: HistoryRecorder, stands: Sequence[RaceTableSession]) -> None:
        history_recorder.close(stands)
        self._ended += not self._dealer.is_over()

    def _of_pair(self, match: ScenarioResult) -> Iterator[_Turn | Closing]:
        group, stand, pair = match.group, match.stand, match.pair
        group.declare(self._dealer, [rule.id for rule in races.REQUIREMENTS])
        stand.overlap = pair.overlap
        match.history_recorder.steps = []
        self._lay(match.history_recorder, group, stand)
        if not stand.plays:
            return
        gates = [
            self._gates(match.history_recorder, stand, place, operation)
            for place, operation in enumerate((pair.first, pair.second))
        ]
        orders = list(_orders(*gates))
        if not self._every:
            orders = self._dice.some(orders, self._chunk.steps)
        match.prelude = tuple(match.history_recorder.steps)
        for order in orders:
            if self._dealer.is_over():
                break
            yield _Turn(match, Interleave((pair.first, pair.second), order), self._table(stand))
        yield partial(self._tell, match)

    def _table(self, stand: RaceTableSession) -> RaceTableSession:
        """A table of its own for a race."""
        self._laid += 1
        # Straight into one folder: one of its own for each would cost half a millisecond.
        folder = self._work / "orders" / f"table-{self._laid}"
        self._spares.acquire(stand.folder, folder)
        return stand.copy(folder)

    def _tell(self, match: ScenarioResult) -> None:
        self._dealer.tell(match.raced())
        match.group.declare(self._dealer, match.broken)

    def _can(self, group: WriterGroup, pair: RaceScenario) -> bool:
        missing = [
            reason
            for player, operation in zip(group.players, (pair.first, pair.second), strict=True)
            for reason in map(player.engine.capabilities.covers, (*BEFORE, operation))
            if reason is not None
        ]
        if missing:
            self._dealer.note(f"{group.name}: {missing[0]}: not asked")
        return not missing

    # Before a pair: mostly known already; else the engines are waited for

    def _lay(self, history_recorder: HistoryRecorder, group: WriterGroup, stand: RaceTableSession) -> None:
        """Have the table from which all pairs begin: it is made once, and copied for others."""
        key = (*(player.instrumented_process.name for player in group.players), group.processes)
        known = self._tables.get(key)
        if known is not None:
            history_recorder.steps += map(Step, BEFORE)
            stand.folder = known.folder
            stand.begin_as(known)
            return
        self._wait()
        history_recorder.take(stand, stand.open_all())
        for operation in BEFORE:
            self._step(history_recorder, group, stand, operation)
        if stand.plays:
            self._tables[key] = stand

    def _gates(
        self, history_recorder: HistoryRecorder, stand: RaceTableSession, place: int, operation: Operation
    ) -> int:
        """Through how many gates an operation goes alone: found once for all pairs, which begin from the same table."""
        known = self._dealer.instrumented_engines.gates
        key = (stand.sitting[place].engine, stand.processes, operation)
        if key not in known:
            self._wait()
            alone = self._table(stand)
            history_recorder.take(alone, alone.open_all())
            known[key] = alone.gates(place, operation)
            stand.count(alone)
        return known[key]

    def _wait(self) -> None:
        if self._witnesses.racing is not None:
            self._witnesses.racing.wait()

    # Playing

    def _play(self, turns: Iterable[_Turn | Closing]) -> None:
        """Each race before the last one is judged."""
        coming: tuple[_Turn, BackgroundTask[list[StepResult]]] | None = None
        closing: list[Closing] = []
        for turn in turns:
            if not isinstance(turn, _Turn):
                closing.append(turn)
                continue
            if coming is not None:
                coming[1].wait()
                for player in coming[0].match.group.players:
                    self._dealer.instrumented_engines.check(player)
            done, coming = coming, (turn, BackgroundTask(partial(turn.table_session.begin, turn.race)))
            self._witnesses.racing = coming[1]
            coming[1].wait_until_eased()
            self._judge(done, closing)
        self._judge(coming, closing)

    def _judge(
        self, done: tuple[_Turn, BackgroundTask[list[StepResult]]] | None, closing: list[Closing]
    ) -> None:
        if done is not None:
            turn, ahead = done
            match, table_session = turn.match, turn.table_session
            match.history_recorder.steps = list(match.prelude)
            match.history_recorder.take(table_session, ahead.result())
            match.count(
                table_session, self._step(match.history_recorder, match.group, table_session, turn.race)
            )
            for each in table_session.raced:
                tell_failures(self._dealer, table_session, each)
            self._spares.release(match.stand.folder, table_session.folder)
        for close in closing:
            close()
        closing.clear()

    def _step(
        self,
        history_recorder: HistoryRecorder,
        group: WriterGroup,
        table_session: RaceTableSession,
        operation: Operation,
    ) -> list[StepResult]:
        step = Step(operation)
        history_recorder.begin_step(step)
        found = []
        try:
            for _, result in play([table_session], step):
                found.append(result)
                self._witnesses.take(history_recorder, group, table_session, result)
            history_recorder.played(
                [engine_session.engine for engine_session in table_session.engine_sessions]
            )
        except (FindingError, OSError):
            raise
        except Exception:  # noqa: BLE001 - whatever it is, it says nothing of the engines
            history_recorder.harness_failed([table_session])
        return found
