"""What the turnstile can't work with: it reports the cause and the cure, and leaves no process behind."""

import os
import select
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from conformance.fault_injection import shim_build
from conformance.fault_injection.controller import Turnstile
from conformance.fault_injection.fault_actions import FaultRule, Pause
from conformance.fault_injection.instrumented_process import NotInstrumented
from conformance.fault_injection.interleaving import ScheduledWriter, interleave
from conformance.fault_injection.shim_build import TurnstileProblem, shim

COMMIT = "_delta_log/00000000000000000007.json"


@pytest.fixture
def fresh_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def tools(tmp_path, monkeypatch):
    """A PATH with nothing on it but what a test puts there."""
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    return tmp_path / "bin"


def test_without_a_compiler_the_message_names_what_to_install(fresh_cache, tools):
    with pytest.raises(TurnstileProblem, match=r"no C compiler(.|\n)*apt install gcc(.|\n)*cache"):
        shim()


def test_a_library_compiled_before_needs_no_compiler(tools):
    assert shim().exists()


def test_a_compiler_that_fails_is_quoted(fresh_cache, tools):
    (tools / "cc").write_text("#!/bin/sh\necho 'fatal error: dlfcn.h: No such file' >&2; exit 1\n")
    (tools / "cc").chmod(0o755)
    with pytest.raises(TurnstileProblem, match=r"exit code 1(.|\n)*libc6-dev(.|\n)*dlfcn.h: No such file"):
        shim()
    assert not list(fresh_cache.rglob("*.so")) + list(fresh_cache.rglob("*.partial"))


def test_a_cache_that_cannot_be_written_is_told(tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    with pytest.raises(TurnstileProblem, match="XDG_CACHE_HOME moves it elsewhere"):
        shim()


def test_several_at_once_compile_once(fresh_cache, monkeypatch):
    compiled = []
    real = shim_build._compile

    def counting(library, flags):
        compiled.append(library)
        real(library, flags)

    monkeypatch.setattr(shim_build, "_compile", counting)
    threads = [threading.Thread(target=shim) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(compiled) == 1


def test_a_cache_with_spaces_in_its_path_works(tmp_path, table, monkeypatch, run):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "my cache: mine"))
    with Turnstile(tmp_path / "turnstile") as turnstile:
        instrumented_process = turnstile.add_process("A")
        instrumented_process.watch(table)
        instrumented_process.begin()
        run(instrumented_process, "open", table / COMMIT)
        assert len(instrumented_process.end().happened) == 1


def test_a_preload_of_the_users_own_is_kept(instrumented_process, monkeypatch):
    monkeypatch.setenv("LD_PRELOAD", "/usr/lib/libother.so")
    assert instrumented_process.environment()["LD_PRELOAD"].endswith(".so:/usr/lib/libother.so")


def test_a_static_engine_is_told_as_not_seen(instrumented_process, table, static_probe, run):
    instrumented_process.begin()
    assert run(instrumented_process, "open", table / COMMIT, program=static_probe) == ["open 0 0"]
    with pytest.raises(NotInstrumented, match=r"A has loaded the turnstile: it is linked statically"):
        instrumented_process.check_instrumented()


def test_an_engine_that_leaves_its_files_to_a_static_program_is_told_as_not_seen(
    instrumented_process, table, static_probe, run
):
    instrumented_process.begin()
    run(instrumented_process, "exec", static_probe, "open", table / COMMIT)
    with pytest.raises(
        NotInstrumented, match=rf"{COMMIT}|_delta_log changed, and the turnstile saw nothing of it"
    ):
        instrumented_process.check_instrumented()


def test_an_engine_that_changes_nothing_is_seen(instrumented_process, table, run):
    (table / "old").touch()
    instrumented_process.begin(listings=False)
    run(instrumented_process, "read", table / "old")
    instrumented_process.check_instrumented()


