"""A finding's history gets as small as it can, keeps its kind of failure, and goes on where it was stopped."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import pytest

from conformance.execution.step_result import StepResult
from conformance.histories import History, Step
from conformance.triage.model_play import play_on_model
from conformance.triage.replayer import Playthrough, Replayer, Setup
from conformance.triage.shrink import Progress, Shrinker, Shrunk, shrink
from delta_adapters.contract import Answer
from delta_adapters.reference import Reference
from delta_models.expressions import And, Column, Compare, IsNull, Literal, columns_of
from delta_models.operations import (
    AddColumn,
    Append,
    AtState,
    Checkpoint,
    Create,
    Delete,
    Operation,
    Optimize,
    Overwrite,
    Read,
    Reopen,
    SetProperties,
    Update,
)
from delta_models.requirements import Violation
from delta_models.schema import DOUBLE, LONG, STRING, Field, struct
from delta_models.values import Rows
from tests.mutants.reads import BendsAnswers, CannotTravel, SkipsWrongly
from tests.mutants.wrappers import WrongDraft
from tests.triage.in_process import NAME, find, history_of, replayer_of

SCHEMA = struct(("id", LONG), ("when told", DOUBLE), ("name", STRING), ("part", STRING))
FIRST = ((1, 1.5, "a", "x"), (2, None, 'say "x"', "y"), (30_000_000_007, 2.5, None, "x"))  # fmt: skip
SECOND = ((4, -1.0, "d", "x"), (5, 1e300, "e", None))
ID = Column(("id",))


def long_history(*last: Operation, seed: int = 1) -> History:
    return history_of(
        Create(SCHEMA, partition_by=("part",), properties=(("delta.checkpointInterval", "3"),)),
        Append(Rows(SCHEMA, FIRST), files=2),
        Reopen(),
        Update((("when told", Literal(DOUBLE, 1.0)),)),
        SetProperties((("delta.appendOnly", "false"),)),
        Append(Rows(SCHEMA, SECOND)),
        Checkpoint(),
        Read(AtState(1)),
        AddColumn(Field("more", LONG)),
        Optimize(),
        *last,
        Reopen(),
        seed=seed,
    )


def shrunk(finding, replayer, seconds: float = 60.0, **options) -> Shrunk:
    return shrink(finding, replayer, deadline=time.monotonic() + seconds, **options)


def kinds(history: History) -> list[str]:
    return [type(step.operation).__name__ for step in history.steps]


class Counting:
    """A replayer that notes what it plays."""

    def __init__(self, replayer: Replayer) -> None:
        self.replayer = replayer
        self.played: list[History] = []

    def play(self, history: History, *arguments, **options) -> Playthrough:
        self.played.append(history)
        return self.replayer.play(history, *arguments, **options)


def test_a_long_history_shrinks_to_the_steps_rows_and_columns_that_matter():
    with replayer_of(SkipsWrongly) as replayer:
        where = And((Compare(">=", ID, Literal(LONG, 2)), IsNull(Column(("name",)))))
        finding = find(replayer, long_history(Read(where=where)), "read.filter")
        assert finding.step == 10
        result = shrunk(finding, replayer)
    assert result.complete
    assert kinds(result.history) == ["Create", "Append", "Read"]
    create, append, read = (step.operation for step in result.history.steps)
    assert create == Create(struct(("c0", LONG)))
    assert append == Append(Rows(struct(("c0", LONG)), ((None,),)))
    assert read == Read(where=IsNull(Column(("c0",))))
    assert result.requirements[0] == "read.filter"
    assert (result.step, len(result.history.steps)) == (2, 3)
    assert result.detail == "0 rows instead of 1; missing (NULL)"


def test_a_violation_that_an_added_read_has_shown_is_found_again_when_steps_go():
    steps = long_history(Delete(Compare("=", ID, Literal(LONG, 99)))).steps[:-1]
    found = 0
    for seed in range(30):
        history = replace(history_of(*steps, *[Reopen() for _ in range(6)]), seed=seed)
        with replayer_of(CannotTravel) as replayer:
            try:
                finding = find(replayer, replace(history, steps=history.steps[:7]), "read.succeeds")
            except StopIteration:
                continue
            found += 1
            result = shrunk(finding, replayer)
        assert result.history.explicit_reads
        assert kinds(result.history)[-1] == "Read"
        assert len(result.history.steps) <= 3
        if found == 2:
            return
    assert found, "no seed adds a read of an earlier state"


class LosesAndDoubles(BendsAnswers):
    """A filter by an amount loses a row, one by a name doubles rows."""

    def bend(self, read, answer):
        if read.where is None:
            return answer
        import pyarrow as pa  # noqa: PLC0415 - of this engine only

        doubled = pa.concat_tables([answer.table, answer.table])
        names = {column.name for column in columns_of(read.where)}
        if "when told" in names:
            return Answer(answer.table.slice(1), answer.version)
        return Answer(doubled, answer.version) if "name" in names else answer


def test_one_fault_does_not_turn_into_another_of_the_same_requirement():
    lost = Read(where=Compare(">", Column(("when told",)), Literal(DOUBLE, 0.0)))
    with replayer_of(LosesAndDoubles) as replayer:
        doubling = Read(where=Compare("!=", Column(("name",)), Literal(STRING, "q")))
        losing = find(replayer, long_history(lost), "read.filter")
        doubled = find(replayer, long_history(doubling), "read.filter")
        first, second = shrunk(losing, replayer), shrunk(doubled, replayer)
    assert "missing" in first.detail
    assert "when told" in str(first.history)
    assert "not expected" in second.detail
    assert "name" in str(second.history.steps[-1])


def test_a_violation_that_is_unwanted_does_not_count():
    def with_nulls_alone(_: StepResult, __: Violation, history: History) -> bool:
        return len(history.steps) < 5

    with replayer_of(SkipsWrongly) as replayer:
        finding = find(replayer, long_history(Read(where=IsNull(Column(("name",))))), "read.filter")
        result = shrunk(finding, replayer, unwanted=with_nulls_alone)
    assert len(result.history.steps) == 5


def test_no_candidate_is_played_that_the_model_refuses():
    with replayer_of(SkipsWrongly) as replayer:
        finding = find(replayer, long_history(Read(where=IsNull(Column(("name",))))), "read.filter")
        counting = Counting(replayer)
        result = shrunk(finding, counting)
    original = play_on_model(finding.history.steps)
    assert original is not None
    assert len(counting.played) == result.steps_tried > 5
    for history in counting.played[1:]:
        played = play_on_model(history.steps)
        assert played is not None
        assert played.is_legal_beside(original)
    texts = [json.dumps(history.to_json()) for history in counting.played[1:-1]]
    assert len(set(texts)) == len(texts), "nothing is tried twice"


class FailsOnce(Reference):
    """Reads wrongly in the first play only."""

    reads = 0

    def read(self, read):
        answer = super().read(read)
        FailsOnce.reads += 1
        if isinstance(answer, Answer) and answer.table.num_rows and FailsOnce.reads < 4:
            return Answer(answer.table.slice(1), answer.version)
        return answer


def test_what_does_not_show_again_is_said_and_the_original_stays():
    FailsOnce.reads = 0
    with replayer_of(FailsOnce) as replayer:
        finding = find(replayer, long_history(), "read.latest")
        FailsOnce.reads = 99
        result = shrunk(finding, replayer)
    assert not result.reproduced
    assert result.history == finding.history
    assert result.why == "it does not show again, its 11 steps hold"


def test_a_shrinker_that_was_stopped_goes_on_from_its_state(tmp_path: Path):
    state = tmp_path / "shrink.json"
    with replayer_of(SkipsWrongly) as replayer:
        finding = find(replayer, long_history(Read(where=IsNull(Column(("name",))))), "read.filter")
        whole = shrunk(finding, replayer)

        class Stops(Counting):
            def play(self, history, *arguments, **options):
                if len(self.played) == 6:
                    raise KeyboardInterrupt
                return super().play(history, *arguments, **options)

        stopping = Shrinker(finding, Stops(replayer), deadline=time.monotonic() + 60, state=state)
        with pytest.raises(KeyboardInterrupt):
            stopping.run()
        reached = stopping.result()
        assert not reached.complete
        assert len(reached.history.steps) < len(finding.history.steps)
        assert json.loads(state.read_text())["tries"] == 7

        counting = Counting(replayer)
        again = shrunk(finding, counting, state=state)
        assert again.history == whole.history
        assert again.complete
        assert len(counting.played) < whole.steps_tried
        assert len(counting.played[0].steps) <= len(reached.history.steps)

        counting.played.clear()
        assert shrunk(finding, counting, state=state).history == whole.history
        assert not counting.played, "nothing is left to try"


DAMAGES = {
    "cut off": lambda text: text[:40],
    "another form": lambda _: "[]",
    "another format": lambda text: text.replace('"format": 1', '"format": 9', 1),
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_a_damaged_state_costs_the_work_and_no_more(tmp_path: Path, damage):
    state = tmp_path / "shrink.json"
    with replayer_of(SkipsWrongly) as replayer:
        finding = find(replayer, long_history(Read(where=IsNull(Column(("name",))))), "read.filter")
        whole = shrunk(finding, replayer, state=state)
        state.write_text(damage(state.read_text()))
        again = shrunk(finding, replayer, state=state)
    assert (again.history, again.steps_tried) == (whole.history, whole.steps_tried)


def test_the_state_of_another_version_is_not_gone_on_with(tmp_path: Path):
    state = tmp_path / "shrink.json"
    with replayer_of(SkipsWrongly) as replayer:
        finding = find(replayer, long_history(Read(where=IsNull(Column(("name",))))), "read.filter")
        whole = shrunk(finding, replayer, state=state)
        hosts: Any = replayer._hosts
        hosts.engines["reference@2"] = replayer.engine(NAME)
        other = replace(finding, versions={**finding.versions, NAME: "reference@2"})
        counting = Counting(replayer)
        shrunk(other, counting, state=state)
    assert len(counting.played) == whole.steps_tried


def test_a_shrinker_keeps_to_its_deadline_and_says_what_it_left():
    with replayer_of(SkipsWrongly) as replayer:
        finding = find(replayer, long_history(Read(where=IsNull(Column(("name",))))), "read.filter")
        progress: list[Progress] = []
        began = time.monotonic()
        result = shrunk(finding, replayer, 0.0, on_progress=progress.append)
        assert time.monotonic() - began < 30
    assert not result.complete
    assert result.reproduced
    assert result.steps_tried == len(progress) == 1
    assert progress[-1].left == 0


class AddsARow(WrongDraft):
    """An overwrite keeps one of the old rows."""

    kind = Overwrite

    def draft(self, operation, snapshot, before, after):
        if isinstance(operation, Overwrite) and before.rows:
            after = after.with_rows((*after.rows, before.rows[0]))
        return Reference.draft(self, operation, snapshot, before, after)


def shared_history(*last: Step) -> History:
    schema = struct(("id", LONG), ("name", STRING))
    return history_of(
        Step(Create(schema), "A"),
        Step(Append(Rows(schema, ((1, "a"),))), "B"),
        Step(Append(Rows(schema, ((2, "b"),))), "A"),
        Step(Optimize(), "B"),
        Step(Append(Rows(schema, ((3, None),))), "B"),
        *last,
        suite="shared",
    )


def test_a_writer_of_a_shared_table_is_left_alone_with_its_fault():
    engines = (NAME, "other-1@1.0")
    with replayer_of(Reference, AddsARow) as replayer:
        schema = struct(("id", LONG), ("name", STRING))
        history = shared_history(Step(Overwrite(Rows(schema, ((9, "z"),))), "B"))
        finding = find(replayer, history, "contents.overwrite", engines)
        assert finding.engine == "other-1@1.0"
        result = shrunk(finding, replayer)
    assert result.history.suite == "lockstep"
    assert kinds(result.history) == ["Create", "Append", "Overwrite"]
    assert Setup.of(finding, result.history).engines == ("other-1@1.0",)


class NeedsAnother(Reference):
    """Misses rows in files that it has not written itself."""

    def scan(self, snapshot, read):
        whole = super().scan(snapshot, read)
        own = {path.name for path in self.folder.rglob("*.parquet")} & self.own
        return whole if len(own) == len(snapshot.live) else Rows(whole.schema, whole.rows[1:])

    own: ClassVar[set[str]] = set()

    def write(self, *arguments, **options):
        before = {path.name for path in self.folder.rglob("*.parquet")}
        forms = super().write(*arguments, **options)
        type(self).own |= {path.name for path in self.folder.rglob("*.parquet")} - before
        return forms


def test_a_reader_of_a_shared_table_keeps_the_writer_that_it_needs():
    engines = (NAME, "other-1@1.0")

    with replayer_of(Reference, NeedsAnother) as replayer:
        finding = find(replayer, shared_history(), "read.latest", engines)
        assert finding.engine == "other-1@1.0"
        result = shrunk(finding, replayer)
    assert result.history.suite == "shared"
    assert kinds(result.history) == ["Create", "Append"]
    assert result.history.steps[-1].slot == "A"
    assert Setup.of(finding, result.history).engines == engines


class TooSlow:
    """A replayer whose engines answer after the deadline."""

    def play(self, *_: object, **__: object) -> Playthrough:
        return Playthrough((), 0)


@pytest.mark.parametrize("suite", ("lockstep", "crashes", "races"))
def test_what_has_no_time_for_its_first_play_is_not_shrunk_and_goes_on_later(suite):
    with replayer_of(SkipsWrongly) as replayer:
        finding = find(replayer, long_history(Read(where=IsNull(Column(("name",))))), "read.filter")
    finding = replace(finding, history=replace(finding.history, suite=suite))
    result = shrink(finding, TooSlow(), deadline=time.monotonic() - 1)
    assert (result.reproduced, result.complete) == (False, False)
    assert result.why == "there was no time to play it again"
