"""What becomes of a call: every fault action, on a plain C program."""

import errno
import subprocess
import sys

import pytest

from conformance.fault_injection.fault_actions import (
    PASS,
    DeadTable,
    Fail,
    FaultRule,
    Kill,
    LoseReply,
    Pause,
    Tear,
    rule_of,
)
from delta_models.operations import Append, DeadTableAt, FailAt, KillAt, LoseReplyAt, TearAt
from delta_models.schema import LONG, struct
from delta_models.values import Rows

COMMIT = "_delta_log/00000000000000000007.json"
NEXT = "_delta_log/00000000000000000008.json"
KILLED = -9


@pytest.mark.parametrize("name", ("EIO", "ENOSPC", "EACCES", "EEXIST"))
@pytest.mark.parametrize("call", ("open", "rename", "link", "fopen", "sys_linkat"))
def test_a_failed_call_has_its_errno_and_no_effect(instrumented_process, table, run, name, call):
    (table / "old").write_text("new")
    paths = [table / COMMIT] if "open" in call else [table / "old", table / COMMIT]
    instrumented_process.begin([FaultRule("commit", Fail(name))])
    assert run(instrumented_process, call, *paths) == [f"{call} -1 {getattr(errno, name)}"]
    record = instrumented_process.end()
    assert record.followed
    assert [fault.errno for fault in record.faults] == [None]
    assert not (table / COMMIT).exists()
    assert (table / "old").exists()


def test_a_fault_hits_the_event_of_its_number_and_no_other(instrumented_process, table, run):
    paths = [table / f"part-{number}.parquet" for number in range(4)]
    instrumented_process.begin([FaultRule("data", Fail(), 2), FaultRule("clean-up", Fail("EACCES"), 0)])
    words = [word for path in paths for word in ("open", path)]
    lines = run(instrumented_process, *words, "unlink", paths[0])
    assert lines == ["open 0 0"] * 2 + ["open -1 5", "open 0 0", "unlink -1 13"]
    assert instrumented_process.end().followed


@pytest.mark.parametrize(("moment", "left"), (("before", False), ("after", True)))
def test_a_kill_ends_the_process_before_or_after_the_call(instrumented_process, table, start, moment, left):
    instrumented_process.begin([FaultRule("commit", Kill(moment))])
    process = start(
        instrumented_process, "open", table / "first", "open", table / COMMIT, "open", table / NEXT
    )
    assert process.wait(20) == KILLED
    record = instrumented_process.end()
    assert record.followed
    assert (table / COMMIT).exists() is left
    assert (table / "first").exists()
    assert not (table / NEXT).exists()


def test_a_kill_in_a_child_ends_the_whole_actor(instrumented_process, table, start):
    instrumented_process.begin([FaultRule("commit", Kill())])
    process = start(instrumented_process, "fork", "open", table / COMMIT, "open", table / NEXT)
    assert process.wait(20) == KILLED
    instrumented_process.end()
    assert not (table / NEXT).exists()


def test_after_a_kill_the_next_life_of_the_actor_is_a_new_one(instrumented_process, table, run):
    instrumented_process.begin([FaultRule("commit", Kill())])
    assert run(instrumented_process, "open", table / COMMIT) == []
    instrumented_process.end()
    instrumented_process.begin()
    assert run(instrumented_process, "open", table / COMMIT) == ["open 0 0"]
    assert instrumented_process.end().trace == ("commit#0 open",)


@pytest.mark.parametrize("call", ("open", "creat", "rename", "link", "fopen"))
def test_a_lost_reply_is_done_and_told_as_failed(instrumented_process, table, run, call):
    (table / "old").touch()
    paths = [table / COMMIT] if call in {"open", "creat", "fopen"} else [table / "old", table / COMMIT]
    instrumented_process.begin([FaultRule("commit", LoseReply())])
    assert run(instrumented_process, call, *paths) == [f"{call} -1 5"]
    assert (table / COMMIT).exists()
    assert [fault.errno for fault in instrumented_process.end().faults] == [0]


