"""Plays histories again and again, each at a table of its own, on hosts that stay.

    with Replayer(work) as replayer:
        playthrough = replayer.play(finding.history, Setup.of(finding), until=is_it)

There is one player for all that triage does: `replay`, shrinking, explaining and bisecting. The hosts are the
replayer's own, started when first needed, or those of a worker (`Replayer.in_worker`), which are warm already.
"""

from __future__ import annotations

import tempfile
import time
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Self

from conformance.engine_pool import Engine, clear
from conformance.execution.engine_session import EngineSession
from conformance.execution.step_result import StepResult
from conformance.execution.table_session import TableSession
from conformance.findings.storage import Finding
from conformance.generation import SLOTS
from conformance.histories import History
from conformance.suites.context import SuiteContext, engine_session_of
from conformance.suites.crashes.session import CrashTableSession
from conformance.suites.examples.judge import ExampleJudge
from conformance.suites.races.session import RaceTableSession
from conformance.triage.hosts import CannotRun, Hosts, OwnHosts, WorkerHosts
from delta_adapters.engine_id import EngineId
from delta_adapters.registry import EngineSpec
from delta_models.operations import Interleave, Read
from delta_models.requirements import Violation

SHARED, CRASHES, RACES = "shared", "crashes", "races"
OVERLAP = "overlap="
DEAD_STARTS = 3  # plays in a row in which an engine is lost before the first step

Until = Callable[[StepResult, Violation], bool]


@dataclass(frozen=True, slots=True)
class Setup:
    """Who sits at the table: the identities of the engines in the order of the slots. Twins in a race are named twice.

    `specs` maps an identity to the text that starts the engine. `processes` and `overlap` are those of a race.
    """

    suite: str
    engines: tuple[str, ...]
    specs: Mapping[str, str] = field(default_factory=dict)
    processes: str = "one"
    overlap: str = ""

    @classmethod
    def of(cls, finding: Finding, history: History | None = None) -> Setup:
        """The setup of a finding's run, for its own history or for a smaller one.

        Where the history has become one of a single engine, that of the finding sits alone at the table; where it uses
        fewer slots, engines that no step needs are left out. How the operations of a smaller race overlap, the model
        finds out: it need not be as in the race that it was made of.
        """
        history = finding.history if history is None else history
        engines = _engines(finding, history)
        options = (option for option in finding.key.options if option.startswith(OVERLAP))
        overlap = next(options, OVERLAP + "table").removeprefix(OVERLAP) if history == finding.history else ""
        return cls(
            history.suite,
            engines,
            {engine: finding.versions.get(engine, engine) for engine in engines},
            finding.processes,
            overlap,
        )

    def with_engine(self, name: str, spec: str) -> Setup:
        """The same table with another version or build in place of the engine of this name."""
        return replace(
            self,
            specs={
                engine: spec if EngineId.parse(engine).name == name else self.specs.get(engine, engine)
                for engine in self.engines
            },
        )

    def spec_of(self, engine: str) -> str:
        """The text that starts an engine of this table."""
        return self.specs.get(engine, engine)


@dataclass(frozen=True, slots=True)
class Playthrough:
    """What was observed when a history was played once.

    `failures` say why the schedule of a race could not be followed. `error` is the harness' own; then the results say
    nothing. The table stays in place until the next play.
    """

    results: tuple[StepResult, ...]
    steps_played: int
    failures: tuple[str, ...] = ()
    error: str | None = None

    def violations(self, engine_name: str) -> Iterator[tuple[StepResult, Violation]]:
        """The violations by an engine, in any version."""
        for step_result in self.results:
            if EngineId.parse(step_result.observation.engine).name == engine_name:
                for violation in step_result.violations:
                    yield step_result, violation


