"""A turnstile that is there and asks nothing changes nothing: the suites come to the same, check for check."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from conformance.engine_pool import EnginePool
from conformance.events.types import Event, Evidence, FindingFound, HarnessFault
from conformance.fault_injection.controller import Turnstile
from conformance.fault_injection.instrumented_engines import InstrumentedEngines
from conformance.findings.recorder import FindingRecorder
from conformance.planning.plan import Chunk
from conformance.runner.chunk import play_chunk
from conformance.suites.context import SuiteContext
from delta_adapters.registry import parse_engine

# Crashes and races are played behind a turnstile anyway.
CHUNKS = (
    Chunk("lockstep", "ci", 0, 7, histories=1, steps=6),
    Chunk("shared", "ci", 0, 7, histories=1, steps=6),
    Chunk("examples", "ci", 0, 7, histories=1, heavy=(0,)),
)


def heard(
    engines: tuple[str, ...], chunks: tuple[Chunk, ...], folder: Path, environment: Mapping[str, str] | None
) -> list[tuple[object, ...]]:
    """What each engine was held to, and what was found."""
    told: list[Event] = []
    specs = [parse_engine(engine) for engine in engines]
    instrumented_engines = InstrumentedEngines({}, folder / "arena", told.append)
    with EnginePool(specs, folder / "hosts", told.append, environment) as hosts:
        for chunk in chunks:
            play_chunk(
                SuiteContext(
                    hosts, FindingRecorder(folder), told.append, lambda: False, instrumented_engines
                ),
                chunk,
                folder / "work",
            )
    assert [each for each in told if isinstance(each, HarnessFault)] == []
    held = [
        (each.suite, each.history, each.engine, each.role, dict(each.checks))
        for each in told
        if isinstance(each, Evidence)
    ]
    return [*held, *((each.fingerprint, each.engine) for each in told if isinstance(each, FindingFound))]


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
    plain = heard(engines, chunks, tmp_path / "plain", None)
    with Turnstile(tmp_path / "turnstile") as turnstile:
        instrumented_process = turnstile.add_process("A")
        behind = heard(engines, chunks, tmp_path / "behind", instrumented_process.environment())
        assert instrumented_process.processes >= len(engines)
    assert behind == plain
    assert {name for name, *_ in plain} >= {chunk.suite for chunk in chunks}


@pytest.mark.slow
def test_an_engine_on_a_jvm_comes_to_what_is_written_behind_an_idle_turnstile(tmp_path: Path):
    with Turnstile(tmp_path / "turnstile") as turnstile:
        instrumented_process = turnstile.add_process("A")
        behind = heard(("pyspark",), CHUNKS[2:], tmp_path / "behind", instrumented_process.environment())
        assert instrumented_process.processes >= 1
    held = [
        (suite, history, role) for suite, history, _, role, _ in behind
    ]  # a finding has two parts, and is none of it
    assert held == [("examples", 0, "reader"), ("examples", 0, "writer")]
    assert any(isinstance(checks, dict) and checks.get("example.as-written") for *_, checks in behind)
