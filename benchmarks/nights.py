"""What runs on versions of deltalake show: findings per cause, and what is new after a baseline.

    ./dev bench nights                                   about 40 minutes
    ./dev python -m benchmarks.nights FOLDER [WORK...]   goes on where it stopped: FOLDER keeps the runs

The works are `versions` and `baselines`. Whether two findings have one cause must be read: a row counts each finding
that no cause explains as a cause of its own, and its note names these findings.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.results import Result, Row, in_parts

VERSIONS = ("1.0.2", "1.4.2", "1.5.0", "1.6.6")
NIGHT = ("--profile", "nightly", "--budget", "4m")
MOST_PER_CAUSE = 1.3
BASE = "1.5.0"
BESIDE = ("--engine", f"delta-rs@{BASE}", "--suite", "lockstep")
COMPARED = 3  # seeds beside the one of the baseline
MOST_NEW = 3


@dataclass(frozen=True, slots=True)
class Night:
    """What a run has found: how many findings of each cause, and the findings without one."""

    seed: int
    exit: int
    per_cause: Counter[str]
    unexplained: tuple[str, ...]

    @classmethod
    def of(cls, folder: Path) -> Night:
        """Read what a run has left in its folder."""
        summary = json.loads((folder / "latest" / "summary.json").read_text())
        known: Counter[str] = Counter()
        others: list[str] = []
        for finding in summary["findings"]:
            if finding["cause"]:
                known[finding["cause"]] += 1
            else:
                others.append(f"{finding['fingerprint']} {finding['requirement']} ({finding['state']})")
        return cls(summary["seed"], summary["exit"], known, tuple(others))

    def per_one(self) -> float:
        """How many findings stand for one cause."""
        findings = self.per_cause.total() + len(self.unexplained)
        return findings / max(1, len(self.per_cause) + len(self.unexplained))

    def __str__(self) -> str:
        several = [f"{cause} {many}" for cause, many in sorted(self.per_cause.items()) if many > 1]
        parts = [
            f"seed {self.seed}: exit {self.exit}, {len(self.per_cause)} causes",
            *several,
            *self.unexplained,
        ]
        return "; ".join(parts)


def versions(folder: Path) -> list[Row]:
    """A night of each version."""
    rows = []
    for version in VERSIONS:
        night = _night(folder / f"night-{version}", _seed(), "--engine", f"delta-rs@{version}", *NIGHT)
        work = f"findings per cause on deltalake {version}"
        rows.append(_row(work, "findings", night.per_one(), MOST_PER_CAUSE, str(night)))
    return rows


def baselines(folder: Path) -> list[Row]:
    """Other seeds, against the baseline of one."""
    first = _night(folder / "baseline", _seed(), *BESIDE)
    baseline = folder / "baseline" / "latest" / "summary.json"
    rows = []
    for number in range(1, COMPARED + 1):
        out = folder / f"after-{number}"
        night = _night(out, first.seed + number, *BESIDE, "--baseline", str(baseline))
        new = [finding for finding in _findings(out) if finding["state"] not in {"known", "fixed"}]
        work = f"new findings of other seeds on deltalake {BASE}, {number} of {COMPARED}"
        note = f"baseline of seed {first.seed}; {night}"
        rows.append(_row(work, "findings", len(new), MOST_NEW, note))
    return rows


def _night(out: Path, seed: int, *options: str) -> Night:
    """Play it, unless the folder holds it already."""
    if not (out / "latest" / "summary.json").exists():
        command = (
            sys.executable,
            "-m",
            "conformance",
            "run",
            *options,
            "--seed",
            str(seed),
            "--out",
            str(out),
        )
        subprocess.run(command, check=False, stdout=subprocess.DEVNULL)
    return Night.of(out)


def _findings(out: Path) -> list[dict[str, Any]]:
    findings: list[dict[str, Any]] = json.loads((out / "latest" / "summary.json").read_text())["findings"]
    return findings


def _seed() -> int:
    return random.SystemRandom().randrange(2**32)


def _row(work: str, measure: str, ours: float, bar: float, note: str) -> Row:
    ratio = ours / bar
    return Row(work, measure, ours, "bar", bar, ratio, (ratio, ratio), 1.0, more_is_better=False, note=note)


WORKS = {"versions": versions, "baselines": baselines}


def main(folder: str = "", *works: str) -> Result:
    """Play the nights; rows for `findings.json`, beside those of `benchmarks.findings`."""
    if folder:
        return _measured(Path(folder), works)
    with tempfile.TemporaryDirectory(prefix="nights-") as temporary:
        return _measured(Path(temporary), works)


def _measured(folder: Path, chosen: Sequence[str]) -> Result:
    return in_parts("findings", {name: partial(work, folder) for name, work in WORKS.items()}, chosen, ())


if __name__ == "__main__":
    main(*sys.argv[1:])
