"""The example of an engine that is not in Python: Delta Kernel behind a host in Java, judged like any other."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from delta_adapters.registry import parse_engine
from delta_adapters.smoke import smoke_engine

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    """The compiled host, as its README builds it."""
    if importlib.util.find_spec("pyspark") is None:
        pytest.skip("pyspark: the JARs of Delta Kernel's libraries come with it")
    if shutil.which("javac") is None:
        pytest.skip("jdk: there is no javac on PATH")
    folder = tmp_path_factory.mktemp("kernel") / "built"
    tool = [sys.executable, str(ROOT / "examples" / "kernel-host" / "build.py"), str(folder)]
    done = subprocess.run(tool, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.slow
def test_it_passes_the_smoke_test(program, tmp_path):
    assert smoke_engine(parse_engine(f"kernel={program}"), tmp_path) == "delta-kernel@4.4.0"


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_it_creates_appends_overwrites_and_reads_and_ends_with_0(program, tmp_path):
    done = subprocess.run(
        [
            sys.executable, "-m", "conformance", "run", "--engine", f"kernel={program}", "--profile", "dev",
            "--format", "plain", "--out", str(tmp_path),
        ],
        capture_output=True, text=True, check=False, cwd=ROOT, env={**os.environ},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr
    summary = json.loads((tmp_path / "latest" / "summary.json").read_text())
    assert [engine["name"] for engine in summary["engines"]] == ["delta-kernel"]
    held = {
        claim["requirement"] for claim in summary["claims"] if claim["core"] and claim["verdict"] == "holds"
    }
    assert {"contents.append", "read.latest", "stats.num-records"} <= held
