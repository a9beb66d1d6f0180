import os
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from delta_adapters import host_supervisor
from delta_adapters.host_client import HostClient
from delta_adapters.host_errors import AdapterBug, HostDied, HostGarbage, HostHung
from delta_adapters.host_supervisor import descendants
from delta_adapters.registry import parse_engine
from delta_models.operations import Append, Read
from delta_models.outcomes import Committed
from delta_models.schema import LONG, struct
from delta_models.values import Rows

BAD_ADAPTERS = Path(__file__).with_name("bad_adapters.py")
APPEND = Append(Rows(struct(("id", LONG)), ((1,), (None,))))
LINUX = sys.platform.startswith("linux")


@pytest.fixture
def start(tmp_path):
    started: list[HostClient] = []

    def begin(name, **options):
        host = HostClient.start(
            parse_engine(f"{BAD_ADAPTERS}:{name}"), tmp_path / f"{name}{len(started)}", **options
        )
        started.append(host)
        return host

    yield begin
    for host in started:
        host.kill()


def test_an_honest_host_says_who_it_is_answers_and_stops_by_itself(start):
    host = start("Honest")
    host.open("/nowhere")
    assert str(host.identity) == "tiny@1.0"
    assert host.capabilities.covers(APPEND) is None
    assert host.execute(APPEND, "h0s1").outcome == Committed()
    answer = host.read(Read())
    assert (answer.table.to_pydict(), answer.version, answer.outcome) == ({"id": [1, 2]}, 7, None)
    host.close()
    assert (host.ended.exit, host.ended.killed) == (0, 0)
    assert (host.work / "stopped").exists()


def test_two_hosts_work_at_once(start):
    slow, fast = start("Hangs"), start("Honest")
    waiting = slow.submit(APPEND, timeout=30)
    assert fast.execute(APPEND).outcome == Committed()
    slow.kill()
    with pytest.raises(HostDied):
        waiting.result()


def test_a_host_takes_one_request_at_a_time(start):
    host = start("Honest")
    pending = host.submit(APPEND)
    with pytest.raises(RuntimeError, match="take the result"):
        host.execute(APPEND)
    assert pending.result().outcome == Committed()


def test_a_segfault_is_reported_with_the_last_operation_and_the_last_words(start):
    host = start("Segfaults")
    with pytest.raises(HostDied) as caught:
        host.execute(APPEND, "h3s4")
    assert caught.value.exit == -signal.SIGSEGV
    assert caught.value.last_operation == "execute Append h3s4"
    assert "about to follow a null pointer" in caught.value.stderr_tail
    assert "died (by SIGSEGV) while it was asked to execute Append h3s4" in str(caught.value)
    assert host.restart().read(Read()).version == 7


def test_a_hang_is_reported_in_time_and_ended(start):
    host = start("Hangs").ready()
    before = time.monotonic()
    with pytest.raises(HostHung, match=r"did not answer within 0.2 s while it was asked to execute Append"):
        host.execute(APPEND, timeout=0.2)
    assert time.monotonic() - before < 5
    assert not host.alive


def test_a_hang_at_the_start_is_reported_too(start):
    with pytest.raises(HostHung, match="while it was asked to start"):
        start("HangsAtStart").ready(timeout=2)


def test_a_host_that_dies_before_it_says_hello_is_reported_with_its_exit_code(start):
    with pytest.raises(HostDied, match=r"exit code 3(.|\n)*no licence found") as caught:
        start("DiesAtStart").open("/nowhere")
    assert caught.value.exit == 3


def test_what_an_engine_prints_is_no_answer(start):
    host = start("PrintsGarbage")
    for _ in range(3):
        assert host.execute(APPEND).outcome == Committed()
    until = time.monotonic() + 10  # who keeps the log may be behind
    while (host.work / "stdout.log").stat().st_size <= 4096:
        assert time.monotonic() < until
        time.sleep(0.01)


def test_bytes_on_the_wire_that_are_no_answer_end_the_host(start):
    host = start("WritesOnTheWire")
    with pytest.raises(HostGarbage, match="sent garbage"):
        host.execute(APPEND)
    assert not host.alive


def test_a_host_that_closes_its_end_and_lives_on_is_ended(start):
    host = start("ClosesEverything")
    with pytest.raises(HostDied, match="SIGKILL"):
        host.execute(APPEND)


def test_a_flood_on_stderr_neither_blocks_nor_fills_the_disk(start):
    host = start("FloodsStderr", log_cap=100_000)
    assert host.execute(APPEND, timeout=30).outcome == Committed()
    host.close()
    assert sum(path.stat().st_size for path in host.work.glob("stderr.log*")) < 300_000
    assert host.stderr_tail().endswith("the very last words\n")


def test_an_exception_that_leaves_the_adapter_is_its_bug_and_the_host_lives_on(start):
    host = start("Raises")
    with pytest.raises(AdapterBug) as caught:
        host.execute(APPEND)
    assert caught.value.type == "KeyError"
    assert 'return outcomes["the adapter\'s own slip"]' in caught.value.traceback
    assert host.read(Read()).version is None


