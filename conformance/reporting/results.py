"""The results of a run, or of several together, as the frozen values that all reports show."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from conformance.events import types
from conformance.events.types import FindingFound
from conformance.reporting.claims import Claim
from conformance.reporting.exit_status import ExitStatus
from delta_adapters.engine_id import EngineId


@dataclass(frozen=True, slots=True)
class EngineResult:
    """One engine of the run; `status` is tested or unavailable. `build` is a hash of the content that was tested."""

    name: str
    version: str | None
    status: str
    why: str | None = None
    cure: str = ""
    operations: int = 0
    engine_seconds: float = 0.0
    start_seconds: float = 0.0
    compatible_with: tuple[str, ...] = ()
    homepage: str = ""
    issue_tracker: str = ""
    lost: int = 0
    build: str = ""

    @property
    def label(self) -> str:
        """The name, with the version if it is known."""
        return str(EngineId(self.name, self.version))


@dataclass(frozen=True, slots=True)
class SuiteResult:
    """One suite of the run. It is `complete` if the run played all planned chunks."""

    name: str
    histories: int
    steps: int
    crash_points: int
    schedules: int
    seconds: float
    complete: bool


@dataclass(frozen=True, slots=True)
class FindingResult:
    """One finding, how often it occurred, and the folder of the run that kept it.

    `sightings` counts the kinds of violations that triage found to be this finding, `histories` those that have it.
    `requirements` are all that they and its minimal history violate. `minimal_steps` is None as long as there is no
    minimal history, and `shrunk` says that it can't be made smaller. `reproduced` is None if nobody played the history
    again. `why` says what triage tried, and `summary` what the cause is.
    """

    event: FindingFound
    times: int
    home: Path
    sightings: int = 1
    histories: int = 1
    requirements: tuple[str, ...] = ()
    minimal_steps: int | None = None
    reproduced: bool | None = None
    shrunk: bool = False
    why: str = ""
    summary: str = ""

    @property
    def folder(self) -> Path:
        """The folder of its history and its scripts."""
        return self.home / (self.event.folder or f"findings/{self.event.fingerprint}")


@dataclass(frozen=True, slots=True)
class Results:
    """Everything that the reports show."""

    runs: tuple[types.RunStarted, ...]
    homes: tuple[Path, ...]
    outcome: ExitStatus
    seconds: float
    engines: tuple[EngineResult, ...]
    suites: tuple[SuiteResult, ...]
    claims: tuple[Claim, ...]
    findings: tuple[FindingResult, ...]
    lost: tuple[types.EngineLost, ...] = ()
    faults: tuple[types.HarnessFault, ...] = ()
    notes: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    raced: tuple[types.RaceOutcome, ...] = ()
    struck: tuple[types.FaultOutcome, ...] = ()
    cells: tuple[types.CellsPlanned, ...] = ()
