"""Findings replayed twenty times each: in a fresh clone, each time at another path, under another hash seed and
another zone, while somebody keeps a core busy. Not a comparison with a peer: the bar is that all come to the same.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from pathlib import Path

from benchmarks.results import Result, Row
from conformance.findings.replay import FAILS
from tests.run.elsewhere import CRASH, RACE, kept, replays

TIMES = 20


def main() -> Result:
    """A row for a finding of a race, and one for a finding of a fault."""
    return Result("replays", (_row(RACE), _row(CRASH)), ("ours: the replays that said the same",))


def _row(deviation: str) -> Row:
    with tempfile.TemporaryDirectory(prefix="replays-") as folder:
        finding = kept(deviation, Path(folder) / "kept")
        told = Counter(replays(finding, Path(folder) / "again", TIMES))
    ended, same = told.most_common(1)[0]
    same = same if ended.exit == FAILS else 0
    share = same / TIMES
    return Row(
        f"{deviation} replays elsewhere", "replays", same, "asked", TIMES, share, (share, share), 1.0, pairs=TIMES,
        note=ended.said.strip(),
    )  # fmt: skip


if __name__ == "__main__":
    print(main().write(Path(__file__).parent / "results"))
