"""The result of a benchmark: rows, machine, versions and commit, and the file that holds them."""

from __future__ import annotations

import json
import os
import platform
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

FORMAT = 1
RESULTS = Path(__file__).parent / "results"
PACKAGES = ("delta-conformance", "deltalake", "delta-spark", "pyspark", "pyarrow", "hypothesis")


@dataclass(frozen=True, slots=True)
class Row:
    """One comparison: the medians of ours and of the peer, and the median of their ratios with its interval.

    `bar` limits the ratio: from below if `more_is_better`, else from above.
    """

    work: str
    measure: str
    ours: float
    peer: str
    peer_value: float | None
    ratio: float | None = None
    interval: tuple[float, float] | None = None
    bar: float | None = None
    aim: float | None = None
    pairs: int = 1
    more_is_better: bool = True
    note: str = ""

    @classmethod
    def at_most(
        cls, work: str, measure: str, ours: float, bar: float, *,
        before: float | None = None, pairs: int = 1, note: str = "",
    ) -> Row:  # fmt: skip
        """A figure that must not be above its bar, beside the bar, or beside what it was before."""
        peer, value = ("bar", bar) if before is None else ("before", before)
        ratio = ours / bar
        return cls(
            work, measure, ours, peer, value, ratio, (ratio, ratio), 1.0, pairs=pairs, more_is_better=False, note=note
        )  # fmt: skip

    @property
    def holds(self) -> bool | None:
        """True if the bar is surely reached, False if it is surely missed, else None."""
        if self.bar is None or self.interval is None:
            return None
        low, high = self.interval
        surely, maybe = (
            (low >= self.bar, high >= self.bar)
            if self.more_is_better
            else (high <= self.bar, low <= self.bar)
        )
        return True if surely else None if maybe else False

    def to_json(self) -> dict[str, Any]:
        """The JSON form of this row."""
        form: dict[str, Any] = {
            "work": self.work, "measure": self.measure, "ours": _rounded(self.ours), "peer": self.peer,
            "peer_value": _rounded(self.peer_value), "ratio": _rounded(self.ratio),
            "interval": [_rounded(edge) for edge in self.interval] if self.interval else None,
            "bar": self.bar, "aim": self.aim, "better": "more" if self.more_is_better else "less",
            "pairs": self.pairs, "holds": self.holds,
        }  # fmt: skip
        return form | ({"note": self.note} if self.note else {})

    def __str__(self) -> str:
        verdict = {True: "holds", False: "MISSED", None: "undecided" if self.bar is not None else "no bar"}[
            self.holds
        ]
        beside = f", {self.peer} {self.peer_value:.3g}" if self.peer_value is not None else ""
        ratio = f", ratio {self.ratio:.2f}" if self.ratio is not None else ""
        between = f" ({self.interval[0]:.2f} to {self.interval[1]:.2f})" if self.interval else ""
        bar = f", bar {self.bar}" if self.bar is not None else ""
        return f"{self.work}: {self.measure} {self.ours:.3g}{beside}{ratio}{between}{bar}: {verdict}"


@dataclass(frozen=True, slots=True)
class Result:
    """All rows of a benchmark."""

    name: str
    rows: tuple[Row, ...]
    notes: tuple[str, ...] = field(default=())

    def write(self, folder: Path) -> Path:
        """Write `NAME.json` into this folder and return its path."""
        return self._put(folder, _when(), list(self.notes), [row.to_json() for row in self.rows])

    def _put(
        self, folder: Path, when: Mapping[str, Any], notes: Sequence[str], rows: Sequence[Mapping[str, Any]]
    ) -> Path:
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{self.name}.json"
        versions = {package: installed for package in PACKAGES if (installed := _version(package))}
        form = {
            "format": FORMAT,
            "name": self.name,
            **when,
            "versions": versions,
            "notes": notes,
            "rows": rows,
        }
        path.write_text(json.dumps(form, indent=2) + "\n")
        return path


Works = Mapping[str, Callable[[], list[Row]]]


class Measured(Result):
    """Some rows of a benchmark. They replace the same rows in its file, which keeps all others with their dates."""

    def write(self, folder: Path) -> Path:
        """Replace these rows in the file and return its path."""
        path = folder / f"{self.name}.json"
        before = json.loads(path.read_text()) if path.exists() else {"rows": [], "notes": []}
        when = _when()
        fresh = {_key(row.to_json()): row.to_json() | when for row in self.rows}
        old = [{key: before.get(key) for key in when} | row for row in before["rows"]]
        rows = [fresh.pop(_key(row), row) for row in old]
        notes = list(dict.fromkeys([*before["notes"], *self.notes]))
        return self._put(folder, when, notes, [*rows, *fresh.values()])


def in_parts(name: str, works: Works, chosen: Sequence[str], notes: Sequence[str]) -> Result:
    """Measure the chosen works, or all, and write the rows of each into the file as soon as it is measured."""
    rows: list[Row] = []
    for work in chosen or works:
        measured = works[work]()
        for row in measured:
            print(f"  {row}", flush=True)
        Measured(name, tuple(measured), tuple(notes)).write(RESULTS)
        rows += measured
    return Measured(name, tuple(rows), tuple(notes))


def _key(row: Mapping[str, Any]) -> tuple[str, str, str]:
    return row["work"], row["measure"], row["peer"]


def _when() -> dict[str, Any]:
    """Return when a row was measured, on which commit, and how busy the machine was."""
    now = datetime.now(UTC).isoformat(timespec="seconds")
    return {"at": now, "commit": _commit(), "machine": machine()}


def machine() -> dict[str, Any]:
    """Return the machine and its load. Ratios can be compared between machines, seconds hardly."""
    return {
        "system": f"{platform.system()} {platform.machine()}",
        "cores": os.cpu_count(),
        "memory_gb": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1),
        "python": platform.python_version(),
        "load": [round(load, 2) for load in os.getloadavg()],
    }


def _commit() -> str:
    """Return the commit, marked as dirty if more than `results/` differs from it."""
    commit = _git("rev-parse", "--short", "HEAD")
    changed = _git("status", "--porcelain", "--untracked-files=no", "--", ".", ":(exclude)benchmarks/results")
    return f"{commit}-dirty" if changed else commit


def _git(*arguments: str) -> str:
    here = Path(__file__).parent.parent
    completed = subprocess.run(["git", *arguments], cwd=here, capture_output=True, text=True, check=False)
    return completed.stdout.strip()


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _rounded(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.4g}")
