"""Findings replayed twenty times each: in a fresh clone, each time at another path, under another hash seed and
another zone, while somebody keeps a core busy. Not a comparison with a peer: the bar is that all come to the same.

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
from tests.triage.elsewhere import CRASH, RACE, kept, replays

TIMES = 20


def _rows(deviation: str) -> list[Row]:
    with tempfile.TemporaryDirectory(prefix="replays-") as folder:
        finding = kept(deviation, Path(folder) / "kept")
        told = Counter(replays(finding, Path(folder) / "again", TIMES))
    ended, same = told.most_common(1)[0]
    same = same if ended.exit == FAILS else 0
    share = same / TIMES
    row = Row(
        f"{deviation} replays elsewhere", "replays", same, "asked", TIMES, share, (share, share), 1.0, pairs=TIMES,
        note=ended.said.strip(),
    )  # fmt: skip
    return [row]


WORKS = {"race": partial(_rows, RACE), "crash": partial(_rows, CRASH)}


def main(asked: Sequence[str] = ()) -> Result:
    """A row for a finding of a race, and one for a finding of a fault."""
    return in_parts("replays", WORKS, asked, ("ours: the replays that said the same",))


if __name__ == "__main__":
    main(sys.argv[1:])
