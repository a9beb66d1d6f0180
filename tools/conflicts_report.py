"""Writes `reports/conflicts.md` from recordings of the suite `races`: the outcomes of concurrent operations.

python tools/conflicts_report.py RUN...     RUN is a run's folder, or its events.jsonl; several runs are added up
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from conformance.events.serialization import from_json, name_of
from conformance.events.types import RaceOutcome
from conformance.reporting.conflict_matrix import CELLS, HEAD, conflict_rows

REPORT = Path(__file__).resolve().parent.parent / "reports" / "conflicts.md"
TEXT = f"""# Two writers at once, observed

Written by `python tools/conflicts_report.py RUN...` from recordings of the suite `races`; the report of each run has
the same table of what it has played itself. {CELLS}

| {" | ".join(HEAD)} |
|{"---|" * len(HEAD)}
"""


def raced(runs: Iterable[Path]) -> Iterator[RaceOutcome]:
    """Yield the race outcomes of these recordings."""
    for run in runs:
        for line in (run if run.is_file() else run / "events.jsonl").read_text("utf-8").splitlines():
            form = json.loads(line)
            if form.get("event") == name_of(RaceOutcome):
                event = from_json(form)
                assert isinstance(event, RaceOutcome)  # noqa: S101 - its kind was compared
                yield event


def document(events: Iterable[RaceOutcome]) -> str:
    """Return the report."""
    return TEXT + "".join(f"| {' | '.join(conflict.cells)} |\n" for conflict in conflict_rows(events))


if __name__ == "__main__":
    REPORT.write_text(document(raced(map(Path, sys.argv[1:]))), "utf-8")
