"""An idle turnstile changes nothing: the suites give the same evidence and findings."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from conformance.engine_pool import EnginePool
from conformance.events.types import Event, Evidence, FindingFound, HarnessFault
from conformance.fault_injection.controller import Turnstile
from conformance.fault_injection.instrumented_engines import InstrumentedEngines
from conformance.findings.recorder import FindingRecorder
from conformance.histories import Chunk
from conformance.runner.chunk import play_chunk
from conformance.suites.context import SuiteContext
from delta_adapters.registry import parse_engine

# Crashes and races are played behind a turnstile anyway.
CHUNKS = (
    Chunk("lockstep", "ci", 0, 7, histories=1, steps=6),
    Chunk("shared", "ci", 0, 7, histories=1, steps=6),
    Chunk("examples", "ci", 0, 7, histories=1, heavy=(0,)),
)


def play(
    engines: tuple[str, ...], chunks: tuple[Chunk, ...], folder: Path, environment: Mapping[str, str] | None
) -> list[tuple[object, ...]]:
    """Play chunks; return the evidence and the findings."""
    events: list[Event] = []
    specs = [parse_engine(engine) for engine in engines]
    instrumented_engines = InstrumentedEngines({}, folder / "arena", events.append)
    with EnginePool(specs, folder / "hosts", events.append, environment) as hosts:
        for chunk in chunks:
            play_chunk(
                SuiteContext(
                    hosts, FindingRecorder(folder), events.append, lambda: False, instrumented_engines
                ),
                chunk,
                folder / "work",
            )
    assert [event for event in events if isinstance(event, HarnessFault)] == []
    evidence = [
        (event.suite, event.history, event.engine, event.role, dict(event.checks))
        for event in events
        if isinstance(event, Evidence)
    ]
    findings = [(event.fingerprint, event.engine) for event in events if isinstance(event, FindingFound)]
    return [*evidence, *findings]


@pytest.mark.parametrize(
    ("engines", "chunks"),
    (
        pytest.param(("delta-rs",), CHUNKS[:1], id="lockstep"),
        pytest.param(("delta-rs", "reference"), CHUNKS[1:2], marks=pytest.mark.slow, id="shared"),
    ),
)
def test_suites_come_to_the_same_behind_an_idle_turnstile(
    engines: tuple[str, ...], chunks: tuple[Chunk, ...], tmp_path: Path
):
    plain = play(engines, chunks, tmp_path / "plain", None)
    with Turnstile(tmp_path / "turnstile") as turnstile:
        instrumented_process = turnstile.add_process("A")
        behind = play(engines, chunks, tmp_path / "behind", instrumented_process.environment())
        assert instrumented_process.processes >= len(engines)
    assert behind == plain
    assert {name for name, *_ in plain} >= {chunk.suite for chunk in chunks}


@pytest.mark.slow
def test_an_engine_on_a_jvm_comes_to_what_is_written_behind_an_idle_turnstile(tmp_path: Path):
    with Turnstile(tmp_path / "turnstile") as turnstile:
        instrumented_process = turnstile.add_process("A")
        behind = play(("pyspark",), CHUNKS[2:], tmp_path / "behind", instrumented_process.environment())
        assert instrumented_process.processes >= 1
    # Fails for a finding, which has two parts only.
    evidence = [(suite, history, role) for suite, history, _, role, _ in behind]
    assert evidence == [("examples", 0, "reader"), ("examples", 0, "writer")]
    assert any(isinstance(checks, dict) and checks.get("example.as-written") for *_, checks in behind)
