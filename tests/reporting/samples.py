"""Events for tests: one of each kind, and whole runs made of them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from conformance.events import serialization
from conformance.events.types import (  # fmt: skip
    BudgetSpent,
    CellsPlanned,
    ChunkEnded,
    ChunkStarted,
    DeclaredClaim,
    EngineLost,
    EngineReady,
    EngineUnavailable,
    Event,
    Evidence,
    EvidenceThreshold,
    FaultOutcome,
    FindingFound,
    FindingTriaged,
    HarnessFault,
    HistoryEnded,
    Interrupted,
    Note,
    PlannedSuite,
    Progress,
    RaceOutcome,
    RunEnded,
    RunStarted,
    Triaging,
)
from conformance.findings import Finding, FindingKey, write_finding
from conformance.histories import History, Step
from conformance.reporting.aggregation import ResultAggregator
from conformance.reporting.event_log import EventLog
from conformance.reporting.results import Results
from delta_adapters.engine_id import EngineId
from delta_models.expressions import Column, Compare, Literal
from delta_models.operations import Append, Create, Delete, Optimize
from delta_models.requirements import CATALOGUE
from delta_models.schema import LONG, STRING, struct
from delta_models.values import Rows

HEADER = RunStarted(
    format=serialization.FORMAT,
    harness="0.1.0",
    command=("conformance", "run", "--seed", "1"),
    seed=1,
    profile="dev",
    storage="local",
    machine="Linux x86_64, 2 cores, 8 GB",
    python="3.11.9",
    started="2026-11-18T15:40:00+00:00",
    engines=("delta-rs",),
    suites=("lockstep",),
    core=(EvidenceThreshold("contents.rows", "delta-rs"),),
    plan=(PlannedSuite("lockstep", 1, 12, 300),),
)

FINDING = FindingFound(
    fingerprint="9f3c21aa",
    requirement="log.remove-names-live-file",
    strength="must",
    engine="delta-rs@1.6.6",
    role="writer",
    suite="lockstep",
    detail="commit 3 removes part-0.parquet, which is not live",
    steps=7,
    step=6,
    folder="findings/9f3c21aa",
)

SIGHTING = replace(FINDING, state="unexplained", folder="sightings/9f3c21aa", candidates=("a-cause",))


def triaged(state: str, sighting: FindingFound = SIGHTING, **changes: Any) -> FindingTriaged:
    """What triage says of a sighting: that it reproduced, and by default nothing more."""
    event = FindingTriaged(
        sighting.fingerprint, sighting.fingerprint, state, sighting.engine, sighting.requirement,
        sighting.strength, sighting.detail, sighting.folder, requirements=(sighting.requirement,),
        steps=sighting.steps, step=sighting.step, reproduced=state != "unstable",
    )  # fmt: skip
    return replace(event, **changes)


def explained(sighting: FindingFound = SIGHTING, **changes: Any) -> FindingTriaged:
    """What triage says of a sighting that a cause explains."""
    parts = {
        "fingerprint": "0a1b2c3d", "folder": "findings/0a1b2c3d", "cause": "a-cause", "shrunk": True,
        "summary": "Removes are repeated.", "why": "without the trigger it holds",
    }  # fmt: skip
    return triaged("known", sighting, **(parts | changes))


def shrunk(sighting: FindingFound = SIGHTING, **changes: Any) -> FindingTriaged:
    """What triage says of a sighting whose history is minimal."""
    parts = {"fingerprint": "ab12cd34", "folder": "findings/ab12cd34", "minimal_steps": 3, "shrunk": True}
    return triaged("new", sighting, **(parts | changes))


ONE_OF_EACH: tuple[Event, ...] = (
    HEADER,
    EngineReady("delta-rs@1.6.6", "https://delta.io", "https://example.org/issues", ("delta-spark",), 0.4),
    EngineUnavailable("delta-spark", "no Java", "sudo apt install openjdk-17-jre-headless"),
    DeclaredClaim(
        "delta-rs@1.6.6", "races.no-lost-commit", "not-guaranteed", "local files", processes="several"
    ),
    ChunkStarted("lockstep", "dev", 0, 77),
    Progress("lockstep", 0, 3, 4, ("delta-rs@1.6.6",)),
    HistoryEnded("lockstep", 0, 3, 25, {"delta-rs@1.6.6": 61}, {"delta-rs@1.6.6": 0.5}, seconds=0.75),
    Evidence(
        "lockstep",
        0,
        3,
        "delta-rs@1.6.6",
        "writer",
        {"contents.rows": 25},
        features=("deletionVectors",),
        operations=61,
    ),
    RaceOutcome(
        ("delta-rs@1.6.6", "delta-rs@1.6.6"),
        ("Append", "Delete"),
        "table",
        "can conflict",
        70,
        20,
        {"conflict.append": 50},
    ),
    FaultOutcome("delta-rs@1.6.6", "Append", "DeadTableAt", 20, 12, 8, {"data": 12}),
    FINDING,
    FindingTriaged(
        "9f3c21aa",
        "0a1b2c3d",
        "known",
        "delta-rs@1.6.6",
        "log.remove-names-live-file",
        "must",
        "commit 1 removes part-0.parquet, which is not live",
        "findings/0a1b2c3d",
        cause="a-cause",
        requirements=("log.remove-names-live-file", "read.latest"),
        steps=7,
        step=6,
        minimal_steps=2,
        reproduced=True,
        shrunk=True,
        why="the violation went with the trigger",
    ),
    CellsPlanned("core", "delta-rs", 8, 9, ("Append with partitioned",), {"no constants are written": 2}),
    Triaging("shrink", "9f3c21aa", 1, 3, 7, 2),
    EngineLost("delta-rs@1.6.6", "died of SIGSEGV", "Merge", "free(): invalid pointer", restarted=True),
    HarnessFault("our reader refuses a valid log", "KeyError"),
    Note("two engines share one name"),
    BudgetSpent(60.0),
    Interrupted(),
    ChunkEnded("lockstep", "dev", 0, complete=False, seconds=3.5),
    RunEnded("violated", 1, 12.5),
)

NASTY = (
    "</script><img src=x onerror=alert(1)> & \"quotes\" 'n' `ticks` | pipe "
    "\u202emirrored\u202c \x1b[31mred\x07 \ud800 שלום 😀"
)


def record(folder: Path, *events_of_run: Event) -> Path:
    """Record these events in a run's folder and return it."""
    folder.mkdir(parents=True, exist_ok=True)
    log = EventLog(folder / "events.jsonl")
    for event in events_of_run:
        log(event)
    log.close()
    return folder


