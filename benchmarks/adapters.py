"""What the author of a new adapter gets: the time to a verdict, and steps a minute beside those of a full adapter.

    ./dev bench adapters

A package is made by `conformance new-adapter`, installed by pip as its README says (without the index: what it depends
on is there), and tested by `conformance run`. The time is from the first command to the exit code. Then the made
adapter, which claims four operations, and the full adapter of the same engine play as many histories in turns, alone.
The rows go into `results/gate.json` too, under the key `adapters`.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.results import RESULTS, Result, Row, machine

NAME, FULL = "four-ops", "delta-rs"
WITHIN = 600.0  # seconds from nothing to exit 0
HISTORIES, TURNS = 48, 3
BAR = 0.8


def main() -> Result:
    with tempfile.TemporaryDirectory(prefix="bench-adapters-") as work:
        package = Path(work, NAME)
        began = time.monotonic()
        _conformance(Path(work), "new-adapter", NAME)
        environment = _install(package)
        subprocess.run([sys.executable, "-m", "pytest", "-q"], cwd=package, env=environment, check=True)
        verdict = _conformance(package, "run", "--format", "plain", environment=environment)
        seconds = time.monotonic() - began
        summary = _summary(package)
        rates: dict[str, list[float]] = {NAME: [], FULL: []}
        for turn in range(TURNS):
            for engine in (NAME, FULL) if turn % 2 else (FULL, NAME):
                rates[engine].append(_rate(package, engine, turn, environment))
    ratios = [ours / theirs for ours, theirs in zip(rates[NAME], rates[FULL], strict=True)]
    rows = (
        Row(
            "from nothing to a verdict", f"seconds, exit {verdict}", seconds, "the most", WITHIN, seconds / WITHIN,
            (seconds / WITHIN, seconds / WITHIN) if verdict == 0 else (9.0, 9.0), bar=1.0, more_is_better=False,
            note=f"{summary['verdict']}; {sum(suite['steps'] for suite in summary['suites'])} steps",
        ),
        Row(
            "four operations beside all", "steps a minute", median(rates[NAME]), FULL, median(rates[FULL]),
            median(ratios), (min(ratios), max(ratios)), bar=BAR, pairs=TURNS,
        ),
    )  # fmt: skip
    result = Result("adapters", rows, (__doc__.splitlines()[0],))
    _keep(result)
    return result


def _rate(package: Path, engine: str, seed: int, environment: dict[str, str]) -> float:
    """Steps that were performed a minute, of the histories of one engine alone."""
    options = ("--suite", "lockstep", "--examples", str(HISTORIES), "--seed", str(seed), "--jobs", "1")
    _conformance(package, "run", "--engine", engine, *options, "--format", "plain", environment=environment)
    events = [
        json.loads(line)
        for line in (package / "conformance-results" / "latest" / "events.jsonl").read_text().splitlines()
    ]
    steps = sum(event["steps"] for event in events if event["event"] == "HistoryEnded")
    seconds = sum(event["seconds"] for event in events if event["event"] == "HistoryEnded")
    return float(60.0 * steps / seconds)


def _install(package: Path) -> dict[str, str]:
    """Install the package, and return the environment in which it can be imported."""
    target = package.parent / "installed"
    subprocess.run(
        [
            sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation",
            "--disable-pip-version-check", "--target", str(target), str(package),
        ],
        check=True,
    )  # fmt: skip
    return {**os.environ, "PYTHONPATH": str(target)}


def _conformance(folder: Path, *words: str, environment: dict[str, str] | None = None) -> int:
    command = [sys.executable, "-m", "conformance", *words]
    return subprocess.run(command, cwd=folder, env=environment, check=False).returncode


def _summary(package: Path) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads(
        (package / "conformance-results" / "latest" / "summary.json").read_text()
    )
    return loaded


def _keep(result: Result) -> None:
    """Put the rows into the figures of the gate, which other scripts write as well."""
    path = RESULTS / "gate.json"
    form = json.loads(path.read_text()) if path.exists() else {}
    form["adapters"] = {
        "command": "./dev bench adapters",
        "machine": machine(),
        "rows": [row.to_json() for row in result.rows],
    }
    path.write_text(json.dumps(form, indent=2) + "\n")


if __name__ == "__main__":
    for row in main().rows:
        print(row)
