"""The options of a run, checked and complete, from the command line or from pytest."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

PROFILES = ("dev", "ci", "gate", "nightly")
SUITES = ("lockstep", "shared", "crashes", "races", "examples")
STORAGES = ("local",)
PROFILE_FILE = ".toml"  # how the name of a file with a user's own profile ends


def is_file(profile: str) -> bool:
    """Whether a profile is given by the path of its file, in place of the name of a committed one."""
    return profile.endswith(PROFILE_FILE)


@dataclass(frozen=True, slots=True)
class RunOptions:
    """The options of one run.

    `folder` is the run's own and exists; findings go to `folder / "findings"`. Without `engines` the default ones run,
    without `suites` all that the profile plans, without `tables` all kinds of histories. `examples` replaces the plan's
    histories in each suite, and `steps` its steps in each history. `known` are the fingerprints of the baseline.
    `deviations` is a folder with causes of the user's own. The run ends after `max_findings` new findings.
    `parts` are those of a covering profile to play; without them all are played.
    The histories that the folder `regressions` keeps are played first.
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
    deviations: Path | None = None
    max_findings: int | None = None
    command: tuple[str, ...] = ()
    regressions: Path | None = None
    parts: tuple[str, ...] = ()
