"""What is kept of a finding: the shortest history, and one that is news before one that is known."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from conformance import keeper
from conformance.dealer import Dealer
from conformance.drawn import Drawn
from conformance.events import FindingFound
from conformance.findings import load_finding
from conformance.hosts import Hosts
from conformance.keeper import Found, Keeper
from conformance.plan import Chunk
from conformance.turnstile.arena import Arena
from delta_adapters.registry import parse_engine
from tests.run.conftest import ENGINES


class Remembers(Keeper):
    """Keeps what it is given as well."""

    def keep(self, found: Found) -> FindingFound:
        self.given = found
        return super().keep(found)


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Found:
    """A finding about an engine that says it appended."""
    folder = tmp_path_factory.mktemp("found")
    remembers = Remembers(folder)
    with Hosts([parse_engine(f"{ENGINES}:Lies")], folder / "hosts", lambda _: None) as hosts:
        arena = Arena({}, folder, lambda _: None)
        dealer = Dealer(hosts, remembers, lambda _: None, lambda: False, arena)
        Drawn(dealer, Chunk("lockstep", "dev", 0, 6, 1, 12), folder / "work").play_all()
    remembers.given.seen.folder.mkdir(parents=True, exist_ok=True)  # the table is cleared away
    return remembers.given


def at_step(found: Found, step: int) -> Found:
    return replace(found, seen=replace(found.seen, step=step))


def test_news_replaces_what_is_known_and_what_is_known_replaces_no_news(
    found: Found, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    keeping, step = Keeper(tmp_path), found.seen.step
    for deviation, at, kept in (
        ("a-cause", step, (True, step)),
        ("a-cause", step + 1, (True, step)),
        (None, step + 2, (False, step + 2)),
        ("a-cause", step, (False, step + 2)),
        (None, step + 1, (False, step + 1)),
    ):
        monkeypatch.setattr(keeper, "known_deviation", lambda *_, name=deviation: name)
        told = keeping.keep(at_step(found, at))
        assert told.known is (deviation is not None)
        finding = load_finding(tmp_path / told.folder)
        assert (finding.known, finding.step) == kept