def small_run(
    *extra: Event, core: tuple[EvidenceThreshold, ...] = HEADER.core, seed: int = 1, complete: bool = True
) -> list[Event]:
    """A run of twelve histories in which one requirement was checked enough, and another too rarely."""
    events: list[Event] = [replace(HEADER, core=core, seed=seed), EngineReady("delta-rs@1.6.6", seconds=0.4)]
    for history in range(12):
        events += [
            HistoryEnded(
                "lockstep", 0, history, 25, {"delta-rs@1.6.6": 61}, {"delta-rs@1.6.6": 0.5}, seconds=0.75
            ),
            Evidence(
                "lockstep", 0, history, "delta-rs@1.6.6", "writer", {"contents.rows": 25}, operations=61
            ),
        ]
    rare = Evidence("lockstep", 0, 0, "delta-rs@1.6.6", "writer", {"contents.vacuum": 1}, operations=61)
    return [*events, rare, *extra, ChunkEnded("lockstep", "dev", 0, complete=complete, seconds=9.0)]


def results_of(*events_of_run: Event, home: Path = Path("run")) -> Results:
    """Return the aggregated results of events."""
    aggregator = ResultAggregator(home)
    for event in events_of_run:
        aggregator(event)
    return aggregator.results(12.5)


def keep(folder: Path, requirement: str, engine: str, *, detail: str = NASTY) -> Finding:
    """Write a finding's folder as a run does: a shared history that fails at its third step."""
    schema = struct(("id", LONG), ("part", STRING))
    steps = (
        Step(Create(schema, ("part",)), "A"),
        Step(Append(Rows(schema, ((1, NASTY), (None, "x" * 900)))), "B"),
        Step(Delete(Compare("=", Column(("id",)), Literal(LONG, 1))), "A"),
        Step(Optimize(), "B"),
    )
    finding = Finding(
        key=FindingKey(requirement, EngineId.parse(engine).name, "Delete", ("where",), (), ("long",), "Committed"),
        strength="must", engine=engine, role="writer", step=2, action="Delete where id = 1", detail=detail,
        history=History("shared", "ci", 0, 77, steps), slots={"A": engine, "B": "delta-spark@4.4.0"},
    )  # fmt: skip
    write_finding(
        folder / "findings", finding, {"script_delta_rs.py": "print('a script')\n", "README.md": "# it\n"}
    )
    return finding


