"""Says how much of a run its triage took: python tools/explaining_share.py RUN...

RUN is the folder of a run. The seconds are those of all workers together, so the share of the run's own time is an
upper bound of that of any worker. Shrinking, which ends with `new`, is told apart.
"""

from __future__ import annotations

import sys
from pathlib import Path

from conformance.events.types import FindingFound, FindingTriaged, RunEnded
from conformance.reporting.event_log import read


def main(folders: list[str]) -> int:
    """Print a line for each run; return 1 if explaining took more than a fifth of one."""
    worst = 0.0
    for folder in folders:
        dear: set[str] = set()
        spent = {"on a JVM": [0, 0.0], "without": [0, 0.0], "shrinking": [0, 0.0]}
        left, total = 0, 0.0
        for event in read(Path(folder)).events:
            match event:
                case FindingFound(fingerprint=sighting, dear=True):
                    dear.add(sighting)
                case FindingTriaged(state=state, sighting=sighting, seconds=seconds):
                    kind = "shrinking" if state == "new" else "on a JVM" if sighting in dear else "without"
                    spent[kind][0] += 1
                    spent[kind][1] += seconds
                    left += state == "unexplained"
                case RunEnded(seconds=seconds):
                    total = seconds
        explaining = spent["on a JVM"][1] + spent["without"][1]
        share = explaining / total if total else 0.0
        worst = max(worst, share)
        parts = ", ".join(f"{name} {count} in {seconds:.1f} s" for name, (count, seconds) in spent.items())
        print(f"{folder}: {parts}; {left} unexplained; explaining is {share:.1%} of {total:.0f} s")
    return int(worst > 1 / 5)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
