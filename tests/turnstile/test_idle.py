"""A turnstile that is there and asks nothing changes nothing: the suites come to the same, check for check."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from conformance.chunks import play_chunk
from conformance.dealer import Dealer
from conformance.events import Event, Evidence, FindingFound, HarnessFault
from conformance.hosts import Hosts
from conformance.keeper import Keeper
from conformance.plan import Chunk
from conformance.turnstile.arena import Arena
from conformance.turnstile.controller import Turnstile
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
    specs = [parse_engine(each) for each in engines]
    arena = Arena({}, folder / "arena", told.append)
    with Hosts(specs, folder / "hosts", told.append, environment) as hosts:
        for each in chunks:
            play_chunk(
                Dealer(hosts, Keeper(folder), told.append, lambda: False, arena), each, folder / "work"
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
        actor = turnstile.actor("A")
        behind = heard(engines, chunks, tmp_path / "behind", actor.environment())
        assert actor.processes >= len(engines)
    assert behind == plain
    assert {name for name, *_ in plain} >= {each.suite for each in chunks}


@pytest.mark.slow
def test_an_engine_on_a_jvm_comes_to_what_is_written_behind_an_idle_turnstile(tmp_path: Path):
    with Turnstile(tmp_path / "turnstile") as turnstile:
        actor = turnstile.actor("A")
        behind = heard(("pyspark",), CHUNKS[2:], tmp_path / "behind", actor.environment())
        assert actor.processes >= 1
    held = [
        (suite, history, role) for suite, history, _, role, _ in behind
    ]  # a finding has two parts, and is none of it
    assert held == [("examples", 0, "reader"), ("examples", 0, "writer")]
    assert any(isinstance(checks, dict) and checks.get("example.as-written") for *_, checks in behind)
