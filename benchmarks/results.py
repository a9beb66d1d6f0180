"""The result of a benchmark: its rows, the machine, the versions, the commit; a file of its own."""

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
    """One comparison: the medians of ours and the peer's, and the median of their ratios with its interval.

    `bar` is what the ratio must reach: at least that where `more_is_better`, at most that otherwise.
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

    @property
    def holds(self) -> bool | None:
        """Whether the bar is reached for sure (True), missed for sure (False), or neither can be said."""
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
        """The form in the file."""
        form: dict[str, Any] = {
            "work": self.work, "measure": self.measure, "ours": _rounded(self.ours), "peer": self.peer,
            "peer_value": _rounded(self.peer_value), "ratio": _rounded(self.ratio),
            "interval": [_rounded(each) for each in self.interval] if self.interval else None,
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
        """Put it into its file."""
        return self._put(folder, _when(), list(self.notes), [row.to_json() for row in self.rows])

    def _put(
        self, folder: Path, when: Mapping[str, Any], notes: Sequence[str], rows: Sequence[Mapping[str, Any]]
    ) -> Path:
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{self.name}.json"
        versions = {package: found for package in PACKAGES if (found := _version(package))}
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
    """Rows of some of a benchmark's works: they replace theirs in its file, which keeps the others with their dates."""

    def write(self, folder: Path) -> Path:
        """Put them into the file."""
        path = folder / f"{self.name}.json"
        before = json.loads(path.read_text()) if path.exists() else {"rows": [], "notes": []}
        when = _when()
        fresh = {_key(row.to_json()): row.to_json() | when for row in self.rows}
        old = [{key: before.get(key) for key in when} | each for each in before["rows"]]
        rows = [fresh.pop(_key(each), each) for each in old]
        notes = list(dict.fromkeys([*before["notes"], *self.notes]))
        return self._put(folder, when, notes, [*rows, *fresh.values()])


def in_parts(name: str, works: Works, asked: Sequence[str], notes: Sequence[str]) -> Result:
    """The works asked for, or all. Rows are in the file as soon as they are measured, and replace theirs there."""
    rows: list[Row] = []
    for each in asked or works:
        found = works[each]()
        for row in found:
            print(f"  {row}", flush=True)
        Measured(name, tuple(found), tuple(notes)).write(RESULTS)
        rows += found
    return Measured(name, tuple(rows), tuple(notes))


def _key(row: Mapping[str, Any]) -> tuple[str, str, str]:
    return row["work"], row["measure"], row["peer"]


def _when() -> dict[str, Any]:
    """Of which commit and from when a row is, and how busy the machine was."""
    now = datetime.now(UTC).isoformat(timespec="seconds")
    return {"at": now, "commit": _commit(), "machine": machine()}


def machine() -> dict[str, Any]:
    """What it was measured on, and how busy that was: ratios stand for more than seconds do."""
    return {
        "system": f"{platform.system()} {platform.machine()}",
        "cores": os.cpu_count(),
        "memory_gb": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1),
        "python": platform.python_version(),
        "load": [round(each, 2) for each in os.getloadavg()],
    }


def _commit() -> str:
    """The commit, and whether the tree differs from it in more than results, which a benchmark writes as it goes."""
    commit = _git("rev-parse", "--short", "HEAD")
    changed = _git("status", "--porcelain", "--untracked-files=no", "--", ".", ":(exclude)benchmarks/results")
    return f"{commit}-dirty" if changed else commit


def _git(*arguments: str) -> str:
    here = Path(__file__).parent.parent
    told = subprocess.run(["git", *arguments], cwd=here, capture_output=True, text=True, check=False)
    return told.stdout.strip()


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _rounded(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.4g}")
