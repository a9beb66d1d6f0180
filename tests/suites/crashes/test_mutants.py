"""Each rule about faults is broken by an engine that is honest but for this, and its honest twin is not heard."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.checks import crashes
from conformance.suites.crashes.scenarios import CHANGES, MARKED, STREAMS, CrashScenario
from delta_models.operations import (
    Append,
    Create,
    DeadTableAt,
    FailAt,
    LoseReplyAt,
    Operation,
    Overwrite,
    Vacuum,
)
from tests.mutants.crash_mutants import CAUGHT_AT
from tests.suites.crashes.conftest import Stage

APPEND, OVERWRITE = CHANGES[0], CHANGES[1]
TOLD_UPDATE = MARKED[4]  # of a table with a change feed
FOLLOWED, POUR = STREAMS[0], STREAMS[-2]
OF_STREAMS = {"stream.written-once", "stream.all-written", "stream.only-committed"}
# The fault, the story, and what is done afterwards.
SCENES: dict[str, tuple[Operation, CrashScenario]] = {
    "CommitsBeforeTheData": (DeadTableAt("commit", "after"), APPEND),
    "CommitsInTwoHalves": (DeadTableAt("commit", "after"), OVERWRITE),
    "RetriesWithoutLooking": (LoseReplyAt("commit"), APPEND),
    "SaysItWasRefused": (LoseReplyAt("commit"), APPEND),
    "RollsBackTheNewest": (FailAt("data"), APPEND),
    "StandsInItsOwnWay": (DeadTableAt("commit"), APPEND),
    "DeletesLeftOversAtOnce": (DeadTableAt("commit"), APPEND),
    "VacuumsByTheLogAlone": (DeadTableAt("commit"), APPEND),
    "PoursWithoutANumber": (DeadTableAt("stream-done-staging"), POUR),
    "NotesABatchDoneFirst": (DeadTableAt("commit"), POUR),
    "FollowsTheFolder": (DeadTableAt("commit"), FOLLOWED),
}


@pytest.mark.parametrize("name", SCENES)
def test_a_liar_is_caught_at_its_own_rule(liars: Stage, name: str, tmp_path: Path):
    fault, story = SCENES[name]
    told = liars.play(tmp_path / name, *story.before, fault, story.operation, *story.afterwards)
    assert CAUGHT_AT[name] in told.broken, str(told) or "nothing was heard"
    assert {each for each in told.broken if each.startswith(("crash.", "stream."))} == {CAUGHT_AT[name]}, str(
        told
    )


@pytest.mark.parametrize("name", SCENES)
def test_its_honest_twin_is_not(liars: Stage, name: str, tmp_path: Path):
    fault, story = SCENES[name]
    told = liars.play(tmp_path / "Honest", *story.before, fault, story.operation, *story.afterwards)
    assert told.broken == set(), str(told)
    assert told.table_session.struck == 1
    assert told.evidence[CAUGHT_AT[name]] > 0, str(told)


def test_every_rule_has_its_liar():
    assert set(CAUGHT_AT.values()) == {*crashes.JUDGES, *OF_STREAMS}
    assert set(CAUGHT_AT) == set(SCENES)
    assert {type(each) for each in APPEND.before} == {Create, Append}
    assert isinstance(OVERWRITE.operation, Overwrite)
    assert Vacuum(0.0) in APPEND.afterwards


@pytest.mark.parametrize(
    ("name", "heard"), (("RecordsChangesAgain", {"cdc.equals-difference"}), ("Honest", set()))
)
def test_a_change_feed_that_shows_a_row_twice_after_a_lost_reply_is_heard(
    liars: Stage, name: str, heard: set[str], tmp_path: Path
):
    story = TOLD_UPDATE
    told = liars.play(
        tmp_path / name, *story.before, LoseReplyAt("commit"), story.operation, *story.afterwards
    )
    assert told.table_session.struck == 1
    assert told.broken == heard, str(told)
    assert told.evidence["cdc.equals-difference"] > 0
    assert heard or told.evidence["changes.rows"] > 0


def test_the_honest_engine_knows_its_own_commit_where_the_reply_was_lost(liars: Stage, tmp_path: Path):
    for errno in ("EEXIST", "EIO"):
        fault = LoseReplyAt("commit", errno=errno)
        told = liars.play(
            tmp_path / errno / "Honest", *APPEND.before, fault, APPEND.operation, *APPEND.afterwards
        )
        assert told.broken == set(), str(told)
        assert told.evidence["crash.once"] == 1
