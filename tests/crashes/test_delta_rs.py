"""deltalake under faults: what is known of it, what a history with faults comes to, and that it comes to it again."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from conformance.crashes.desk import CrashDesk
from conformance.crashes.groups import stories
from conformance.crashes.left_overs import by_role, lying, swept
from conformance.crashes.stories import CHANGES, MARKED, UPKEEP, Story, faults_of
from conformance.dealer import seat_of
from conformance.findings import key_of
from conformance.findings.causes import known_deviation
from conformance.history import History, Step
from delta_adapters.deviations import Deviation, all_deviations
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
from tests.crashes.conftest import Stage
from tests.liars.stage import ALWAYS_KNOWN

KNOWN = [each for each in all_deviations() if (each.engine, each.history["suite"]) == ("delta-rs", "crashes")]
APPEND = CHANGES[0]


def play(stage: Stage, folder: Path, story: Story, fault: Operation):
    return stage.play(folder, *story.before, fault, story.operation, *story.afterwards)


@pytest.mark.parametrize("entry", KNOWN, ids=lambda entry: entry.name)
def test_its_smallest_history_still_shows_it(delta_rs: Stage, entry: Deviation, tmp_path: Path):
    history = History.from_json(entry.history)
    told = delta_rs.play(tmp_path, *(each.operation for each in history.steps))
    keys = [key_of(each.seen, breach) for each in told.judged for breach in each.breaches]
    assert set(entry.fingerprints) <= {each.fingerprint for each in keys}, str(told) or "it no longer happens"
    assert {known_deviation(each, history=history) for each in keys} | ALWAYS_KNOWN == {
        entry.name
    } | ALWAYS_KNOWN, str(told)


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
    told = play(delta_rs, tmp_path, APPEND, fault)
    assert told.broken == set(), str(told)
    assert (told.desk.struck, told.desk.missed) == (1, 0)
    assert told.evidence["crash.all-or-nothing"] == 1
    assert told.evidence["crash.next-writer"] == 1
    assert told.evidence["read.cold"] == 1


def test_what_is_not_known_is_narrowed_by_our_own_reading(delta_rs: Stage, tmp_path: Path):
    at = len(APPEND.before) + 1
    for fault, rows in ((DeadTableAt("commit"), 5), (LoseReplyAt("commit"), 7)):
        told = play(delta_rs, tmp_path / str(rows), APPEND, fault)
        assert len(told.desk.world.state(at).rows) == rows
        assert len(told.desk.world.table.rows) == rows + 1
        (struck,) = [each.seen for each in told.judged if each.seen.trouble and each.seen.trouble.fault]
        assert isinstance(struck.outcome, Unknown)


def test_a_fault_whose_event_never_comes_is_no_evidence(delta_rs: Stage, tmp_path: Path):
    told = play(delta_rs, tmp_path, APPEND, DeadTableAt("deletion-vector"))
    assert told.broken == set(), str(told)
    assert (told.desk.struck, told.desk.missed) == (0, 1)
    assert "crash.all-or-nothing" not in told.evidence


def test_two_faults_in_one_history_are_judged_each(delta_rs: Stage, tmp_path: Path):
    dead, lost = DeadTableAt("data"), LoseReplyAt("commit")
    told = delta_rs.play(
        tmp_path, *APPEND.before, dead, APPEND.operation, lost, APPEND.operation, APPEND.operation
    )
    assert told.broken == set(), str(told)
    assert told.desk.struck == 2
    assert told.evidence["crash.next-writer"] == 1


def test_a_fault_survives_its_json():
    faults = (
        KillAt("data", "after", 2),
        LoseReplyAt("commit", 1, "EEXIST"),
        TearAt("staging", 5),
        FailAt("data"),
    )
    assert tuple(decode(json.loads(json.dumps(encode(each)))) for each in faults) == faults


def test_every_event_of_a_story_is_cut_before_and_after(delta_rs: Stage, tmp_path: Path):
    desk = CrashDesk(tmp_path / "table", [seat_of(delta_rs.player.engine)], delta_rs.player.actor, 1, "t")
    list(desk.sit_down())
    for each in APPEND.before:
        list(desk.play(Step(each)))
    whole = desk.copy(tmp_path / "whole" / "table")
    list(whole.sit_down())
    _, record = whole.record(APPEND.operation)
    faults = list(faults_of(record))
    assert {each.moment for each in faults if isinstance(each, DeadTableAt) and each.role == "commit"} == {
        "before",
        "after",
    }
    assert [each.errno for each in faults if isinstance(each, LoseReplyAt)] == ["EIO", "EEXIST"]
    assert {each.role for each in faults} >= {"data-staging", "data", "staging", "commit", "clean-up"}


def test_the_groups_of_stories_have_their_names():
    assert stories("changes") is CHANGES
    assert stories("killed-upkeep") is UPKEEP
    assert stories("marked") is MARKED
    assert stories("merges") == ()


def test_what_is_left_over_is_told_from_what_a_commit_names(delta_rs: Stage, tmp_path: Path):
    told = play(delta_rs, tmp_path, Story(APPEND.operation, APPEND.before), DeadTableAt("commit"))
    table = told.desk.folder
    (table / "_temporary_1" / "part=0").mkdir(parents=True)
    (table / "_temporary_1" / "part=0" / "part-1.parquet").touch()
    found = swept(lying(table))
    assert len(found) == 2
    assert all(each.endswith(".parquet") and each.startswith("part=") for each in found)
    assert by_role(lying(table)) == {"data": 3, "staging": 1}
    (struck,) = [each.seen.trouble for each in told.judged if each.seen.trouble and each.seen.trouble.fault]
    assert struck.lying == {"data": 2, "staging": 1}


def test_what_a_deletion_vector_names_is_not_left_over(tmp_path: Path):
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
    for each in ("part-0.parquet", "part-1.parquet", f"ab/{name}", "deletion_vector_other.bin"):
        (tmp_path / each).parent.mkdir(exist_ok=True)
        (tmp_path / each).touch()
        (tmp_path / each).with_name(f".{Path(each).name}.crc").touch()
    assert by_role(lying(tmp_path)) == {"data": 1, "deletion-vector": 1, "side": 2}
    assert swept(lying(tmp_path)) == {"part-1.parquet"}
