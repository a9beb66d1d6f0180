"""The types of events: all that a run emits, as frozen values.

An event is small, because worker processes send events to the main process. Evidence is summed up for each history
before it is sent. Rows, histories and logs stay in files that events only name. An event names an engine by its
identity, `delta-rs@1.6.6`, as soon as the engine runs; before that by the words of the command line.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar


@dataclass(frozen=True, slots=True)
class PlannedSuite:
    """How much of one suite the plan holds; a run that ends with less was cut short.

    `dear` counts the steps that engines on a JVM perform. `numbers` lists the numbers of the chunks, unless they are
    the first ones. Committed histories may have more steps.
    """

    suite: str
    chunks: int
    histories: int
    steps: int
    dear: int = 0
    numbers: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class EvidenceThreshold:
    """How much evidence of a requirement the core wants of an engine, which is named without its version."""

    requirement: str
    engine: str
    suite: str = ""
    checks: int = 20
    histories: int = 5


@dataclass(frozen=True, slots=True)
class RunStarted:
    """The header: the command, the engines, the plan and the machine (processor, cores, memory and system, as text).

    `asked` are the engines that the user named, as `engines` lists them; it is empty if the default ones run.
    `not_asked` are the suites in which one of them claims nothing that the core asks for, each as `SUITE ENGINE`.
    """

    format: int
    harness: str
    command: tuple[str, ...]
    seed: int
    profile: str
    storage: str
    machine: str
    python: str
    started: str
    engines: tuple[str, ...] = ()
    suites: tuple[str, ...] = ()
    core: tuple[EvidenceThreshold, ...] = ()
    plan: tuple[PlannedSuite, ...] = ()
    budget: float | None = None
    asked: tuple[str, ...] = ()
    not_asked: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CellsPlanned:
    """What a part of a covering profile brings together for one engine: `covered` of the `wanted` cells.

    `missing` are cells that the plan does not reach, in words; a run that has one is inconclusive. `excused` cells are
    left out of `wanted`, each reason with its number.
    """

    part: str
    engine: str
    covered: int
    wanted: int
    missing: tuple[str, ...] = ()
    excused: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class EngineReady:
    """An engine runs and passed its smoke test; `seconds` is what its start took.

    `spec` are the words of the command line that named it. `build` is a hash of what was tested, its content.
    """

    engine: str
    homepage: str = ""
    issue_tracker: str = ""
    compatible_with: tuple[str, ...] = ()
    seconds: float = 0.0
    spec: str = ""
    build: str = ""


@dataclass(frozen=True, slots=True)
class EngineUnavailable:
    """An engine of this run can't run, or no longer; `cure` is the line that mends it.

    `asked` says that the user named it, and that the run ended because of it. `broken` says that it does not exist or
    does not work, so no other machine would help.
    """

    engine: str
    why: str
    cure: str = ""
    asked: bool = False
    broken: bool = False


@dataclass(frozen=True, slots=True)
class DeclaredClaim:
    """What an engine's adapter declares about a requirement, before any test.

    `verdict` is not-guaranteed or unsupported.
    """

    engine: str
    requirement: str
    verdict: str
    why: str
    role: str = "writer"
    processes: str = "one"


@dataclass(frozen=True, slots=True)
class ChunkStarted:
    """A chunk begins."""

    suite: str
    profile: str
    number: int
    seed: int


@dataclass(frozen=True, slots=True)
class ChunkEnded:
    """A chunk ends; it is not `complete` if the budget, a lost engine's restart or Ctrl-C cut it short."""

    suite: str
    profile: str
    number: int
    complete: bool
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Progress:
    """The engines performed one more step of a history. For the terminal only, never recorded."""

    transient: ClassVar[bool] = True

    suite: str
    chunk: int
    history: int
    step: int
    engines: tuple[str, ...] = ()
    dear: bool = False


@dataclass(frozen=True, slots=True)
class HistoryEnded:
    """A history ends.

    `steps` counts each step once, however many engines performed it. `operations` and `engine_seconds` count the calls
    to each engine, reads included, and their time. `dear` says that the plan wanted engines on a JVM in it.
    """

    suite: str
    chunk: int
    history: int
    steps: int
    operations: Mapping[str, int] = field(default_factory=dict)
    engine_seconds: Mapping[str, float] = field(default_factory=dict)
    crash_points: int = 0
    schedules: int = 0
    seconds: float = 0.0
    dear: bool = False


@dataclass(frozen=True, slots=True)
class Evidence:
    """How often each requirement was checked for one engine, in one history and one role.

    Requirement, engine, role, `with_engines` (the other writers of a shared table), features, storage and processes
    (one or several) name the cell of the report. `checks` counts every check, those that failed included.
    """

    suite: str
    chunk: int
    history: int
    engine: str
    role: str
    checks: Mapping[str, int]
    with_engines: tuple[str, ...] = ()
    features: tuple[str, ...] = ()
    processes: str = "one"
    operations: int = 0
    crash_points: int = 0
    schedules: int = 0


@dataclass(frozen=True, slots=True)
class RaceOutcome:
    """How a race of two operations ended: how often `both` succeeded, and how often one was refused, by kind.

    `schedules` counts the orders that were played. `documented` is what Delta Lake's documentation says about the pair
    at the table's isolation level. Where engines did not follow the order (`unfollowed`), the race is no evidence of
    it. `processes` says whether the engines published in turn.
    """

    engines: tuple[str, ...]
    operations: tuple[str, ...]
    overlap: str
    documented: str
    schedules: int = 0
    both: int = 0
    conflicts: Mapping[str, int] = field(default_factory=dict)
    isolation: str = "Serializable"
    unfollowed: int = 0
    processes: str = "several"


