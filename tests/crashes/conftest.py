from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from conformance.crashes.desk import CrashDesk
from conformance.dealer import seat_of
from conformance.history import Step
from conformance.player import Judged
from conformance.turnstile.arena import Arena, Player
from delta_adapters.registry import parse_engine
from delta_models.operations import Operation
from tests.liars.stage import ALWAYS


@dataclass
class Told:
    """What a history came to."""

    desk: CrashDesk
    judged: list[Judged] = field(default_factory=list)

    @property
    def broken(self) -> set[str]:
        """What was breached, but for what deltalake breaks in each commit."""
        return {breach.requirement for each in self.judged for breach in each.breaches} - ALWAYS

    @property
    def evidence(self) -> dict[str, int]:
        found: dict[str, int] = {}
        for each in self.judged:
            for name, count in each.evidence.items():
                found[name] = found.get(name, 0) + count
        return found

    def __str__(self) -> str:
        faults = [fault for each in self.judged for fault in each.faults]
        return "\n".join(
            [f"{b.requirement}: {b.detail}" for each in self.judged for b in each.breaches] + faults
        )


@dataclass
class Stage:
    """An engine behind the turnstile; a new table for each history."""

    player: Player

    def play(self, folder: Path, *operations: Operation) -> Told:
        desk = CrashDesk(folder / "table", [seat_of(self.player.engine)], self.player.actor, 1, "t")
        told = Told(desk, list(desk.sit_down()))
        for each in operations:
            if desk.plays:
                told.judged += [one for one in desk.play(Step(each)) if one is not None]
        return told


@pytest.fixture(scope="session")
def arena(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Arena]:
    """The engines of all tests here, each started when it is first asked for."""
    liars = Path(__file__).with_name("liars.py")
    names = {each: each for each in ("delta-rs", "delta-spark", "reference")} | {
        "liars": f"{liars}:OneOfThem"
    }
    made = Arena(
        {name: parse_engine(text) for name, text in names.items()},
        tmp_path_factory.mktemp("arena"),
        lambda _: None,
    )
    yield made
    made.close()


@pytest.fixture(scope="session")
def delta_rs(arena: Arena) -> Stage:
    player = arena.player("delta-rs")
    assert player is not None
    return Stage(player)


@pytest.fixture(scope="session")
def liars(arena: Arena) -> Stage:
    player = arena.player("liars")
    assert player is not None
    return Stage(player)