def test_a_lost_reply_of_a_call_that_fails_anyway_keeps_the_true_errno(instrumented_process, table, run):
    (table / COMMIT).touch()
    instrumented_process.begin([FaultRule("commit", LoseReply())])
    assert run(instrumented_process, "open_excl", table / COMMIT) == ["open_excl -1 17"]
    assert "failed by itself (File exists)" in instrumented_process.end().problems[0]


def test_a_file_that_could_not_be_made_is_not_torn_and_that_is_told(instrumented_process, table, run):
    (table / COMMIT).touch()
    instrumented_process.begin([FaultRule("commit", Tear(3))])
    assert run(instrumented_process, "open_excl", table / COMMIT) == ["open_excl -1 17"]
    assert not instrumented_process.end().followed


@pytest.mark.parametrize("call", ("write", "pwrite", "writev", "sys_write"))
@pytest.mark.parametrize("length", (0, 7, 10, 43))
def test_a_torn_file_holds_its_first_bytes_and_its_writer_is_killed(
    instrumented_process, table, start, call, length
):
    instrumented_process.begin([FaultRule("commit", Tear(length))])
    assert start(instrumented_process, call, table / COMMIT).wait(20) == KILLED
    assert (table / COMMIT).read_bytes() == (b"0123456789" * 5)[:length]
    assert instrumented_process.end().followed


@pytest.mark.parametrize("call", ("write", "pwrite", "writev", "ftruncate"))
def test_a_full_disk_is_a_file_torn_with_an_errno(instrumented_process, table, run, call):
    instrumented_process.begin([FaultRule("commit", Tear(13, "ENOSPC"))])
    assert run(instrumented_process, call, table / COMMIT, "write", table / NEXT) == [
        f"{call} -1 28",
        "write 100 0",
    ]
    assert (table / COMMIT).stat().st_size == 13
    assert (table / NEXT).stat().st_size == 100


def test_what_writes_no_file_of_its_own_cannot_be_torn_and_that_is_told(instrumented_process, table, run):
    (table / "old").touch()
    instrumented_process.begin([FaultRule("commit", Tear(1))])
    assert run(instrumented_process, "rename", table / "old", table / COMMIT) == ["rename 0 0"]
    record = instrumented_process.end()
    assert not record.followed
    assert "could not be torn" in record.problems[0]


def test_a_dead_table_takes_no_change_any_more_and_the_process_lives(
    instrumented_process, table, tmp_path, run
):
    (table / "old").touch()
    instrumented_process.begin([FaultRule("commit", DeadTable())])
    lines = run(
        instrumented_process, "open", table / COMMIT, "write", table / NEXT, "unlink", table /
        "old", "mkdir", table / "x=1",
        "rename", table / "old", table / "new", "opendir", table / "_delta_log", "write", tmp_path / "elsewhere",
    )  # fmt: skip
    assert lines == [
        "open -1 5", "write -1 5", "unlink -1 5", "mkdir -1 5", "rename -1 5", "opendir 0 0", "write 100 0",
    ]  # fmt: skip
    record = instrumented_process.end()
    assert record.followed
    assert record.refused == 4
    assert [path.name for path in sorted(table.iterdir())] == ["_delta_log", "old"]


def test_a_table_that_dies_after_a_call_keeps_it_and_not_what_is_written_then(
    instrumented_process, table, run
):
    instrumented_process.begin([FaultRule("commit", DeadTable("after"))])
    assert run(instrumented_process, "write", table / COMMIT, "open", table / NEXT) == [
        "write -1 5",
        "open -1 5",
    ]
    instrumented_process.end()
    assert (table / COMMIT).stat().st_size == 0


ASKED = """
import sys
for line in sys.stdin:
    try:
        open(line.strip(), "w").close()
        print("made", flush=True)
    except OSError as error:
        print(error.errno, flush=True)
"""


