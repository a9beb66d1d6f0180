"""Whether findings replay elsewhere: two findings, twenty times each, in a fresh clone.

Each replay has another path, hash seed and time zone, and another process keeps a core busy. The bar is that all
replays end alike; there is no peer.

    ./dev bench replays                                  both
    ./dev python -m benchmarks.replays race              a finding of a race, or of a fault (crash)
"""

from __future__ import annotations

import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from benchmarks.results import Result, Row, in_parts
from conformance.triage.replay import FAILS
from tests.triage.fresh_clone import CRASH, RACE, record_finding, replays

TIMES = 20


def _rows(deviation: str) -> list[Row]:
    with tempfile.TemporaryDirectory(prefix="replays-") as folder:
        finding = record_finding(deviation, Path(folder) / "kept")
        replayed = Counter(replays(finding, Path(folder) / "again", TIMES))
    ended, same = replayed.most_common(1)[0]
    same = same if ended.exit == FAILS else 0
    share = same / TIMES
    row = Row(
        f"{deviation} replays elsewhere", "replays", same, "asked", TIMES, share, (share, share), 1.0, pairs=TIMES,
        note=ended.output.strip(),
    )  # fmt: skip
    return [row]


WORKS = {"race": partial(_rows, RACE), "crash": partial(_rows, CRASH)}


def main(names: Sequence[str] = ()) -> Result:
    """Replay a finding of a race and one of a fault, or one of them; one row each."""
    return in_parts("replays", WORKS, names, ("ours: the replays that said the same",))


if __name__ == "__main__":
    main(sys.argv[1:])