@dataclass(frozen=True, slots=True)
class FaultOutcome:
    """What faults of one kind did to an operation of an engine in one history.

    `points` counts the faults. After a fault the table was as `before` the operation or as `after` it. `left_over`
    counts, by role, the orphaned files that the faults left.
    """

    engine: str
    operation: str
    fault: str
    points: int = 0
    before: int = 0
    after: int = 0
    left_over: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class FindingFound:
    """A requirement did not hold. Emitted for each violation; the folder is written for the first one only.

    The fingerprint is the id of the sighting: violations that are alike share it, and triage replaces it (see
    `FindingTriaged`). Until then `state` is unexplained. `candidates` are the causes that predict the violation. In
    recordings from before triage `state` is empty, and `known` is true if a catalogued deviation (`cause` names it) or
    the baseline has the finding. `told` says that exact predictions alone decide which of them explains it.

    `step` is the failing step, counted from 0, of the `steps` of the kept history. `folder` is relative to the run's
    folder. `promised` is false if the adapter declares that the engine does not guarantee the requirement. `dear` says
    that an engine on a JVM is at the table, `kept` that the history is a kept one: `chunk` is its number then.
    """

    fingerprint: str
    requirement: str
    strength: str
    engine: str
    role: str
    suite: str
    detail: str
    steps: int
    step: int | None = None
    folder: str = ""
    known: bool = False
    cause: str | None = None
    where: str = ""
    chunk: int = 0
    history: int = 0
    with_engines: tuple[str, ...] = ()
    features: tuple[str, ...] = ()
    processes: str = "one"
    promised: bool = True
    state: str = ""
    candidates: tuple[str, ...] = ()
    dear: bool = False
    told: bool = False
    kept: bool = False

    @property
    def fresh(self) -> bool:
        """Whether the engine promised the requirement and nothing known explains the finding."""
        return self.promised and not self.known

    @property
    def kind(self) -> str:
        """The finding's class in a few words: its state, and how strong its requirement is."""
        if self.known:
            return f"known, {self.cause}" if self.cause else "known"
        if not self.promised:
            return "not guaranteed"
        return f"{self.state} {self.strength}".strip()


@dataclass(frozen=True, slots=True)
class FindingTriaged:
    """What triage made of a sighting. A later one of the same sighting replaces it.

    `fingerprint` names the finding from now on: that of the cause, or that of the minimal history. As long as there is
    neither, it is the sighting's. `state` is known (by its `cause`, or because the baseline has it), new, unstable (it
    did not show again) or unexplained. `requirement` is the weightiest of `requirements`: all that the minimal history
    violates. The finding is kept in `folder`. Its history has `steps` steps, the minimal one `minimal_steps`.
    `shrunk` says that it can't be made smaller; if it is false, `conformance shrink` goes on. `why` says what triage
    tried, and `summary` what the cause is, in a sentence. The job took `seconds`. `reproduced` is None if nobody played
    the history again.
    """

    sighting: str
    fingerprint: str
    state: str
    engine: str
    requirement: str
    strength: str
    detail: str
    folder: str
    cause: str | None = None
    requirements: tuple[str, ...] = ()
    steps: int = 0
    step: int | None = None
    minimal_steps: int | None = None
    reproduced: bool | None = None
    shrunk: bool = False
    why: str = ""
    summary: str = ""
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Triaging:
    """The run explains or shrinks a sighting, for the terminal only. `doing` is explain or shrink.

    `number` counts such jobs from 1 and `total` is how many there are so far. While it shrinks, the history has `steps`
    steps, of which `left` are left.
    """

    transient: ClassVar[bool] = True

    doing: str
    sighting: str
    number: int = 0
    total: int = 0
    steps: int = 0
    left: int = 0


@dataclass(frozen=True, slots=True)
class EngineLost:
    """A host died or hung by itself; `restarted` says whether it goes on.

    `times` sums up what happened in the same way again.
    """

    engine: str
    how: str
    operation: str = ""
    stderr_tail: str = ""
    restarted: bool = False
    times: int = 1


@dataclass(frozen=True, slots=True)
class HarnessFault:
    """The harness itself is at fault, so the run has no verdict: exit 2."""

    message: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Note:
    """A message for the reader that changes no verdict."""

    message: str


@dataclass(frozen=True, slots=True)
class BudgetSpent:
    """The budget ended the run before its plan was complete, so the run is inconclusive at best."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Interrupted:
    """A person stopped the run, by Ctrl-C or SIGTERM."""

    signal: str = "SIGINT"


@dataclass(frozen=True, slots=True)
class RunEnded:
    """The footer. Without it a recording is incomplete."""

    verdict: str
    exit: int
    seconds: float


Event = (
    RunStarted | CellsPlanned | EngineReady | EngineUnavailable | DeclaredClaim
    | ChunkStarted | ChunkEnded | Progress | HistoryEnded | Evidence | RaceOutcome | FaultOutcome
    | FindingFound | FindingTriaged | Triaging | EngineLost | HarnessFault | Note | BudgetSpent | Interrupted | RunEnded
)  # fmt: skip


def is_transient(event: Event) -> bool:
    """Whether the event is for the terminal only and not recorded."""
    return getattr(type(event), "transient", False)
