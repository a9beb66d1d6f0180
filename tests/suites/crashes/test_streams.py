"""Streams under faults: an interrupted stream writes every row once, and its reader sees every row once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from conformance.histories import History, Step
from conformance.observations.recovery_state import AFTER, BEFORE
from conformance.suites.crashes.scenarios import FOLLOWED, SCHEMA, TOLD, rows
from delta_adapters.deviations import Cause, all_causes
from delta_models.operations import (
    AdvanceClock,
    Append,
    Create,
    DeadTableAt,
    KillAt,
    LoseReplyAt,
    Operation,
    Optimize,
    ReadStream,
    Reopen,
    Vacuum,
    WriteStream,
)
from tests.adapters.deviations.shown import assert_shown
from tests.suites.crashes.conftest import HistoryResult, Stage

KNOWN = [
    cause for cause in all_causes() if (cause.engine, cause.history["suite"]) == ("delta-spark", "crashes")
]
TAILED = ReadStream("rows")
BEFORE_IT = (Create(SCHEMA, partition_by=("part",)), Append(rows(1, 2)), TAILED)
AFTERWARDS = (WriteStream(rows(30)), TAILED)
# The stream is interrupted before the table's commit, or between it and the commit of its own progress.
CUTS: dict[str, tuple[Operation, str]] = {
    "before": (DeadTableAt("commit"), BEFORE),
    "between": (DeadTableAt("stream-done-staging"), AFTER),
    "killed-between": (KillAt("commit", "after"), AFTER),
}


def written_once(stage: Stage, cut: str, folder: Path) -> None:
    """Interrupt a stream and restart it; assert that the table and a reader of it have every row once."""
    fault, state = CUTS[cut]
    result = stage.play(folder, *BEFORE_IT, fault, WriteStream(rows(20, 21)))
    (fault_context,) = [
        step_result.observation.fault_context
        for step_result in result.step_results
        if step_result.observation.fault_context is not None
    ]
    assert fault_context.found is not None
    assert (
        result.table_session.struck,
        result.table_session.missed,
        fault_context.found.state,
    ) == (
        1,
        0,
        state,
    ), str(result)
    assert done(result) == []
    for afterward in AFTERWARDS:
        result.step_results += result.table_session.execute(Step(afterward))
    assert result.broken == set(), str(result)
    assert done(result) == ["0", "1"]
    assert sorted(row[0] for row in result.table_session.model_history.table.rows) == [
        1,
        2,
        20,
        21,
        30,
    ]
    assert result.evidence["stream.written-once"] == result.evidence["stream.all-written"] == 1
    assert result.evidence["stream.each-row-once"] == result.evidence["stream.none-lost"] == 2


def done(result: HistoryResult) -> list[str]:
    """Return the numbers of the batches that the stream recorded as done."""
    return sorted(path.name for path in result.table_session.folder.glob("_checkpoints/pour/commits/[0-9]*"))


@pytest.fixture(scope="session")
def reference(instrumented_engines) -> Stage:
    player = instrumented_engines.get("reference")
    assert player is not None
    return Stage(player)


@pytest.fixture(scope="module")
def delta_spark(instrumented_engines) -> Iterator[Stage]:
    player = instrumented_engines.get("delta-spark")
    assert player is not None
    yield Stage(player)
    assert player.engine.host is not None
    player.engine.host.kill()


@pytest.mark.parametrize("cut", CUTS)
def test_the_honest_engine_writes_a_batch_once(reference: Stage, cut: str, tmp_path: Path):
    written_once(reference, cut, tmp_path)


@pytest.mark.slow
def test_delta_spark_writes_a_batch_once(delta_spark: Stage, tmp_path: Path):
    written_once(delta_spark, "killed-between", tmp_path)  # the other cuts: `streams` in the profile nightly


@pytest.mark.slow
@pytest.mark.parametrize("cause", KNOWN, ids=lambda cause: cause.id)
def test_the_minimal_history_of_a_cause_still_shows_it(delta_spark: Stage, cause: Cause, tmp_path: Path):
    history = History.from_json(cause.history)
    result = delta_spark.play(tmp_path, *(step.operation for step in history.steps))
    assert_shown(cause, result.step_results, ())


def test_a_stream_without_new_rows_is_only_brought_up_to_date(reference: Stage, tmp_path: Path):
    fault, _ = CUTS["between"]
    result = reference.play(
        tmp_path, *BEFORE_IT[:2], fault, WriteStream(rows(20)), WriteStream(rows()), WriteStream(rows())
    )
    assert result.broken == set(), str(result)
    assert len(result.table_session.model_history.table.rows) == 3


@pytest.mark.parametrize(
    "fault",
    (
        DeadTableAt("data", "after"),
        DeadTableAt("commit"),
        DeadTableAt("commit", "after"),
        LoseReplyAt("commit"),
    ),
    ids=repr,
)
def test_a_reader_follows_deltalake_through_its_crashes(delta_rs: Stage, fault: Operation, tmp_path: Path):
    result = delta_rs.play(
        tmp_path, Create(SCHEMA, properties=TOLD), Append(rows(1)), FOLLOWED, fault, Append(rows(2)), FOLLOWED,
        AdvanceClock(8 * 24), Append(rows(3)), Optimize(), Vacuum(), Reopen(), FOLLOWED,
    )  # fmt: skip
    assert result.broken == set(), str(result)
    assert result.table_session.struck == 1
    assert result.evidence["stream.each-row-once"] == result.evidence["stream.none-lost"] == 3
