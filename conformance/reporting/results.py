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
    """One finding, how often it occurred and in how many histories, and the folder of the run that kept it."""

    event: FindingFound
    times: int
    home: Path
    histories: int = 1

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