def test_a_dead_table_stays_dead_between_operations_until_another_is_watched(
    instrumented_process, table, tmp_path
):
    with subprocess.Popen(
        [sys.executable, "-c", ASKED],
        env=instrumented_process.environment(),
        text=True,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as process:

        def make(path):
            process.stdin.write(f"{path}\n")
            process.stdin.flush()
            return process.stdout.readline().strip()

        instrumented_process.begin([FaultRule("commit", DeadTable())])
        assert make(table / COMMIT) == "5"
        assert make(tmp_path / "elsewhere") == "made"
        instrumented_process.end()
        assert make(table / NEXT) == "5"
        instrumented_process.begin()
        assert make(table / NEXT) == "5"
        assert instrumented_process.end().refused == 1
        table.rename(tmp_path / "corpse")
        (tmp_path / "corpse" / "_delta_log" / "kept").touch()
        (tmp_path / "fresh").mkdir()
        instrumented_process.watch(tmp_path / "fresh")
        assert make(tmp_path / "fresh" / "a") == "made"
        assert make(tmp_path / "corpse" / "a") == "made"
        process.stdin.close()


def test_a_held_call_waits_until_it_is_released(instrumented_process, table, start):
    instrumented_process.begin([FaultRule("commit", Pause())])
    process = start(instrumented_process, "open", table / COMMIT)
    event = instrumented_process.wait_until_paused(20)
    assert event is not None
    assert event.name == "commit#0 open"
    assert process.poll() is None
    assert not (table / COMMIT).exists()
    instrumented_process.release()
    assert process.wait(20) == 0
    assert instrumented_process.end().happened[0].action == PASS


def test_a_held_call_can_be_told_to_fail(instrumented_process, table, start):
    instrumented_process.begin([FaultRule("commit", Pause())])
    process = start(instrumented_process, "open", table / COMMIT)
    assert instrumented_process.wait_until_paused(20)
    instrumented_process.release(Fail("EEXIST"))
    assert process.communicate(timeout=20)[0] == "open -1 17\n"


def test_while_one_thread_is_parked_the_others_wait_at_the_table_too(
    turnstile, instrumented_process, table, start
):
    instrumented_process.begin([FaultRule("data", Pause(), 5)])
    process = start(instrumented_process, "threads", table)
    assert instrumented_process.wait_until_paused(20)
    assert turnstile.wait(lambda: instrumented_process.control.waiting == 7, 20), (
        "the seven other threads wait behind it"
    )
    assert len(list(table.glob("*.parquet"))) == 5
    instrumented_process.release()
    assert process.wait(20) == 0
    record = instrumented_process.end()
    assert record.followed
    assert len(record.happened) == 160


def test_a_fault_whose_event_never_came_is_told(instrumented_process, table, run):
    rule = FaultRule("checkpoint", Kill())
    instrumented_process.begin([rule])
    run(instrumented_process, "open", table / COMMIT)
    record = instrumented_process.end()
    assert record.unmet == (rule,)
    assert not record.followed


def test_two_faults_in_one_operation_both_take_place(instrumented_process, table, run):
    instrumented_process.begin([FaultRule("staging", Fail(), 0), FaultRule("commit", LoseReply("EIO"))])
    lines = run(instrumented_process, "open", table / f"{COMMIT}#1", "open", table / COMMIT)
    assert lines == ["open -1 5", "open -1 5"]
    assert [path.name for path in (table / "_delta_log").iterdir()] == [COMMIT.rpartition("/")[2]]


@pytest.mark.parametrize(
    ("fault", "rule"),
    (
        (KillAt("commit"), FaultRule("commit", Kill("before"))),
        (KillAt("data", "after", 2), FaultRule("data", Kill("after"), 2)),
        (FailAt("staging", "ENOSPC"), FaultRule("staging", Fail("ENOSPC"))),
        (LoseReplyAt("commit"), FaultRule("commit", LoseReply())),
        (TearAt("staging", 7), FaultRule("staging", Tear(7))),
        (DeadTableAt("checkpoint", "after", 1), FaultRule("checkpoint", DeadTable("after"), 1)),
    ),
)
def test_a_fault_of_the_alphabet_is_a_rule(fault, rule):
    assert rule_of(fault) == rule


def test_an_append_is_no_fault_and_an_unknown_errno_is_refused(instrumented_process):
    with pytest.raises(ValueError, match="no fault"):
        rule_of(Append(Rows(struct(("id", LONG)), ())))
    with pytest.raises(ValueError, match="can't be EPERM"):
        instrumented_process.begin([FaultRule("commit", Fail("EPERM"))])
    with pytest.raises(ValueError, match="no role 'comit'"):
        instrumented_process.begin([FaultRule("comit", Fail("EIO"))])