def test_an_answer_of_the_wrong_type_is_the_adapters_bug(start):
    host = start("WrongTypes")
    with pytest.raises(AdapterBug, match="execute answered 'done, I think', an Outcome was expected"):
        host.execute(APPEND)
    with pytest.raises(AdapterBug, match=r"read answered a dict, a pyarrow.Table was expected"):
        host.read(Read())


def test_an_invalid_capability_document_is_the_adapters_bug(start):
    with pytest.raises(AdapterBug, match="invalid at storages/0: 'the cloud' is not one of"):
        start("ClaimsNonsense").ready()


def test_an_adapter_that_is_not_there_is_reported(start):
    with pytest.raises(AdapterBug, match="no attribute 'NotThere'"):
        start("NotThere").ready()


def test_a_host_that_died_between_two_requests_is_reported_at_the_next(start):
    host = start("DiesLater")
    host.execute(APPEND)
    _wait_for_end(host)
    with pytest.raises(HostDied, match="SIGKILL") as caught:
        host.read(Read())
    assert caught.value.exit == -signal.SIGKILL


@pytest.mark.skipif(not LINUX, reason="only Linux has subreapers")
def test_no_descendant_survives_a_kill_not_even_one_that_left_its_group(start):
    host = start("Daemonises")
    host.execute(APPEND)
    pids = _pids(host)
    assert set(pids) <= set(descendants(host.supervisor_pid))
    ended = host.kill()
    assert (ended.killed >= 3, ended.containment) == (True, "descendants")
    assert [pid for pid in pids if _lives(pid)] == []


@pytest.mark.skipif(not LINUX, reason="only Linux has subreapers")
def test_no_descendant_survives_the_hosts_own_death(start):
    host = start("DaemonisesAndDies")
    with pytest.raises(HostDied, match="exit code 9"):
        host.execute(APPEND)
    assert [pid for pid in _pids(host) if _lives(pid)] == []


@pytest.mark.skipif(not LINUX, reason="only Linux has subreapers")
def test_everything_ends_when_the_harness_is_killed(tmp_path):
    script = f"""
import sys
from pathlib import Path
from delta_adapters.registry import parse_engine
from delta_adapters.host_client import HostClient
from delta_models.codec import decode
from delta_models.operations import Append
from delta_models.schema import LONG, struct
from delta_models.values import Rows
host = HostClient.start(parse_engine("{BAD_ADAPTERS}:Daemonises"), Path("{tmp_path}"))
host.execute(Append(Rows(struct(("id", LONG)), ())))
print(host.supervisor_pid, flush=True)
sys.stdin.read()
"""
    with subprocess.Popen(
        [sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as harness:
        assert harness.stdout is not None
        supervisor = int(harness.stdout.readline())
        watched = [os.pidfd_open(descendant) for descendant in (supervisor, *descendants(supervisor))]
        harness.kill()
    assert len(watched) >= 4
    try:
        deadline = time.monotonic() + 20
        for pidfd in watched:
            assert select.select([pidfd], [], [], max(0, deadline - time.monotonic()))[0], "a process is left"
    finally:
        for pidfd in watched:
            os.close(pidfd)


@pytest.mark.skipif(not LINUX, reason="only Linux kills with the parent")
def test_a_host_goes_with_its_supervisor(start):
    host = start("Honest").ready()
    child = descendants(host.supervisor_pid)
    assert len(child) == 1
    watched = os.pidfd_open(child[0])
    try:
        os.kill(host.supervisor_pid, signal.SIGKILL)
        assert select.select([watched], [], [], 20)[0]
    finally:
        os.close(watched)
    with pytest.raises(HostDied, match=r"died \(killed\)"):
        host.read(Read())


def test_without_a_subreaper_the_process_group_is_killed_and_that_is_said(start, tmp_path, monkeypatch):
    elsewhere = tmp_path / "elsewhere.py"
    elsewhere.write_text(supervisor_source().replace('sys.platform.startswith("linux")', "False"))
    monkeypatch.setattr("delta_adapters.host_process.host_supervisor.__file__", str(elsewhere))
    hanging, honest = start("Hangs"), start("Honest")
    with pytest.raises(HostHung):
        hanging.execute(APPEND, timeout=1)
    honest.ready().close()
    assert (hanging.ended.containment, hanging.ended.asked) == ("process group", True)
    assert (honest.ended.containment, honest.ended.exit) == ("process group", 0)


def test_a_supervisor_that_can_not_work_is_reported_with_its_own_last_words(start, tmp_path, monkeypatch):
    broken = tmp_path / "broken.py"
    broken.write_text("raise SystemExit('this supervisor has no wish to work')")
    monkeypatch.setattr("delta_adapters.host_process.host_supervisor.__file__", str(broken))
    with pytest.raises(HostDied, match="this supervisor has no wish to work"):
        start("Honest").ready()


def supervisor_source() -> str:
    source = Path(host_supervisor.__file__).read_text()
    assert 'sys.platform.startswith("linux")' in source
    return source


def _pids(host: HostClient) -> list[int]:
    return [int(line) for line in (host.work / "pids").read_text().split()]


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def _wait_for_end(host: HostClient) -> None:
    watched = os.pidfd_open(host.supervisor_pid)
    try:
        assert select.select([watched], [], [], 20)[0]
    finally:
        os.close(watched)
