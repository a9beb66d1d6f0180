"""What a run was asked to do: the command line's and pytest's words, checked and complete."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

PROFILES = ("dev", "ci", "nightly")
SUITES = ("lockstep", "shared", "crashes", "races", "examples")
STORAGES = ("local",)


@dataclass(frozen=True, slots=True)
class RunOptions:
    """One run.

    `folder` is the run's own, made already; findings go to `folder / "findings"`. No `engines`: all that can run
    here; no `suites`: all that the profile plans; no `tables`: all kinds of histories. `examples` and `steps` stand in
    for the plan's histories a suite and steps a history. `known` are the baseline's fingerprints. The run ends after
    `max_findings` findings not known.
    """

    folder: Path
    engines: tuple[str, ...] = ()
    suites: tuple[str, ...] = ()
    tables: tuple[str, ...] = ()
    profile: str = "ci"
    seed: int = 0
    budget: float | None = None
    examples: int | None = None
    steps: int | None = None
    jobs: int = 1
    storage: str = "local"
    known: frozenset[str] = field(default=frozenset())
    max_findings: int | None = None
    command: tuple[str, ...] = ()
