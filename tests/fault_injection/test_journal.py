"""The shim writes calls that are at no gate into the journal: the same events as if it had asked."""

from __future__ import annotations

import os
import select
import subprocess
import sys
from pathlib import Path

import pytest

from conformance.fault_injection.fault_actions import Fail, FaultRule
from conformance.fault_injection.gates import DATA_CALLS, LOG_CALLS, PASS_ON, PAUSE_HERE, GateTracker
from conformance.fault_injection.interleaving import ScheduledWriter, interleave

COMMIT = "_delta_log/00000000000000000007.json"
STAGING = f"{COMMIT}#1"


def words(table):
    """Calls that come to all gates, and others between, some of which fail."""
    return (
        "opendir", table / "_delta_log", "mkdir", table / "x=1", "open", table / "x=1/part-0.parquet",
        "open_excl", table / "x=1/part-0.parquet", "opendir", table / "_delta_log", "open", table / STAGING,
        "link", table / STAGING, table / COMMIT, "link", table / STAGING, table / COMMIT,
        "unlink", table / STAGING, "opendir", table / "_delta_log",
    )  # fmt: skip


def results_of(record):
    return [
        (event.event.name, event.event.call.path, event.event.call.source, event.errno)
        for event in record.happened
    ]


AT_SNAPSHOT, AT_DATA, AT_STAGING, AT_PUBLISH = 1, 2, 4, 8


class Never:
    """Never pauses. Keeps the events that it decides on, and those that were granted."""

    def __init__(self, open_gates=0, doubtful_classes=0):
        self.open_gates = open_gates
        self.doubtful_classes = doubtful_classes
        self.decided = []
        self.granted = []

    def note_granted(self, event):
        self.granted.append(event.name)

    def decide(self, event):
        self.decided.append(event.name)
        return PASS_ON


