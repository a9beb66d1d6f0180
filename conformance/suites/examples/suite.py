"""Plays the worked examples: each engine on a table of its own, held to the model and to what is written down.

The files of a step are those that its commits add first; an example says of them which are live, which lie in the
folder as tombstones, and which are gone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pyarrow.parquet as pq

from conformance.checks.formatting import difference
from conformance.engine_pool import Engine, clear
from conformance.execution.engine_session import EngineSession
from conformance.execution.history_recorder import HistoryRecorder
from conformance.execution.table_session import StepResult, TableSession, play
from conformance.findings import FindingError
from conformance.histories import Chunk, Step
from conformance.observations.observation import Observation
from conformance.suites.context import SuiteContext, engine_session_of
from conformance.suites.examples import EXAMPLES, Example, Orphan
from conformance.suites.examples import ExampleStep as Written
from delta_adapters.arrow_rows import to_arrow
from delta_adapters.engine_id import EngineId
from delta_models.log import LogError, Snapshot, paths
from delta_models.operations import Read
from delta_models.requirements import Violation
from delta_models.values import Rows

AS_WRITTEN = "example.as-written"
ORPHAN = "part-00000-0f0f0f0f-0000-4000-8000-00000000abcd-c000.snappy.parquet"


class WorkedExamples:
    """A chunk of examples, a history each."""

    def __init__(self, context: SuiteContext, chunk: Chunk, work: Path) -> None:
        self._dealer = context
        self._chunk = chunk
        self._work = work
        self._ended = 0

    @property
    def complete(self) -> bool:
        """Whether every example came to its end."""
        return self._ended == len(EXAMPLES)

    def play_all(self) -> None:
        """One example after the other."""
        for number, make in enumerate(EXAMPLES.values()):
            if self._dealer.is_over():
                return
            self.play(number, make())
            self._ended += not self._dealer.is_over()

    def play(self, number: int, example: Example) -> None:
        """One example on every engine that claims what it needs."""
        history_recorder = HistoryRecorder(
            self._chunk, number, self._dealer.finding_recorder, self._dealer.tell, features=example.features
        )
        table_sessions = [
            ExampleTableSession(
                self._work / example.name / f"{at}" / "table", engine_session_of(engine), example
            )
            for at, engine in enumerate(self._players(number, example))
        ]
        for table_session in table_sessions:
            history_recorder.take(table_session, table_session.open_all())
        for written in example.steps:
            if self._dealer.is_over():
                break
            history_recorder.begin_step(drawn_form(written))
            playing = [session for session in table_sessions if session.plays]
            try:
                self._step(history_recorder, playing, written)
            except (FindingError, OSError):
                raise
            except Exception:  # noqa: BLE001 - whatever it is, it says nothing of the engines
                history_recorder.harness_failed(table_sessions)
        for table_session in table_sessions:
            history_recorder.take(table_session, table_session.compare_checkpoint())
        history_recorder.close(table_sessions)
        clear(self._work / example.name)

    @staticmethod
    def _step(
        history_recorder: HistoryRecorder, playing: list[ExampleTableSession], written: Written
    ) -> None:
        for table_session, result in play_written(playing, written):
            history_recorder.take(table_session, (result,))
        if playing:
            history_recorder.played(
                engine_session.engine
                for table_session in playing
                for engine_session in table_session.engine_sessions
            )

    def _players(self, number: int, example: Example) -> Iterator[Engine]:
        for engine in self._dealer.playing(self._chunk, number):
            reason = engine.capabilities.covers_features(set(example.features), writing=True)
            operations = [step.operation for step in example.steps if not isinstance(step.operation, Orphan)]
            reasons = [reason, *(engine.capabilities.covers(operation) for operation in operations)]
            missing = next((each for each in reasons if each is not None), None)
            if missing is None:
                yield engine
            else:
                self._dealer.note(f"{engine.name} {missing}: not asked for the example {example.name}")


class ExampleTableSession(TableSession):
    """An engine's table, and which step each of its files came from."""

    def __init__(self, folder: Path, engine_session: EngineSession, example: Example) -> None:
        super().__init__(folder, [engine_session], 0, example.name, looks_around=False)
        self._example = example
        self._born: dict[str, int] = {}
        self._seen: Observation | None = None

    def prepare(self, written: Written) -> None:
        """What the harness itself does before a step: an orphan is a file that no commit names."""
        if isinstance(written.operation, Orphan):
            pq.write_table(to_arrow(Rows(self._example.schema, written.operation.rows)), self.folder / ORPHAN)

    def play(self, step: Step) -> Iterator[StepResult | None]:
        """One step; what was seen last is remembered, and which step added which files."""
        for result in super().play(step):
            if result is not None:
                self._seen = result.seen
                for add in (add for commit in result.seen.commits for add in commit.adds):
                    self._born.setdefault(add.path, result.seen.step)
            yield result

    def compare(self, written: Written) -> Iterator[StepResult]:
        """Hold the table to what is written down for the step that has just been played."""
        if self.plays and self._seen is not None:
            yield self._judged_as_written(list(self._differences(written)))

    def compare_checkpoint(self) -> Iterator[StepResult]:
        """Hold the checkpoint that the engine has made by itself to the state of its version."""
        engine = EngineId.parse(self.engine_sessions[0].engine).name
        version = self._example.checkpoints.get(engine)
        if self.plays and version is not None:
            yield self._judged_as_written(list(self._checkpoint_differences(version)))

    def _judged_as_written(self, differences: list[str]) -> StepResult:
        assert self._seen is not None  # noqa: S101 - the callers have looked
        violations = tuple(Violation(AS_WRITTEN, f"{self._example.name}: {each}") for each in differences)
        return StepResult(self.engine_sessions[0], self._seen, violations, {AS_WRITTEN: 1})

    def _differences(self, written: Written) -> Iterator[str]:
        if self.folder.exists() != written.folder:
            yield f"after {written.says!r} the folder is {'gone' if written.folder else 'still there'}"
        if self.snapshot is None or written.rows is None:
            if (self.snapshot is None) != (written.rows is None):
                yield f"after {written.says!r} there is {'no' if self.snapshot is None else 'still a'} table"
            return
        if written.live is not None:
            wanted = {each.step: (each.files, each.hidden) for each in written.live}
            found = self._live(self.snapshot)
            if wanted != found:
                yield f"after {written.says!r} live are {_told(found)}, written down are {_told(wanted)}"
        live = {add.path for add in self.snapshot.live.values()}
        for step in written.tombstones:
            dead = [each for each, born in self._born.items() if born == step and each not in live]
            if not dead or not all(self._lies_there(each) for each in dead):
                yield f"after {written.says!r} the removed files of step {step} are not all in the folder"
        for step in written.gone:
            left = [each for each, born in self._born.items() if born == step and self._lies_there(each)]
            if left:
                yield f"after {written.says!r} files of step {step} are still in the folder: {', '.join(left)}"

    def _live(self, snapshot: Snapshot) -> dict[int, tuple[int, int]]:
        """By the step that added them: how many files are live, and how many of their rows are hidden."""
        files, hidden = Counter[int](), Counter[int]()
        for add in snapshot.live.values():
            born = self._born.get(add.path, -1)
            files[born] += 1
            hidden[born] += len(self.reader.deleted(add))
        return {step: (files[step], hidden[step]) for step in sorted(files)}

    def _lies_there(self, path: str) -> bool:
        return paths.resolve(self.folder, path).exists()

    def _checkpoint_differences(self, version: int) -> Iterator[str]:
        names = [
            checkpoint
            for checkpoint in self.reader.listing().checkpoints
            if checkpoint.version == version and checkpoint.complete
        ]
        if not names:
            there = sorted({checkpoint.version for checkpoint in self.reader.listing().checkpoints})
            yield f"no checkpoint at version {version}; there are {there or 'none'}"
            return
        try:
            restored = self.reader.replayed(version, names[0])
            rows, wanted = self.reader.rows(restored), self.reader.rows(self.reader.replayed(version, None))
        except LogError as error:
            yield f"the checkpoint at version {version} can't be read: {error}"
            return
        if wrong := difference(wanted, rows):
            yield f"the checkpoint at version {version} holds another state: {wrong}"


def play_written(
    table_sessions: list[ExampleTableSession], written: Written
) -> Iterator[tuple[TableSession, StepResult]]:
    """One step of an example at every desk, with all verdicts on it."""
    for table_session in table_sessions:
        table_session.prepare(written)
    yield from play(table_sessions, drawn_form(written))
    for table_session in table_sessions:
        for result in table_session.compare(written):
            yield table_session, result


def drawn_form(written: Written) -> Step:
    """The step as histories keep it; where the harness itself places a file, engines only look."""
    return Step(Read() if isinstance(written.operation, Orphan) else written.operation)


def _told(files: dict[int, tuple[int, int]]) -> str:
    parts = [
        f"{count} of step {step}" + (f" with {hidden} hidden rows" if hidden else "")
        for step, (count, hidden) in files.items()
    ]
    return ", ".join(parts) or "none"
