"""deltalake under faults: the causes of it are still live, and histories with faults have the expected evidence."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from conformance.histories import History, Step
from conformance.suites.context import engine_session_of
from conformance.suites.crashes.orphaned_files import by_role, find_orphans, vacuumable
from conformance.suites.crashes.scenarios import (
    CHANGES,
    MARKED,
    UPKEEP,
    CrashScenario,
    faults_of,
    scenarios_of,
)
from conformance.suites.crashes.session import CrashTableSession
from delta_adapters.deviations import Cause, all_causes
from delta_models.codec import decode, encode
from delta_models.operations import (
    DeadTableAt,
    FailAt,
    KillAt,
    LoseReplyAt,
    Operation,
    TearAt,
)
from delta_models.outcomes import Unknown
from tests.adapters.deviations.shown import assert_shown
from tests.suites.crashes.conftest import Stage

KNOWN = [cause for cause in all_causes() if (cause.engine, cause.history["suite"]) == ("delta-rs", "crashes")]
APPEND = CHANGES[0]


def play(stage: Stage, folder: Path, scenario: CrashScenario, fault: Operation):
    return stage.play(folder, *scenario.before, fault, scenario.operation, *scenario.afterwards)


@pytest.mark.parametrize("cause", KNOWN, ids=lambda cause: cause.id)
def test_the_minimal_history_of_a_cause_still_shows_it(delta_rs: Stage, cause: Cause, tmp_path: Path):
    history = History.from_json(cause.history)
    result = delta_rs.play(tmp_path, *(step.operation for step in history.steps))
    assert_shown(cause, result.step_results)


@pytest.mark.parametrize(
    "fault",
    (
        DeadTableAt("data"),
        DeadTableAt("commit"),
        DeadTableAt("commit", "after"),
        FailAt("staging", "ENOSPC"),
        LoseReplyAt("commit"),
        TearAt("staging", 5),
        KillAt("commit"),
        KillAt("commit", "after"),
    ),
    ids=repr,
)
def test_an_append_comes_through_every_kind_of_fault(delta_rs: Stage, fault: Operation, tmp_path: Path):
    result = play(delta_rs, tmp_path, APPEND, fault)
    assert result.broken == set(), str(result)
    assert (result.table_session.struck, result.table_session.missed) == (1, 0)
    assert result.evidence["crash.all-or-nothing"] == 1
    assert result.evidence["crash.next-writer"] == 1
    assert result.evidence["read.cold"] == 1


def test_an_unknown_outcome_is_narrowed_by_our_own_reading(delta_rs: Stage, tmp_path: Path):
    state = len(APPEND.before) + 1
    for fault, rows in ((DeadTableAt("commit"), 5), (LoseReplyAt("commit"), 7)):
        result = play(delta_rs, tmp_path / str(rows), APPEND, fault)
        assert len(result.table_session.model_history.state(state).rows) == rows
        assert len(result.table_session.model_history.table.rows) == rows + 1
        (struck,) = [
            step_result.observation
            for step_result in result.step_results
            if step_result.observation.fault_context and step_result.observation.fault_context.fault
        ]
        assert isinstance(struck.outcome, Unknown)


def test_a_fault_whose_event_never_comes_is_no_evidence(delta_rs: Stage, tmp_path: Path):
    result = play(delta_rs, tmp_path, APPEND, DeadTableAt("deletion-vector"))
    assert result.broken == set(), str(result)
    assert (result.table_session.struck, result.table_session.missed) == (0, 1)
    assert "crash.all-or-nothing" not in result.evidence


def test_both_faults_of_a_history_are_judged(delta_rs: Stage, tmp_path: Path):
    dead, lost = DeadTableAt("data"), LoseReplyAt("commit")
    result = delta_rs.play(
        tmp_path, *APPEND.before, dead, APPEND.operation, lost, APPEND.operation, APPEND.operation
    )
    assert result.broken == set(), str(result)
    assert result.table_session.struck == 2
    assert result.evidence["crash.next-writer"] == 1


def test_a_fault_survives_its_json():
    faults = (
        KillAt("data", "after", 2),
        LoseReplyAt("commit", 1, "EEXIST"),
        TearAt("staging", 5),
        FailAt("data"),
    )
    assert tuple(decode(json.loads(json.dumps(encode(fault)))) for fault in faults) == faults


def test_every_event_of_a_scenario_is_cut_before_and_after(delta_rs: Stage, tmp_path: Path):
    table_session = CrashTableSession(
        tmp_path / "table",
        [engine_session_of(delta_rs.player.engine)],
        delta_rs.player.instrumented_process,
        1,
        "t",
    )
    table_session.open_all()
    for operation in APPEND.before:
        table_session.execute(Step(operation))
    whole = table_session.copy(tmp_path / "whole" / "table")
    whole.open_all()
    _, record = whole.record(APPEND.operation)
    faults = list(faults_of(record))
    assert {
        fault.moment for fault in faults if isinstance(fault, DeadTableAt) and fault.role == "commit"
    } == {
        "before",
        "after",
    }
    assert [fault.errno for fault in faults if isinstance(fault, LoseReplyAt)] == ["EIO", "EEXIST"]
    assert {fault.role for fault in faults} >= {"data-staging", "data", "staging", "commit", "clean-up"}


def test_the_groups_of_scenarios_have_their_names():
    assert scenarios_of("changes") is CHANGES
    assert scenarios_of("killed-upkeep") is UPKEEP
    assert scenarios_of("marked") is MARKED
    assert scenarios_of("merges") == ()


def test_orphaned_files_are_distinguished_from_committed_files(delta_rs: Stage, tmp_path: Path):
    result = play(delta_rs, tmp_path, CrashScenario(APPEND.operation, APPEND.before), DeadTableAt("commit"))
    table = result.table_session.folder
    (table / "_temporary_1" / "part=0").mkdir(parents=True)
    (table / "_temporary_1" / "part=0" / "part-1.parquet").touch()
    orphans = vacuumable(find_orphans(table))
    assert len(orphans) == 2
    assert all(orphan.endswith(".parquet") and orphan.startswith("part=") for orphan in orphans)
    assert by_role(find_orphans(table)) == {"data": 3, "staging": 1}
    (struck,) = [
        step_result.observation.fault_context
        for step_result in result.step_results
        if step_result.observation.fault_context and step_result.observation.fault_context.fault
    ]
    assert struck.lying == {"data": 2, "staging": 1}


def test_a_file_named_by_a_deletion_vector_is_no_orphan(tmp_path: Path):
    log = tmp_path / "_delta_log"
    log.mkdir()
    name = "deletion_vector_d2c639aa-8816-431a-aaf6-d3fe2512ff61.bin"
    vector = {
        "storageType": "u",
        "pathOrInlineDv": "ab^-aqEH.-t@S}K{vb[*k^",
        "sizeInBytes": 4,
        "cardinality": 6,
    }
    add = {"add": {"path": "part-0.parquet", "deletionVector": vector}}
    (log / f"{0:020}.json").write_text(json.dumps(add) + "\n", "utf-8")
    for path in ("part-0.parquet", "part-1.parquet", f"ab/{name}", "deletion_vector_other.bin"):
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).touch()
        (tmp_path / path).with_name(f".{Path(path).name}.crc").touch()
    assert by_role(find_orphans(tmp_path)) == {"data": 1, "deletion-vector": 1, "side": 2}
    assert vacuumable(find_orphans(tmp_path)) == {"part-1.parquet"}