def test_what_is_written_down_is_what_would_have_been_asked_about(instrumented_process, table, run, tmp_path):
    instrumented_process.begin()
    run(instrumented_process, *words(table))
    asked = instrumented_process.end()
    for path in sorted(table.rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    (table / "_delta_log").mkdir()
    instrumented_process.begin(gatekeeper=Never(0))
    run(instrumented_process, *words(table))
    noted = instrumented_process.end()
    assert results_of(noted) == results_of(asked)
    assert noted.trace == asked.trace
    assert {errno for *_, errno in results_of(noted)} == {0, 17}
    instrumented_process.check_instrumented()


def test_only_calls_that_come_to_a_gate_which_is_left_are_asked_about(instrumented_process, table, run):
    never = Never(AT_DATA | AT_STAGING | AT_PUBLISH, LOG_CALLS | DATA_CALLS)
    instrumented_process.begin(gatekeeper=never)
    run(instrumented_process, *words(table))
    record = instrumented_process.end()
    assert never.decided == [
        "data#0 open", "data#1 open", "staging#0 open", "commit#0 link", "commit#1 link",
    ]  # fmt: skip
    assert len(record.happened) == 10
    assert never.granted == []


def test_a_name_that_leaves_doubt_is_asked_about_by_its_class(instrumented_process, table, run):
    doubtful = (
        "mkdir", table / "_change_data", "open", table / "_change_data/cdc-0.parquet",
        "mkdir", table / "_delta_log/_staged_commits",
        "open", table / "_delta_log/_staged_commits/00000000000000000007.x.json",
        "open", table / "_delta_log/_last_checkpoint",
    )  # fmt: skip
    for asks, asked in (
        (0, []),
        (DATA_CALLS, ["change#0 open"]),
        (DATA_CALLS | LOG_CALLS, ["change#1 open", "staging#1 open", "hint#1 open"]),
    ):
        never = Never(AT_DATA | AT_STAGING, asks)
        instrumented_process.begin(gatekeeper=never)
        run(instrumented_process, *doubtful)
        assert len(instrumented_process.end().happened) == (5 if asks == 0 else 3)
        assert [event.partition("#")[0] for event in never.decided] == [
            event.partition("#")[0] for event in asked
        ]


@pytest.mark.parametrize("granted", range(5))
def test_as_many_gates_as_are_granted_are_gone_through_unasked_and_told_of_in_their_order(
    instrumented_process, table, run, granted
):
    never = Never(AT_SNAPSHOT | AT_DATA | AT_STAGING | AT_PUBLISH)
    instrumented_process.begin(gatekeeper=never)
    instrumented_process.grant(granted)
    run(instrumented_process, *words(table))
    record = instrumented_process.end()
    gates = ["look#0 list", "data#0 open", "staging#0 open", "commit#0 link"]
    assert never.granted == gates[:granted]
    assert never.decided[:1] == gates[granted:][:1]
    assert len(record.happened) == 10


def test_of_threads_that_come_to_a_gate_at_once_one_takes_the_grant_and_none_is_asked_about(
    instrumented_process, table, run
):
    never = Never(AT_DATA)
    instrumented_process.begin(gatekeeper=never)
    instrumented_process.grant(3)
    run(instrumented_process, "threads", table)
    assert len(instrumented_process.end().happened) == 160
    assert len(never.granted) == 1
    assert never.decided == []


def test_no_file_of_threads_is_lost_between_what_is_asked_and_what_is_written_down(
    instrumented_process, table, run
):
    for left in (0, AT_DATA):
        instrumented_process.begin(gatekeeper=Never(left))
        run(instrumented_process, "threads", table)
        record = instrumented_process.end()
        assert sorted(event.event.ordinal for event in record.happened) == list(range(160))
        assert {event.errno for event in record.happened} == {0}
        assert len({event.event.call.path for event in record.happened}) == 160


def test_what_has_no_room_is_asked_about_and_none_is_lost(instrumented_process, table, run):
    instrumented_process.begin(gatekeeper=Never(0))
    run(instrumented_process, "cost", table / "part-0.parquet", 20_000)
    record = instrumented_process.end()
    assert len(record.happened) == 20_000
    assert [event.event.ordinal for event in record.happened] == list(range(20_000))
    assert {event.errno for event in record.happened} == {0}


def test_while_one_thread_is_parked_the_others_wait_whatever_their_calls_are(
    instrumented_process, table, start
):
    class First(Never):
        def decide(self, event):
            super().decide(event)
            return PAUSE_HERE if len(self.decided) == 1 else PASS_ON

    instrumented_process.begin(gatekeeper=First(AT_DATA))
    process = start(instrumented_process, "threads", table)
    assert instrumented_process.wait_until_paused(20)
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(0.5)
    assert not list(table.glob("*.parquet"))
    instrumented_process.release()
    assert process.wait(20) == 0
    assert len(instrumented_process.end().happened) == 160


def test_rules_and_what_is_only_written_down_do_not_go_together(instrumented_process):
    with pytest.raises(ValueError, match="there can be no rules"):
        instrumented_process.begin([FaultRule("commit", Fail())], gatekeeper=Never(0))


def test_a_writer_that_dies_within_a_call_is_not_waited_for(instrumented_process, table, start):
    instrumented_process.begin(gatekeeper=Never(0))
    process = start(instrumented_process, "open", table / "part-0.parquet", "spin", "")
    while not (table / "part-0.parquet").exists():
        assert process.poll() is None
    process.kill()
    process.wait(20)
    assert [name for name, *_ in results_of(instrumented_process.end())] == ["data#0 open"]


CONTROLLER = """
import os, subprocess, sys, time
from pathlib import Path
from conformance.fault_injection.controller import Turnstile
work, probe, table = map(Path, sys.argv[1:])
class Nothing:
    doubtful_classes = open_gates = 0
turnstile = Turnstile(work)
process = turnstile.add_process("A")
process.watch(table)
process.begin(gatekeeper=Nothing())
words = ["cost", table / "part-0.parquet", "100000000"]
print(subprocess.Popen([probe, *words], env={**os.environ, **process.environment()}).pid, flush=True)
time.sleep(60)
"""


def test_nothing_is_written_once_the_controller_is_gone(tmp_path: Path, probe: Path, table: Path):
    with subprocess.Popen(
        [sys.executable, "-c", CONTROLLER, tmp_path / "t", probe, table], stdout=subprocess.PIPE, text=True
    ) as controller:
        assert controller.stdout is not None
        writer = os.pidfd_open(int(controller.stdout.readline()))
        while not (table / "part-0.parquet").exists():
            pass
        controller.kill()
        controller.wait()
    ended, _, _ = select.select([writer], [], [], 20)
    assert ended, "the writer outlived the controller"


def test_one_that_goes_next_at_its_own_gate_goes_on_at_once(turnstile, instrumented_process, table, start):
    def submit():
        process = start(instrumented_process, *words(table))
        return lambda: process.wait(60)

    result = interleave(turnstile, [ScheduledWriter(instrumented_process, submit)], (0, 0, 0, 0))
    assert result.followed
    assert result.timeline == ((0, "snapshot"), (0, "data"), (0, "staging"), (0, "publish"))
    assert result.answers == (0,)
    assert len(result.records[0].happened) == 10


def test_gates_ask_about_no_class_that_is_behind_them_or_closed():
    gates = GateTracker(closed=frozenset({"data"}))
    assert (gates.doubtful_classes, gates.open_gates) == (
        1 | LOG_CALLS,
        AT_SNAPSHOT | AT_STAGING | AT_PUBLISH,
    )
    gates.passed.append("snapshot")
    assert (gates.doubtful_classes, gates.open_gates) == (LOG_CALLS, AT_STAGING | AT_PUBLISH)
    gates.passed.append("publish")
    assert (gates.doubtful_classes, gates.open_gates) == (0, 0)


def test_a_gate_that_was_gone_through_out_of_turn_makes_the_schedule_not_followed(
    turnstile, instrumented_process, table, start
):
    def submit():
        instrumented_process.grant(1)
        process = start(instrumented_process, *words(table))
        return lambda: process.wait(60)

    result = interleave(turnstile, [ScheduledWriter(instrumented_process, submit)], (0, 0, 0, 0))
    assert not result.followed
    assert "writer 0 went through look#0 list _delta_log unasked" in result.failures[0]
