"""Faults inside upkeep, and time that passes: checkpoints, vacuums, optimizes and the log's clean-up are cut, with
deltalake; left-overs go once they are old enough, and not before."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from conformance.suites.crashes.scenarios import AGED, CHANGES, UPKEEP, CrashScenario
from delta_models.operations import (
    AdvanceClock,
    Append,
    CleanLog,
    DeadTableAt,
    KillAt,
    LoseReplyAt,
    Operation,
    Read,
    Vacuum,
)
from delta_models.wire_names import name_of
from tests.suites.crashes.conftest import Stage

OPTIMIZE, CHECKPOINT, VACUUM, AUTOMATIC, CLEAN, AUTO_CLEAN, OLD = UPKEEP


@pytest.mark.parametrize(
    ("story", "fault"),
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
    ids=lambda each: name_of(each.operation) if isinstance(each, CrashScenario) else repr(each),
)
def test_upkeep_that_is_cut_leaves_a_table_that_goes_on(
    delta_rs: Stage, story: CrashScenario, fault: Operation, tmp_path: Path
):
    told = delta_rs.play(tmp_path, *story.before, fault, story.operation, *story.afterwards)
    assert told.broken == set(), str(told)
    assert told.table_session.struck == 1
    assert told.evidence["crash.all-or-nothing"] == told.evidence["crash.next-writer"] == 1


def test_a_clean_up_that_is_cut_may_leave_a_gap_behind_a_checkpoint(delta_rs: Stage, tmp_path: Path):
    gaps = 0
    for ordinal in range(2):
        told = delta_rs.play(
            tmp_path / f"{ordinal}",
            *CLEAN.before,
            DeadTableAt("clean-up", "before", ordinal),
            CleanLog(),
            Append(CHANGES[0].operation.rows),
        )
        assert told.broken == set(), str(told)
        there = sorted(int(path.stem) for path in (told.table_session.folder / "_delta_log").glob("*.json"))
        gaps += there != list(range(there[0], there[-1] + 1))
    assert gaps <= 1


def test_left_overs_stay_until_they_are_older_than_the_retention(delta_rs: Stage, tmp_path: Path):
    story = CHANGES[0]
    told = delta_rs.play(tmp_path, *story.before, DeadTableAt("commit"), story.operation, *AGED)
    assert told.broken == set(), str(told)
    assert told.evidence["crash.left-overs-kept"] == 1
    assert told.evidence["crash.left-overs-removed"] == 1
    left = [
        each.observation.fault_context.left_over
        for each in told.result
        if isinstance(each.observation.operation, Vacuum)
    ]
    assert [{(each.hours, each.there) for each in these} for these in left] == [{(0, True)}, {(192, False)}]


def test_what_is_written_after_time_has_passed_is_young(delta_rs: Stage, tmp_path: Path):
    story = CHANGES[0]
    told = delta_rs.play(
        tmp_path, *story.before, AdvanceClock(1000), DeadTableAt("commit"), story.operation, Vacuum(), Read()
    )
    assert told.broken == set(), str(told)
    assert told.evidence["crash.left-overs-kept"] == 1
    newest = max(path.stat().st_mtime for path in told.table_session.folder.rglob("*.parquet"))
    assert abs(newest - time.time() - 1000 * 3600) < 600


def test_each_history_begins_with_a_true_clock(delta_rs: Stage, tmp_path: Path):
    story = CHANGES[0]
    told = delta_rs.play(tmp_path, *story.before, AdvanceClock(1000))
    assert told.table_session.instrumented_process.ahead.total_seconds() == 3_600_000
    told = delta_rs.play(tmp_path / "next", *story.before)
    assert told.table_session.instrumented_process.ahead.total_seconds() == 0


def test_two_faults_of_a_history_strike_an_append_and_the_vacuum_after_it(delta_rs: Stage, tmp_path: Path):
    story = CHANGES[0]
    told = delta_rs.play(
        tmp_path, *story.before, LoseReplyAt("commit"), story.operation, DeadTableAt("commit"), story.operation,
        DeadTableAt("clean-up", "after"), Vacuum(0.0), Append(story.operation.rows), Vacuum(0.0),
    )  # fmt: skip
    assert told.broken == set(), str(told)
    assert told.table_session.struck == 3
    assert told.evidence["crash.all-or-nothing"] == 3
    assert told.evidence["crash.left-overs-removed"] == 1
