"""Faults in the maintenance operations of deltalake: checkpoints, vacuums, optimizes and log cleanups.

Orphaned files are removed once they are old enough, and not before."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from conformance.histories import Step
from conformance.suites.crashes.scenarios import AGED, CHANGES, UPKEEP, CrashScenario
from delta_models.operations import (
    AdvanceClock,
    Append,
    Checkpoint,
    CleanLog,
    Create,
    DeadTableAt,
    KillAt,
    LoseReplyAt,
    Operation,
    Read,
    Vacuum,
)
from delta_models.schema import LONG, struct
from delta_models.values import Rows
from delta_models.wire_names import name_of
from tests.suites.crashes.conftest import Stage

OPTIMIZE, CHECKPOINT, VACUUM, AUTOMATIC, CLEAN, AUTO_CLEAN, OLD = UPKEEP


@pytest.mark.parametrize(
    ("scenario", "fault"),
    (
        (OPTIMIZE, DeadTableAt("data", "after")),
        (OPTIMIZE, DeadTableAt("commit")),
        (CHECKPOINT, DeadTableAt("checkpoint")),
        (CHECKPOINT, DeadTableAt("hint")),
        (VACUUM, DeadTableAt("clean-up", "after")),
        (VACUUM, KillAt("clean-up", "before", 1)),
        (OLD, DeadTableAt("clean-up", "before", 2)),
        (AUTOMATIC, DeadTableAt("checkpoint-staging", "after")),
        (CLEAN, DeadTableAt("clean-up", "after")),
        (AUTO_CLEAN, DeadTableAt("clean-up", "after", 1)),
    ),
    ids=lambda parameter: (
        name_of(parameter.operation) if isinstance(parameter, CrashScenario) else repr(parameter)
    ),
)
def test_interrupted_maintenance_leaves_a_usable_table(
    delta_rs: Stage, scenario: CrashScenario, fault: Operation, tmp_path: Path
):
    result = delta_rs.play(tmp_path, *scenario.before, fault, scenario.operation, *scenario.afterwards)
    assert result.broken == set(), str(result)
    assert result.table_session.struck == 1
    assert result.evidence["crash.all-or-nothing"] == result.evidence["crash.next-writer"] == 1


def test_an_interrupted_log_cleanup_may_leave_a_gap_behind_a_checkpoint(delta_rs: Stage, tmp_path: Path):
    gaps = 0
    for ordinal in range(2):
        result = delta_rs.play(
            tmp_path / f"{ordinal}",
            *CLEAN.before,
            DeadTableAt("clean-up", "before", ordinal),
            CleanLog(),
            Append(CHANGES[0].operation.rows),
        )
        assert result.broken == set(), str(result)
        there = sorted(int(path.stem) for path in (result.table_session.folder / "_delta_log").glob("*.json"))
        gaps += there != list(range(there[0], there[-1] + 1))
    assert gaps <= 1


@pytest.mark.parametrize("ordinal", (0, 1))
def test_a_clean_up_that_was_cut_excuses_no_later_one(delta_rs: Stage, tmp_path: Path, ordinal: int):
    more, checkpoint = Append(CHANGES[0].operation.rows), Checkpoint()
    cut = DeadTableAt("clean-up", "before", ordinal)
    story = (*CLEAN.before, cut, CleanLog(), more, checkpoint, more, more, checkpoint)
    honest = delta_rs.play(tmp_path / "honest", *story, AdvanceClock(40 * 24), CleanLog(), more)
    assert honest.broken == set(), str(honest)
    assert honest.table_session.struck == 1
    result = delta_rs.play(tmp_path / "careless", *story)
    assert result.broken == set(), str(result)
    log = result.table_session.folder / "_delta_log"
    older, newer = sorted({int(path.name[:20]) for path in log.glob("*.checkpoint.parquet")})[-2:]
    for path in [*log.glob("*.json"), *log.glob("*.checkpoint.parquet")]:
        version = int(path.name[:20])
        if version < older or (version == older and path.suffix == ".json"):
            path.unlink()  # a clean-up that keeps the checkpoint, and not its commit
    later = result.table_session.execute(Step(more))
    assert newer > older
    broken = {violation.requirement for step_result in later for violation in step_result.violations}
    assert "log.cleanup-keeps-checkpoint-commit" in broken


def test_orphaned_files_stay_until_they_are_older_than_the_retention(delta_rs: Stage, tmp_path: Path):
    scenario = CHANGES[0]
    result = delta_rs.play(tmp_path, *scenario.before, DeadTableAt("commit"), scenario.operation, *AGED)
    assert result.broken == set(), str(result)
    assert result.evidence["crash.left-overs-kept"] == 1
    assert result.evidence["crash.left-overs-removed"] == 1
    left = [
        step_result.observation.fault_context.left_over
        for step_result in result.step_results
        if isinstance(step_result.observation.operation, Vacuum)
    ]
    assert [{(orphan.hours, orphan.there) for orphan in these} for these in left] == [
        {(0, True)},
        {(192, False)},
    ]


def test_files_written_after_the_clock_advanced_are_young(delta_rs: Stage, tmp_path: Path):
    scenario = CHANGES[0]
    result = delta_rs.play(
        tmp_path,
        *scenario.before,
        AdvanceClock(1000),
        DeadTableAt("commit"),
        scenario.operation,
        Vacuum(),
        Read(),
    )
    assert result.broken == set(), str(result)
    assert result.evidence["crash.left-overs-kept"] == 1
    newest = max(path.stat().st_mtime for path in result.table_session.folder.rglob("*.parquet"))
    assert abs(newest - time.time() - 1000 * 3600) < 600


def test_a_clean_up_keeps_what_its_own_operation_has_just_committed(delta_rs: Stage, tmp_path: Path):
    schema = struct(("id", LONG))
    result = delta_rs.play(
        tmp_path,
        Create(schema, properties=(("delta.checkpointInterval", "1"),)),
        AdvanceClock(40 * 24),
        LoseReplyAt("commit", errno="EEXIST"),
        Append(Rows(schema, ((1,),))),
    )
    assert result.broken == {"crash.once"}, "deltalake commits twice, and each commit stays readable"


def test_each_history_begins_with_a_true_clock(delta_rs: Stage, tmp_path: Path):
    scenario = CHANGES[0]
    result = delta_rs.play(tmp_path, *scenario.before, AdvanceClock(1000))
    assert result.table_session.instrumented_process.ahead.total_seconds() == 3_600_000
    result = delta_rs.play(tmp_path / "next", *scenario.before)
    assert result.table_session.instrumented_process.ahead.total_seconds() == 0


def test_two_faults_of_a_history_hit_an_append_and_the_next_vacuum(delta_rs: Stage, tmp_path: Path):
    scenario = CHANGES[0]
    result = delta_rs.play(
        tmp_path, *scenario.before, LoseReplyAt("commit"), scenario.operation, DeadTableAt("commit"),
        scenario.operation, DeadTableAt("clean-up", "after"), Vacuum(0.0), Append(scenario.operation.rows), Vacuum(0.0),
    )  # fmt: skip
    assert result.broken == set(), str(result)
    assert result.table_session.struck == 3
    assert result.evidence["crash.all-or-nothing"] == 3
    assert result.evidence["crash.left-overs-removed"] == 1
