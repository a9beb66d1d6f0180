"""For each rule about faults, a mutant breaks that rule, and its honest twin breaks none."""

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
CHANGE_FEED_UPDATE = MARKED[4]  # of a table with a change feed
FOLLOWED, POUR = STREAMS[0], STREAMS[-2]
OF_STREAMS = {"stream.written-once", "stream.all-written", "stream.only-committed"}
# The fault and the scenario of each mutant.
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
def test_a_mutant_breaks_its_own_rule(mutants: Stage, name: str, tmp_path: Path):
    fault, scenario = SCENES[name]
    result = mutants.play(tmp_path / name, *scenario.before, fault, scenario.operation, *scenario.afterwards)
    assert CAUGHT_AT[name] in result.broken, str(result) or "no violation"
    assert {
        requirement for requirement in result.broken if requirement.startswith(("crash.", "stream."))
    } == {CAUGHT_AT[name]}, str(result)


@pytest.mark.parametrize("name", SCENES)
def test_the_honest_twin_breaks_no_rule(mutants: Stage, name: str, tmp_path: Path):
    fault, scenario = SCENES[name]
    result = mutants.play(
        tmp_path / "Honest", *scenario.before, fault, scenario.operation, *scenario.afterwards
    )
    assert result.broken == set(), str(result)
    assert result.table_session.struck == 1
    assert result.evidence[CAUGHT_AT[name]] > 0, str(result)


def test_every_rule_has_a_mutant():
    assert set(CAUGHT_AT.values()) == {*crashes.JUDGES, *OF_STREAMS}
    assert set(CAUGHT_AT) == set(SCENES)
    assert {type(operation) for operation in APPEND.before} == {Create, Append}
    assert isinstance(OVERWRITE.operation, Overwrite)
    assert Vacuum(0.0) in APPEND.afterwards


@pytest.mark.parametrize(
    ("name", "violated"), (("RecordsChangesAgain", {"cdc.equals-difference"}), ("Honest", set()))
)
def test_only_a_doubled_row_of_a_change_feed_after_a_lost_reply_is_a_violation(
    mutants: Stage, name: str, violated: set[str], tmp_path: Path
):
    scenario = CHANGE_FEED_UPDATE
    result = mutants.play(
        tmp_path / name, *scenario.before, LoseReplyAt("commit"), scenario.operation, *scenario.afterwards
    )
    assert result.table_session.struck == 1
    assert result.broken == violated, str(result)
    assert result.evidence["cdc.equals-difference"] > 0
    assert violated or result.evidence["changes.rows"] > 0


def test_the_honest_engine_recognizes_its_commit_after_a_lost_reply(mutants: Stage, tmp_path: Path):
    for errno in ("EEXIST", "EIO"):
        fault = LoseReplyAt("commit", errno=errno)
        result = mutants.play(
            tmp_path / errno / "Honest", *APPEND.before, fault, APPEND.operation, *APPEND.afterwards
        )
        assert result.broken == set(), str(result)
        assert result.evidence["crash.once"] == 1