def big_run(folder: Path) -> list[Event]:
    """The whole catalogue on four engines, with every verdict, several settings a cell, and strange text."""
    engines = ("delta-rs@1.6.6", "delta-spark@4.4.0", "pyspark@0.1.0", "reference@0.1.0")
    ids = [rule.id for rule in CATALOGUE]
    core = tuple(
        EvidenceThreshold(identity, EngineId.parse(engine).name)
        for identity in ids[:40]
        for engine in engines[:2]
    )
    events: list[Event] = [
        replace(
            HEADER, profile="ci", core=core, engines=engines, plan=(PlannedSuite("lockstep", 2, 24, 600),)
        ),
        *(EngineReady(engine, "https://delta.io", seconds=1.5) for engine in engines),
        EngineUnavailable("delta-rs@1.5.0", f"no environment: {NASTY}", "pip install uv"),
        DeclaredClaim(engines[0], ids[50], "not-guaranteed", "local files have no put-if-absent"),
        DeclaredClaim(engines[1], ids[51], "unsupported", "no public call"),
    ]
    for chunk in range(2):
        for history in range(12):
            operations = dict.fromkeys(engines, 61)
            events.append(
                HistoryEnded(
                    "lockstep", chunk, history, 25, operations, dict.fromkeys(engines, 0.5), seconds=1.0
                )
            )
            for number, engine in enumerate(engines):
                checks = {
                    identity: 1 + index % 7 for index, identity in enumerate(ids) if (index + number) % 5
                }
                features = ("deletionVectors",) if history % 3 == 0 else ()
                events.append(
                    Evidence(
                        "lockstep", chunk, history, engine, "writer", checks, features=features, operations=61
                    )
                )
        events.append(ChunkEnded("lockstep", "ci", chunk, complete=chunk == 0, seconds=20.0))
    for index, requirement in enumerate(ids[:9]):
        engine = engines[index % 3]
        finding = keep(folder, requirement, engine, detail=f"{index}: expected 3 rows, found 4. {NASTY}")
        events.append(
            FindingFound(
                finding.fingerprint,
                requirement,
                ("must", "reference", "should")[index % 3],
                engine,
                "writer",
                "shared",
                finding.detail,
                4,
                2,
                f"findings/{finding.fingerprint}",
                known=index % 4 == 3,
                where="part-0.parquet",
                with_engines=("delta-spark@4.4.0",) if index % 2 else (),
            )
        )
    lost = FindingFound(
        "00000000", ids[3], "must", engines[0], "reader", "lockstep", "no folder was kept", 3, 1
    )
    return [
        *events,
        lost,
        EngineLost(engines[0], "died of SIGSEGV", "Merge", NASTY, restarted=True),
        Note(NASTY),
    ]
