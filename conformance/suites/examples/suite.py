"""The suite of worked examples: each engine at a table of its own, held to the model and to what is written down.

The files of a step are those that its commits add first; an example says of them which are live, which lie in the
folder as tombstones, and which are gone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pyarrow.parquet as pq

from conformance.checks.formatting import difference
from conformance.engine_pool import Engine, clear
from conformance.execution.engine_session import EngineSession
from conformance.execution.history_recorder import HistoryRecorder
from conformance.execution.step_result import StepResult
from conformance.execution.table_session import TableSession, execute_step
from conformance.histories import Chunk, Step
from conformance.observations.observation import Observation
from conformance.suites.base import engines_at, play_step
from conformance.suites.context import SuiteContext, engine_session_of
from conformance.suites.examples import EXAMPLES, Example, ExampleStep, Orphan
from delta_adapters.arrow_rows import to_arrow
from delta_adapters.engine_id import EngineId
from delta_models.log import LogError, Snapshot, paths
from delta_models.operations import Read
from delta_models.requirements import Violation
from delta_models.values import Rows

AS_WRITTEN = "example.as-written"
ORPHAN = "part-00000-0f0f0f0f-0000-4000-8000-00000000abcd-c000.snappy.parquet"


class WorkedExamples:
    """A chunk of examples, one history each."""

    def __init__(self, context: SuiteContext, chunk: Chunk, work: Path) -> None:
        self._context = context
        self._chunk = chunk
        self._work = work
        self._ended = 0

    @property
    def complete(self) -> bool:
        """Whether every example was played to its end."""
        return self._ended == len(EXAMPLES if self._chunk.part is None else self._chunk.part)

    def play_all(self) -> None:
        """Play one example after the other."""
        for number, make in enumerate(EXAMPLES.values()):
            if self._context.is_over():
                return
            if self._chunk.part is not None and number not in self._chunk.part:
                continue
            self.play(number, make())
            self._ended += not self._context.is_over()

    def play(self, number: int, example: Example) -> None:
        """Play one example on every engine that claims what it needs."""
        history_recorder = HistoryRecorder(
            self._chunk, number, self._context.finding_recorder, self._context.emit, features=example.features
        )
        example_tables = [
            ExampleTable(
                TableSession(
                    self._work / example.name / f"{position}" / "table",
                    [engine_session_of(engine)],
                    0,
                    example.name,
                    extra_reads=False,
                ),
                example,
            )
            for position, engine in enumerate(self._engines_for(number, example))
        ]
        table_sessions = [table.table_session for table in example_tables]
        for table_session in table_sessions:
            history_recorder.take(table_session, table_session.open_all())
        for written in example.steps:
            if self._context.is_over():
                break
            self._play_step(history_recorder, example_tables, written)
        for table in example_tables:
            history_recorder.take(table.table_session, table.compare_checkpoint())
        history_recorder.close(table_sessions)
        clear(self._work / example.name)

    @staticmethod
    def _play_step(
        history_recorder: HistoryRecorder, example_tables: list[ExampleTable], written: ExampleStep
    ) -> None:
        playing = [table for table in example_tables if table.table_session.plays]
        play_step(
            history_recorder,
            drawn_form(written),
            [table.table_session for table in example_tables],
            lambda: execute_written(playing, written, history_recorder.take),
            engines_at(table.table_session for table in playing),
        )

    def _engines_for(self, number: int, example: Example) -> Iterator[Engine]:
        for engine in self._context.running_engines_of(self._chunk, number):
            reasons = [engine.capabilities.covers_features(set(example.features), writing=True)]
            reasons += [
                engine.capabilities.covers(step.operation)
                for step in example.steps
                if not isinstance(step.operation, Orphan)
            ]
            reason = next((reason for reason in reasons if reason is not None), None)
            if reason is None:
                yield engine
            else:
                self._context.note(f"{engine.name} {reason}: not asked for the example {example.name}")


class ExampleTable:
    """An engine's table in an example, and which step each of its files came from."""

    def __init__(self, table_session: TableSession, example: Example) -> None:
        self.table_session = table_session
        self._example = example
        self._born: dict[str, int] = {}
        self._last: Observation | None = None
        self._differs = False

    def prepare(self, written: ExampleStep) -> None:
        """Do what the harness itself does before a step: it writes an orphan, a file that no commit names."""
        if isinstance(written.operation, Orphan):
            rows = Rows(self._example.schema, written.operation.rows)
            pq.write_table(to_arrow(rows), self.table_session.folder / ORPHAN)

    def note(self, step_results: Sequence[StepResult]) -> None:
        """Note what was observed last, and which step added which files."""
        for step_result in step_results:
            self._last = step_result.observation
            for add in (add for commit in self._last.commits for add in commit.adds):
                self._born.setdefault(add.path, self._last.step)

    def compare(self, written: ExampleStep) -> list[StepResult]:
        """Compare the table with what is written down for the step that has just been executed.

        The first difference ends it: other files at one step are other files at the steps behind it, by the same cause.
        """
        if not self.table_session.plays or self._last is None or self._differs:
            return []
        judged = self._judge_as_written(self._last, self._differences(written))
        self._differs = bool(judged.violations)
        return [judged]

    def compare_checkpoint(self) -> list[StepResult]:
        """Compare the checkpoint that the engine has made by itself with the state of its version."""
        version = self._example.checkpoints.get(EngineId.parse(self._engine_session.engine).name)
        if not self.table_session.plays or version is None or self._last is None:
            return []
        return [self._judge_as_written(self._last, self._checkpoint_differences(version))]

    @property
    def _engine_session(self) -> EngineSession:
        return self.table_session.engine_sessions[0]

    def _judge_as_written(self, observation: Observation, differences: Iterator[str]) -> StepResult:
        violations = tuple(
            Violation(AS_WRITTEN, f"{self._example.name}: {difference}") for difference in differences
        )
        return StepResult(self._engine_session, observation, violations, {AS_WRITTEN: 1})

    def _differences(self, written: ExampleStep) -> Iterator[str]:
        if self.table_session.folder.exists() != written.folder:
            yield f"after {written.says!r} the folder is {'gone' if written.folder else 'still there'}"
        snapshot = self.table_session.log.snapshot
        if snapshot is None or written.rows is None:
            if (snapshot is None) != (written.rows is None):
                yield f"after {written.says!r} there is {'no' if snapshot is None else 'still a'} table"
            return
        promises_vectors = self._engine_session.capabilities.guarantees.get("deletion-vectors", False)
        layouts = [
            {live.step: (live.files, live.hidden) for live in layout}
            for layout in written.layouts(promises_vectors=promises_vectors)
        ]
        counted = self._count_live(snapshot)
        if layouts and counted not in layouts:
            wanted = ", or ".join(map(_in_words, layouts))
            yield f"after {written.says!r} live are {_in_words(counted)}, written down are {wanted}"
        live_paths = {add.path for add in snapshot.live.values()}
        for step in written.tombstones:
            dead = [path for path, born in self._born.items() if born == step and path not in live_paths]
            if not dead or not all(self._is_in_folder(path) for path in dead):
                yield f"after {written.says!r} the removed files of step {step} are not all in the folder"
        for step in written.gone:
            left = [path for path, born in self._born.items() if born == step and self._is_in_folder(path)]
            if left:
                yield f"after {written.says!r} files of step {step} are still in the folder: {', '.join(left)}"

    def _count_live(self, snapshot: Snapshot) -> dict[int, tuple[int, int]]:
        """By the step that added them: how many files are live, and how many of their rows are hidden."""
        files, hidden = Counter[int](), Counter[int]()
        for add in snapshot.live.values():
            born = self._born.get(add.path, -1)
            files[born] += 1
            hidden[born] += len(self.table_session.log.reader.deleted(add))
        return {step: (files[step], hidden[step]) for step in sorted(files)}

    def _is_in_folder(self, path: str) -> bool:
        return paths.resolve(self.table_session.folder, path).exists()

    def _checkpoint_differences(self, version: int) -> Iterator[str]:
        reader = self.table_session.log.reader
        checkpoints = reader.listing().checkpoints
        complete = [
            checkpoint for checkpoint in checkpoints if checkpoint.version == version and checkpoint.complete
        ]
        if not complete:
            there = sorted({checkpoint.version for checkpoint in checkpoints})
            yield f"no checkpoint at version {version}; there are {there or 'none'}"
            return
        try:
            restored = reader.replay_from(version, complete[0])
            rows, wanted = reader.rows(restored), reader.rows(reader.replay_from(version, None))
        except LogError as error:
            yield f"the checkpoint at version {version} can't be read: {error}"
            return
        if wrong := difference(wanted, rows):
            yield f"the checkpoint at version {version} holds another state: {wrong}"


def execute_written(
    example_tables: Sequence[ExampleTable],
    written: ExampleStep,
    record: Callable[[TableSession, list[StepResult]], object],
) -> None:
    """Execute one step of an example, compare the tables with what is written down, and record the results."""
    by_session = {table.table_session: table for table in example_tables}

    def note_and_record(table_session: TableSession, step_results: list[StepResult]) -> None:
        by_session[table_session].note(step_results)
        record(table_session, step_results)

    for table in example_tables:
        table.prepare(written)
    execute_step(list(by_session), drawn_form(written), note_and_record)
    for table in example_tables:
        record(table.table_session, table.compare(written))


def drawn_form(written: ExampleStep) -> Step:
    """The step as histories keep it; where the harness itself writes a file, engines only read."""
    return Step(Read() if isinstance(written.operation, Orphan) else written.operation)


def _in_words(files: dict[int, tuple[int, int]]) -> str:
    parts = [
        f"{count} of step {step}" + (f" with {hidden} hidden rows" if hidden else "")
        for step, (count, hidden) in files.items()
    ]
    return ", ".join(parts) or "none"