def test_a_folder_that_cannot_be_made_is_told(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(TurnstileProblem, match=r"can't make the turnstile's socket in .*/file/turnstile"):
        Turnstile(tmp_path / "file" / "turnstile")


def test_a_path_too_long_for_a_socket_gets_a_short_one(tmp_path, table, run):
    deep = tmp_path / ("d" * 60) / ("e" * 60)
    with Turnstile(deep) as turnstile:
        instrumented_process = turnstile.add_process("A")
        instrumented_process.watch(table)
        instrumented_process.begin()
        run(instrumented_process, "open", table / COMMIT)
        assert len(instrumented_process.end().happened) == 1
        short = Path(turnstile._path).parent
        assert short != deep
    assert not short.exists()


def test_a_process_whose_page_is_gone_says_that_it_is_not_seen(instrumented_process, table, start):
    instrumented_process._page.path.unlink()
    assert (
        "nothing of this process is seen"
        in start(instrumented_process, "open", table / COMMIT).communicate(timeout=20)[1]
    )


def test_two_actors_cannot_have_one_name_nor_begin_without_a_table(turnstile):
    nobody = turnstile.add_process("nobody")
    with pytest.raises(ValueError, match="there is an actor 'nobody' already"):
        turnstile.add_process("nobody")
    with pytest.raises(ValueError, match="watches no table"):
        nobody.begin()


def test_a_hold_that_nobody_releases_ends_its_process_in_time_and_is_told(tmp_path, table, start):
    with Turnstile(tmp_path / "turnstile", hold_seconds=0.3) as turnstile:
        instrumented_process = turnstile.add_process("A")
        instrumented_process.watch(table)
        instrumented_process.begin([FaultRule("commit", Pause())])
        assert start(instrumented_process, "open", table / COMMIT).wait(20) == -signal.SIGKILL
        record = instrumented_process.end()
    assert not (table / COMMIT).exists()
    assert "parked at commit#0 open" in record.problems[0]
    assert "more than 0.3 s" in record.problems[0]


def test_a_hung_writer_is_named_and_ended(turnstile, instrumented_process, table, start):
    def submit():
        process = start(instrumented_process, "open", table / f"{COMMIT}#1", "spin", "")
        return lambda: process.wait(60)

    result = interleave(turnstile, [ScheduledWriter(instrumented_process, submit)], (0,), step_seconds=0.5)
    assert result.answers == (-signal.SIGKILL,)
    assert not result.followed
    assert "writer 0 (A) hung: 0.5 s after staging" in result.problems[0]


def test_a_parked_process_that_dies_is_told(turnstile, instrumented_process, table, start):
    instrumented_process.begin([FaultRule("commit", Pause())])
    process = start(instrumented_process, "open", table / COMMIT)
    assert instrumented_process.wait_until_paused(20)
    process.kill()
    assert turnstile.wait(lambda: instrumented_process.paused is None, 20)
    assert "its process ended while it was parked at commit#0 open" in instrumented_process.end().problems[0]


def test_closing_the_turnstile_ends_whoever_is_parked(tmp_path, table, start):
    turnstile = Turnstile(tmp_path / "other")
    instrumented_process = turnstile.add_process("A")
    instrumented_process.watch(table)
    instrumented_process.begin([FaultRule("commit", Pause())])
    process = start(instrumented_process, "open", table / COMMIT)
    assert instrumented_process.wait_until_paused(20)
    turnstile.close()
    turnstile.close()
    assert process.wait(20) == -signal.SIGKILL


CONTROLLER = """
import os, subprocess, sys, time
from pathlib import Path
from conformance.fault_injection.controller import Turnstile
from conformance.fault_injection.fault_actions import FaultRule, Pause
work, probe, table = map(Path, sys.argv[1:])
turnstile = Turnstile(work)
pids = []
for name in ("A", "B"):
    process = turnstile.add_process(name)
    process.watch(table)
    process.begin([FaultRule("data", Pause())])
    words = ["fork", "open", table / f"{name}.parquet", "open", table / "afterwards"]
    pids.append(subprocess.Popen([probe, *words], env={**os.environ, **process.environment()}).pid)
    assert process.wait_until_paused(20)
    pids.append(process.paused.call.pid)
print(*pids, flush=True)
time.sleep(60)
"""


def test_no_parked_process_outlives_a_killed_controller(tmp_path, probe, table):
    # A paused process ends itself, and the first process of its environment with it.
    with subprocess.Popen(
        [sys.executable, "-c", CONTROLLER, tmp_path / "t", probe, table], stdout=subprocess.PIPE, text=True
    ) as controller:
        pids = [int(part) for part in controller.stdout.readline().split()]
        assert len(set(pids)) == 4
        descriptors = [os.pidfd_open(pid) for pid in pids]
        controller.kill()
        controller.wait()
    for descriptor in descriptors:
        poll = select.poll()
        poll.register(descriptor, select.POLLIN)
        assert poll.poll(20_000), "a process outlived the controller"
        os.close(descriptor)
    assert [path.name for path in table.iterdir()] == ["_delta_log"], (
        "nothing was written after the controller's end"
    )
