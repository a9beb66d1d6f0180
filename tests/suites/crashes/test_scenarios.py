"""A crash scenario interrupts every operation that changes a table, and the honest engine passes all of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.fault_injection.fault_actions import PASS
from conformance.fault_injection.storage_events import RecordedEvent, StorageCall, StorageEvent, StorageRecord
from conformance.suites.crashes.scenarios import SCENARIOS, CrashScenario, faults_of, scenarios_of
from delta_models.operations import (
    FAULTS,
    QUERIES,
    STORAGE_FAULTS,
    AdvanceClock,
    CloneTo,
    CompactLog,
    DeadTableAt,
    Drop,
    Interleave,
    LoseReplyAt,
    ReadChanges,
    Reopen,
    SetZone,
    SwitchActor,
    Vacuum,
)
from delta_models.wire_names import ALPHABET, name_of
from tests.suites.crashes.conftest import Stage

CHANGE_NO_TABLE = {*QUERIES, *FAULTS, AdvanceClock, Interleave, Reopen, SetZone, SwitchActor}
ELSEWHERE = {CloneTo, Drop}  # what they change lies beside the table, or in a catalogue
WITHOUT_A_COMMIT = {CompactLog, Vacuum}  # the honest engine's
MORE = ("other-writes", "definition", "beginnings", "layout", "again")
PARAMETERS = [
    pytest.param(name, scenario, id=f"{name}-{number}-{name_of(scenario.operation)}")
    for name in MORE
    for number, scenario in enumerate(scenarios_of(name))
]


def test_every_operation_that_changes_a_table_is_cut_in_some_scenario():
    cut = {type(scenario.operation) for group in SCENARIOS.values() for scenario in group}
    assert cut == set(ALPHABET.values()) - CHANGE_NO_TABLE - ELSEWHERE


@pytest.mark.parametrize("fault", (LoseReplyAt("commit"), DeadTableAt("commit")))
@pytest.mark.parametrize(("group", "scenario"), PARAMETERS)
def test_the_honest_engine_comes_through(
    mutants: Stage, group: str, scenario: CrashScenario, fault: LoseReplyAt | DeadTableAt, tmp_path: Path
):
    capabilities = mutants.player.engine.capabilities
    operations = [
        operation
        for operation in (*scenario.before, scenario.operation)
        if not isinstance(operation, STORAGE_FAULTS)
    ]
    if any(capabilities.covers(operation) for operation in operations):
        pytest.fail(f"{[capabilities.covers(operation) for operation in operations]}")
    result = mutants.play(
        tmp_path / "Honest", *scenario.before, fault, scenario.operation, *scenario.afterwards
    )
    assert result.broken == set(), str(result)
    assert result.table_session.struck == (group == "again") + (
        type(scenario.operation) not in WITHOUT_A_COMMIT
    )
    if any(isinstance(afterward, ReadChanges) for afterward in scenario.afterwards):
        assert result.evidence["changes.rows"] > 0


def test_the_replies_to_all_commits_of_an_operation_are_lost():
    def commit(ordinal: int) -> RecordedEvent:
        question = StorageCall("A", "link", f"_delta_log/{ordinal:020}.json", "", 1, "main")
        return RecordedEvent(StorageEvent(question, "commit", ordinal), PASS)

    faults = [
        fault for fault in faults_of(StorageRecord((commit(0), commit(1)))) if isinstance(fault, LoseReplyAt)
    ]
    assert [(fault.ordinal, fault.errno) for fault in faults] == [
        (0, "EIO"),
        (0, "EEXIST"),
        (1, "EIO"),
        (1, "EEXIST"),
    ]
