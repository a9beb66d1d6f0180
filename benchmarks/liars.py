"""The liars that are named: how soon each is heard in drawn `dev` histories, those about races in `ci`, and by which
rules, with each of three seeds.

Not a comparison with a peer: the bar is that every seed hears every liar, and that none hears the honest engine.
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from benchmarks.results import Result, Row
from delta_adapters.reference import Reference
from tests.liars.drawn import NAMED, SEEDS, heard
from tests.races import played as races
from tests.races.liars import LIARS

TOLD = 3


def main() -> Result:
    """A row a liar, and one for the honest engine."""
    return Result(
        "liars", (*map(_row, NAMED), _honest(), *_races()), ("ours: the seeds with which a liar is heard",)
    )


def _row(liar: type[Reference]) -> Row:
    notes = []
    found = 0
    for seed in SEEDS:
        steps, rules = _play(liar, seed)
        found += bool(rules)
        notes.append(f"seed {seed}: {', '.join(rules[:TOLD]) or 'not heard'} after {steps} steps")
    lie = (liar.__doc__ or liar.__name__).strip().splitlines()[0].removesuffix(".")
    return _of(f"{liar.__name__}: {lie}", found, "; ".join(notes))


def _honest() -> Row:
    played = [_play(Reference, seed) for seed in SEEDS]
    quiet = sum(not rules for _, rules in played)
    return _of("the honest engine is not heard", quiet, f"{sum(steps for steps, _ in played)} steps")


def _races() -> list[Row]:
    """Those that are honest alone, as `ci` hears them in its races, each by its own rule; and their honest twin."""
    rows = []
    for name, rule in races.NAMED.items():
        found = [rule in _in_ci(name, seed)[0] for seed in SEEDS]
        lie = (LIARS[name].__doc__ or name).strip().removesuffix(".")
        rows.append(_of(f"{name}, in the races of ci: {lie}", sum(found), rule))
    quiet = [_in_ci(races.HONEST, seed) for seed in SEEDS]
    orders = sum(orders for _, orders in quiet)
    note = f"{orders} orders"
    return [*rows, _of("their honest twin is not heard", sum(not rules for rules, _ in quiet), note)]


def _in_ci(name: str, seed: int) -> tuple[set[str], int]:
    with tempfile.TemporaryDirectory(prefix="liars-") as folder:
        return races.heard_in_ci(name, seed, Path(folder))


def _of(work: str, count: int, note: str) -> Row:
    share = count / len(SEEDS)
    return Row(
        work, "seeds", count, "asked", len(SEEDS), share, (share, share), 1.0, pairs=len(SEEDS), note=note
    )


def _play(adapter: type[Reference], seed: int) -> tuple[int, list[str]]:
    folder = Path(tempfile.mkdtemp(prefix="liars-"))
    try:
        game = heard(adapter, seed, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return game.steps, sorted(game.played.broken)
