"""Events for tests: one of each kind, and whole runs made of them."""

from __future__ import annotations

from conformance import events
from conformance.events import (
    BudgetSpent,
    ChunkEnded,
    ChunkStarted,
    Declared,
    EngineLost,
    EngineReady,
    EngineUnavailable,
    Event,
    Evidence,
    FindingFound,
    Floor,
    HarnessFault,
    HistoryEnded,
    Interrupted,
    Note,
    Planned,
    Progress,
    RunEnded,
    RunStarted,
)  # fmt: skip

HEADER = RunStarted(
    format=events.FORMAT,
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
    core=(Floor("contents.rows", "delta-rs"),),
    plan=(Planned("lockstep", 1, 12, 300),),
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

ONE_OF_EACH: tuple[Event, ...] = (
    HEADER,
    EngineReady("delta-rs@1.6.6", "https://delta.io", "https://example.org/issues", ("delta-spark",), 0.4),
    EngineUnavailable("delta-spark", "no Java", "sudo apt install openjdk-17-jre-headless"),
    Declared("delta-rs@1.6.6", "races.no-lost-commit", "not-guaranteed", "local files", processes="several"),
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
    FINDING,
    EngineLost("delta-rs@1.6.6", "died of SIGSEGV", "Merge", "free(): invalid pointer", restarted=True),
    HarnessFault("our reader refuses a valid log", "KeyError"),
    Note("two engines share one name"),
    BudgetSpent(60.0),
    Interrupted(),
    ChunkEnded("lockstep", "dev", 0, complete=False, seconds=3.5),
    RunEnded("violated", 1, 12.5),
)
