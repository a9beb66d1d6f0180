"""A worker, in a real process, follows its settings."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from conformance.runner.worker import BEHIND, Settings
from delta_adapters.host_supervisor import descendants
from delta_adapters.spark.java import BRIEF


def niceness(pid: int) -> int:
    """Return the niceness of a session, or of its first process if the system has no niceness of sessions."""
    group = Path(f"/proc/{pid}/autogroup")
    return int(group.read_text().split()[-1]) if group.exists() else os.getpriority(os.PRIO_PROCESS, pid)


@pytest.mark.parametrize("gives_way", (True, False))
def test_a_worker_that_the_run_does_not_wait_for_is_nicer_than_the_others(tmp_path, gives_way):
    settings = Settings(
        engines=(), folder=str(tmp_path / "run"), work=str(tmp_path / "work"), gives_way=gives_way
    )
    process = subprocess.Popen(
        [sys.executable, "-m", "conformance.runner.worker"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        start_new_session=True,
    )  # fmt: skip
    with process:
        assert process.stdin
        assert process.stdout
        process.stdin.write(settings.to_line() + "\n")
        process.stdin.flush()
        assert json.loads(process.stdout.readline()) == {"idle": True}
        ours, theirs = os.nice(0), niceness(process.pid)
        process.stdin.close()
    assert theirs in ({min(ours + BEHIND, 19)} if gives_way else {0, ours})  # a new session begins with none
    assert process.returncode == 0


@pytest.mark.parametrize("brief", (True, False))
def test_the_hosts_of_a_worker_learn_whether_a_jvm_has_a_short_life(tmp_path, monkeypatch, brief):
    monkeypatch.delenv(BRIEF, raising=False)
    settings = Settings(
        engines=("reference",), folder=str(tmp_path / "run"), work=str(tmp_path / "work"), brief=brief
    )
    process = subprocess.Popen(
        [sys.executable, "-m", "conformance.runner.worker"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )  # fmt: skip
    with process:
        assert process.stdin
        assert process.stdout
        process.stdin.write(settings.to_line() + "\n")
        process.stdin.flush()
        assert json.loads(process.stdout.readline()) == {"idle": True}
        (supervisor, *_) = descendants(process.pid)
        told = f"{BRIEF}=1".encode() in Path(f"/proc/{supervisor}/environ").read_bytes().split(b"\0")
        process.stdin.close()
    assert told is brief


IN_A_HOST = """
import os, sys
from pathlib import Path
from delta_adapters.registry import parse_engine
from delta_adapters.host_client import HostClient
os.nice(7)
with HostClient.start(parse_engine("reference"), Path(sys.argv[1])) as host:
    host.ready()
    from tests.runner.test_worker import niceness
    print(niceness(host.supervisor_pid))
"""


def test_an_engine_gives_way_as_its_worker_does(tmp_path):
    completed = subprocess.run(
        [sys.executable, "-c", IN_A_HOST, str(tmp_path)], capture_output=True, text=True, check=True
    )
    assert completed.stdout.split() == [str(min(os.nice(0) + 7, 19))]
