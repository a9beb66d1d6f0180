"""What runs on versions of deltalake show: findings per cause, and what is new after a baseline.

    ./dev bench nights                                   about 40 minutes
    ./dev python -m benchmarks.nights FOLDER [WORK...]   goes on where it stopped: FOLDER keeps the runs

The works are `versions` and `baselines`. Somebody must read which cause a finding has that no catalogued cause explains
and write it into FOLDER/read.toml, a line for each: fingerprint = "cause, in your words". A finding that is not
there counts without a cause of its own, so the figures are too high until all are read.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
import tempfile
import tomllib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

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
    """What a run has found: findings of each cause, and findings that neither a cause nor a baseline knows."""

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
            elif finding["state"] != "known":  # the baseline knows it
                others.append(f"{finding['fingerprint']} {finding['requirement']} ({finding['state']})")
        return cls(summary["seed"], summary["exit"], known, tuple(others))

    def findings_per_cause(self, read: Mapping[str, str]) -> float:
        """How many findings stand for one cause. `read` is what was read, by fingerprint."""
        findings = self.per_cause.total() + len(self.unexplained)
        causes = {
            *self.per_cause,
            *(read[name] for name in map(_fingerprint, self.unexplained) if name in read),
        }
        return findings / max(1, len(causes))

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
    rows, path = [], folder / "read.toml"
    read = tomllib.loads(path.read_text()) if path.exists() else {}
    for version in VERSIONS:
        night = _night(folder / f"night-{version}", _seed(), "--engine", f"delta-rs@{version}", *NIGHT)
        work = f"findings per cause on deltalake {version}"
        ours = night.findings_per_cause(read)
        rows.append(Row.at_most(work, "findings", ours, MOST_PER_CAUSE, note=str(night)))
    return rows


def baselines(folder: Path) -> list[Row]:
    """Other seeds, against the baseline of one."""
    first = _night(folder / "baseline", _seed(), *BESIDE)
    baseline = folder / "baseline" / "latest" / "summary.json"
    rows = []
    for number in range(1, COMPARED + 1):
        out = folder / f"after-{number}"
        night = _night(out, first.seed + number, *BESIDE, "--baseline", str(baseline))
        work = f"new findings of other seeds on deltalake {BASE}, {number} of {COMPARED}"
        note = f"baseline of seed {first.seed}; {night}"
        rows.append(Row.at_most(work, "findings", len(night.unexplained), MOST_NEW, note=note))
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


def _fingerprint(finding: str) -> str:
    return finding.split(maxsplit=1)[0]


def _seed() -> int:
    return random.SystemRandom().randrange(2**32)


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
