"""What a worker makes of its settings, in a real process."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from conformance.worker import BEHIND, Settings


@pytest.mark.parametrize("gives_way", (True, False))
def test_a_worker_that_the_run_does_not_wait_for_is_nicer_than_the_others(tmp_path, gives_way):
    settings = Settings(
        engines=(), folder=str(tmp_path / "run"), work=str(tmp_path / "work"), gives_way=gives_way
    )
    process = subprocess.Popen(
        [sys.executable, "-m", "conformance.worker"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    with process:
        assert process.stdin
        assert process.stdout
        process.stdin.write(settings.to_line() + "\n")
        process.stdin.flush()
        assert json.loads(process.stdout.readline()) == {"idle": True}
        ours = os.getpriority(os.PRIO_PROCESS, 0)
        theirs = os.getpriority(os.PRIO_PROCESS, process.pid)
        process.stdin.close()
    assert theirs == min(ours + BEHIND * gives_way, 19)
    assert process.returncode == 0
