"""What a shrinker remembers between two calls: the smallest history so far, and what it has tried already."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from conformance.findings.storage import Finding
from conformance.histories import History
from conformance.triage.differences import DifferenceClass
from delta_models.codec import CodecError

FORMAT = 1
DIGITS = 16


def digest_of(history: History) -> str:
    """The start of a hash of what a history does, whatever it comes from."""
    form = history.to_json()
    kept = {key: form.get(key) for key in ("suite", "steps", "explicit_reads")}
    if not history.explicit_reads:
        kept["seed"] = history.seed  # it decides which reads are added
    text = json.dumps(kept, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest()[:DIGITS]


@dataclass(slots=True)
class ShrinkState:
    """The state of a shrinker, and the file in which it is kept, if there is one."""

    path: Path | None
    of: str
    history: History | None = None
    step: int = 0
    detail: str = ""
    requirements: tuple[str, ...] = ()
    difference: DifferenceClass | None = None
    tries: int = 0
    complete: bool = False
    tried: set[str] = field(default_factory=set)

    @classmethod
    def load(cls, path: Path | None, finding: Finding) -> Self:
        """The state in a file; a fresh one if it is of another history or other builds, or can't be read."""
        specs = sorted(f"{engine}={spec}" for engine, spec in finding.versions.items() if engine != "harness")
        of = hashlib.sha256("\n".join([digest_of(finding.history), *specs]).encode()).hexdigest()[:DIGITS]
        fresh = cls(path, of)
        if path is None:
            return fresh
        try:
            form = json.loads(path.read_text(encoding="utf-8"))
            if form["format"] == FORMAT and form["of"] == of:
                return cls._read(path, form)
        except (OSError, ValueError, KeyError, TypeError, CodecError):
            return fresh  # it was cut off, or is of another version: the work is done again
        return fresh

    @classmethod
    def _read(cls, path: Path, form: dict[str, Any]) -> Self:
        kept = form["difference"]
        return cls(
            path,
            form["of"],
            History.from_json(form["history"]),
            form["step"],
            form["detail"],
            tuple(form["requirements"]),
            DifferenceClass(
                kept["requirement"], kept["role"], kept["kind"], frozenset(kept["types"]), kept["race"]
            ),
            form["tries"],
            form["complete"],
            set(form["tried"]),
        )

    def keep(self, history: History, step: int, detail: str, requirements: tuple[str, ...]) -> None:
        """Remember a history that fails."""
        self.history, self.step, self.detail, self.requirements = history, step, detail, requirements

    def save(self) -> None:
        """Write the state, if it has a file and there is anything to keep. A full disk loses the state, no more."""
        if self.path is None or self.history is None or self.difference is None:
            return
        difference = self.difference
        form = {
            "format": FORMAT,
            "of": self.of,
            "history": self.history.to_json(),
            "step": self.step,
            "detail": self.detail,
            "requirements": list(self.requirements),
            "difference": {
                "requirement": difference.requirement,
                "role": difference.role,
                "kind": difference.kind,
                "types": sorted(difference.types),
                "race": difference.race,
            },
            "tries": self.tries,
            "complete": self.complete,
            "tried": sorted(self.tried),
        }
        beside = self.path.with_name(f".{self.path.name}.{os.getpid()}")
        try:
            beside.write_text(json.dumps(form) + "\n", encoding="utf-8", errors="backslashreplace")
            beside.replace(self.path)
        except OSError:
            with contextlib.suppress(OSError):
                beside.unlink(missing_ok=True)