class Replayer:
    """Plays histories again and again. It is a context manager."""

    def __init__(
        self,
        work: Path | None = None,
        specs: Iterable[EngineSpec] = (),
        *,
        hosts: Hosts | None = None,
    ) -> None:
        """Make a replayer with hosts of its own below `work`, unless it is given others.

        `specs` are engines that a setup may name by their text; others are found by `parse_engine`.
        """
        self._temporary = tempfile.TemporaryDirectory(prefix="conformance-replay-") if work is None else None
        self._work = Path(self._temporary.name) if self._temporary is not None else work or Path()
        self._hosts: Hosts = OwnHosts(self._work / "hosts", specs) if hosts is None else hosts
        self._plays = 0
        self._dead_starts = 0

    @classmethod
    def in_worker(cls, context: SuiteContext, work: Path) -> Self:
        """A replayer on the warm hosts of a worker, which stay when it is closed."""
        return cls(work, hosts=WorkerHosts(context))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the hosts that were started here, and remove the tables."""
        self._hosts.close()
        clear(self._work / "tables")
        if self._temporary is not None:
            self._temporary.cleanup()

    @property
    def plays(self) -> int:
        """How many histories were played."""
        return self._plays

    def engine(self, spec: str) -> Engine:
        """A running engine, outside of any play. Raises CannotRun."""
        return self._hosts.engine(spec)

    def start(self, setup: Setup) -> None:
        """Start the engines of a setup, so that no play waits for them. Raises CannotRun."""
        specs = [setup.spec_of(engine) for engine in setup.engines]
        if setup.suite in {CRASHES, RACES}:
            self._hosts.instrumented(specs)
            return
        for spec in specs:
            self._hosts.engine(spec)

    def play(
        self,
        history: History,
        setup: Setup,
        *,
        until: Until | None = None,
        extra_reads: bool | None = None,
        reads: bool = True,
        deadline: float | None = None,
    ) -> Playthrough:
        """Play a history at a fresh table, up to the step that gives the violation that `until` waits for.

        The reads that a run adds to the steps are made again, unless the history says that its reads are all steps, or
        `extra_reads` says otherwise. Without `reads` no engine is asked anything, and the log alone is judged. Faults
        and races have reads all the same, which belong to how they are judged. After the `deadline`, by the monotonic
        clock, no further step is begun.
        Raises CannotRun if an engine can't take part.
        """
        self._plays += 1
        tables = self._work / "tables"
        clear(tables)
        folder = tables / str(self._plays) / "table"
        table_session = self._table_session(history, setup, folder, extra_reads, reads=reads)
        results: list[StepResult] = []
        played, error = 0, None
        try:
            results += table_session.open_all()
            self._count_dead_starts(table_session, results)
            judge = ExampleJudge.of(history, table_session)
            for step in history.steps:
                late = deadline is not None and time.monotonic() >= deadline
                if late or _reached(results, until):
                    break
                if table_session.plays:
                    results += (
                        judge.execute(step, table_session.execute) if judge else table_session.execute(step)
                    )
                elif history.explicit_reads and isinstance(step.operation, Read):
                    results += table_session.read_after_violation(step)
                else:
                    break
                played += 1
        except CannotRun:
            raise
        except Exception as problem:  # noqa: BLE001 - whatever it is, it says nothing of the engines
            error = "".join(traceback.format_exception(problem))
            for engine_session in table_session.slots:
                if engine_session.host.busy:
                    engine_session.host.kill()  # it still owes an answer that nobody waits for
        races = [
            result.observation.race
            for result in results
            if result.observation.race and result.observation.wrote
        ]
        failures = tuple(dict.fromkeys(why for race in races for why in race.failures))
        return Playthrough(tuple(results), played, failures, error)

    def _count_dead_starts(self, table_session: TableSession, results: Sequence[StepResult]) -> None:
        """Raise CannotRun if an engine is lost again and again before it was asked anything."""
        self._dead_starts = self._dead_starts + 1 if results else 0
        if self._dead_starts >= DEAD_STARTS:
            lost = results[0]
            tail = lost.engine_session.host.stderr_tail().strip().splitlines()
            why = lost.violations[0].detail if lost.violations else table_session.left
            raise CannotRun(
                f"{lost.engine_session.engine} can't open a table, {self._dead_starts} times in a row: {why}"
                + (f"\n{tail[-1]}" if tail else "")
            )

    def _table_session(
        self, history: History, setup: Setup, folder: Path, extra_reads: bool | None, *, reads: bool
    ) -> TableSession:
        tag = "replay"
        specs = [setup.spec_of(engine) for engine in setup.engines]
        if setup.suite not in {CRASHES, RACES}:
            wanted = not history.explicit_reads if extra_reads is None else extra_reads
            seated = [engine_session_of(self._hosts.engine(spec)) for spec in specs]
            return TableSession(folder, _apart(seated), history.seed, tag, extra_reads=wanted, reads=reads)
        players, instrumented_engines = self._hosts.instrumented(specs)
        engine_sessions = [engine_session_of(player.engine) for player in players]
        if setup.suite == CRASHES:
            return CrashTableSession(
                folder, engine_sessions, players[0].instrumented_process, history.seed, tag
            )
        return RaceTableSession(
            folder,
            engine_sessions,
            [player.instrumented_process for player in players],
            instrumented_engines.turnstile,
            tag,
            processes=setup.processes,
            overlap=setup.overlap,
        )


def _engines(finding: Finding, history: History) -> tuple[str, ...]:
    """The engines at the table of a finding, in the order of its slots."""
    if history.suite not in {finding.suite, CRASHES, RACES}:
        return (finding.engine,)
    bound = [finding.slots[slot] for slot in SLOTS if slot in finding.slots]
    if finding.suite == RACES:
        return tuple(bound[: _writers(history)])  # twins are two
    seated = [engine for engine in finding.versions if EngineId.parse(engine).version]
    engines = tuple(dict.fromkeys((*bound, *seated, finding.engine)))
    if finding.suite == SHARED and history.explicit_reads:
        used = [SLOTS.index(slot) for step in history.steps for slot in (step.slot, step.by) if slot]
        most = max([engines.index(finding.engine), *used])
        return engines[: most + 1]
    return engines


def _writers(history: History) -> int:
    """How many writers take part in the races of a history."""
    races = (step.operation for step in history.steps if isinstance(step.operation, Interleave))
    return 1 + max((owner for race in races for owner in race.owners), default=1)


def _apart(engine_sessions: Sequence[EngineSession]) -> list[EngineSession]:
    """One session for each engine: one that has become the same build as another is seated once."""
    return list({session.engine: session for session in reversed(engine_sessions)}.values())[::-1]


def _reached(results: Sequence[StepResult], until: Until | None) -> bool:
    return until is not None and any(
        until(result, violation) for result in results for violation in result.violations
    )
