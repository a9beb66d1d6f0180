"""How a run of profile `ci` ends on random seeds: never with 3, and with 1 for a new finding alone.

    ./dev bench seeds                                    20 seeds, about an hour
    ./dev python -m benchmarks.seeds FOLDER [SEEDS]      goes on where it stopped: FOLDER keeps the runs

Whether a new finding holds up must be read: the note names the seed. The share of explaining is that of the time that
all workers have, and counts what a worker explains when it has nothing left to play.
"""

from __future__ import annotations

import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from benchmarks.results import Measured, Result, Row
from conformance.cli.run import MOST_JOBS
from conformance.events.types import FindingTriaged
from conformance.reporting.event_log import read

SEEDS = 20
RUN = (sys.executable, "-m", "conformance", "run", "--profile", "ci")
CONCLUSIVE = (0, 1)
STOPPED = 130
WORKERS = min(len(os.sched_getaffinity(0)), MOST_JOBS)  # as `conformance run` has it
MOST_SECONDS, MOST_EXPLAINING = 180.0, 0.2


@dataclass(frozen=True, slots=True)
class SeedRun:
    """How a run ended, how long it took, what it found, and the share of it that explaining took."""

    seed: int
    exit: int
    seconds: float
    new: int
    unexplained: int
    explaining: float

    @classmethod
    def of(cls, folder: Path) -> SeedRun:
        """Read what a run has left in its folder."""
        summary = json.loads((folder / "summary.json").read_text())
        states = [finding["state"] for finding in summary["findings"]]
        spent = sum(
            event.seconds
            for event in read(folder).events
            if isinstance(event, FindingTriaged) and event.state != "new"
        )
        return cls(
            summary["seed"], summary["exit"], summary["seconds"], states.count("new"),
            states.count("unexplained"), spent / (WORKERS * summary["seconds"]),
        )  # fmt: skip

    def __str__(self) -> str:
        found = "".join(f", {many} {state}" for many, state in self._open() if many)
        return f"{self.seed}: exit {self.exit}, {self.seconds:.0f} s{found}"

    def _open(self) -> Iterator[tuple[int, str]]:
        yield self.new, "new"
        yield self.unexplained, "unexplained"


def played(folder: Path) -> list[SeedRun]:
    """The runs in a folder that have come to their ends. One that was stopped by hand has not."""
    runs = (SeedRun.of(path.parent) for path in sorted(folder.glob("*/latest/summary.json")))
    return [run for run in runs if run.exit != STOPPED]


def play(folder: Path, many: int) -> list[SeedRun]:
    """Play random seeds until the folder holds so many runs."""
    while len(runs := played(folder)) < many:
        seed = random.SystemRandom().randrange(2**32)
        out = folder / str(seed)
        subprocess.run([*RUN, "--seed", str(seed), "--out", str(out)], check=False, stdout=subprocess.DEVNULL)
        if not (out / "latest" / "summary.json").exists():
            raise SystemExit(f"the run of seed {seed} has left no summary in {out}")
        print(f"  {SeedRun.of(out / 'latest')}", flush=True)
    return runs


def rows(runs: list[SeedRun]) -> tuple[Row, ...]:
    """The rows of these runs: how they ended, how long they took, and what explaining took."""
    note = "; ".join(map(str, runs))
    inconclusive = sum(run.exit not in CONCLUSIVE for run in runs)
    unexplained = sum(run.unexplained > 0 for run in runs)
    return (
        _row("runs of random seeds that end neither 0 nor 1", inconclusive, 1, len(runs), note),
        _row("runs of random seeds that leave something unexplained", unexplained, 1, len(runs)),
        _row("seconds of such a run, median", statistics.median(run.seconds for run in runs), MOST_SECONDS, len(runs)),
        _row("share of explaining, worst", max(run.explaining for run in runs), MOST_EXPLAINING, len(runs)),
    )  # fmt: skip


def _row(work: str, ours: float, bar: float, many: int, note: str = "") -> Row:
    return Row.at_most(work, work.split(maxsplit=1)[0], ours, bar, pairs=many, note=note)


def main(folder: str = "", seeds: str = str(SEEDS)) -> Result:
    """Play the seeds; rows for `findings.json`, beside those of `benchmarks.findings`."""
    if folder:
        return Measured("findings", rows(play(Path(folder), int(seeds))))
    with tempfile.TemporaryDirectory(prefix="seeds-") as temporary:
        return Measured("findings", rows(play(Path(temporary), int(seeds))))


if __name__ == "__main__":
    result = main(*sys.argv[1:])
    result.write(Path(__file__).parent / "results")
    for row in result.rows:
        print(f"  {row}")
