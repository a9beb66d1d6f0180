"""The liars that are named: how soon each is heard in drawn `dev` histories, those about races in `ci`, and by which
rules, with each of three seeds.

Not a comparison with a peer: the bar is that every seed hears every liar, and that none hears the honest engine. Two
plays run at once, and each is kept until the code changes: a call that was cut goes on where it was.
"""

from __future__ import annotations

import hashlib
import json
import multiprocessing
import shutil
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import NamedTuple

from benchmarks.results import Result, Row
from delta_adapters.reference import Reference
from tests.mutants.drawn import NAMED, SEEDS, heard
from tests.mutants.race_mutants import LIARS
from tests.suites.races import played as races

TOLD = 3
AT_ONCE = 2
HERE = Path(__file__).resolve().parent.parent
CODE = ("models", "adapters", "conformance", "tests/mutants", "tests/suites/races")
ALONE = {each.__name__: each for each in (Reference, *NAMED)}


class Play(NamedTuple):
    """A liar, or an honest engine, with a seed: in the histories of `dev`, or in the races of `ci`."""

    name: str
    seed: int
    in_races: bool = False


class Heard(NamedTuple):
    """The rules that were broken, and after how many steps, or in how many orders, the playing ended."""

    rules: list[str]
    length: int


def main() -> Result:
    """A row a liar, and one for each honest engine."""
    asked = [
        *(Play(name, seed) for name in ALONE for seed in SEEDS),
        *(Play(name, seed, in_races=True) for name in (races.HONEST, *races.NAMED) for seed in SEEDS),
    ]
    found = _played(asked, _kept())
    rows = [
        *(_lie(each, found) for each in NAMED),
        _honest("the honest engine is not heard", Reference.__name__, found, "steps"),
        *(_raced(name, rule, found) for name, rule in races.NAMED.items()),
        _honest("their honest twin is not heard", races.HONEST, found, "orders", in_races=True),
    ]
    return Result("liars", tuple(rows), ("ours: the seeds with which a liar is heard",))


def play(asked: Play) -> Heard:
    """Play until it is heard, or to the end."""
    folder = Path(tempfile.mkdtemp(prefix="liars-"))
    try:
        if asked.in_races:
            rules, orders = races.heard_in_ci(asked.name, asked.seed, folder, races.NAMED.get(asked.name))
            return Heard(sorted(rules), orders)
        game = heard(ALONE[asked.name], asked.seed, folder)
        return Heard(sorted(game.played.broken), game.steps)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _kept() -> Path:
    """Where the plays of the present code are kept."""
    digest = hashlib.sha256()
    for path in sorted(path for each in CODE for path in (HERE / each).rglob("*") if path.is_file()):
        if path.suffix in {".py", ".toml"}:
            digest.update(path.read_bytes())
    return Path(tempfile.gettempdir()) / f"liars-{digest.hexdigest()[:16]}.jsonl"


def _played(asked: Sequence[Play], kept: Path) -> Mapping[Play, Heard]:
    """All plays: those that were kept, and the others, which are kept as they come."""
    found: dict[Play, Heard] = {}
    if kept.exists():
        for line in kept.read_text().splitlines():
            play_of, heard_of = json.loads(line)
            found[Play(*play_of)] = Heard(*heard_of)
    left = [each for each in asked if each not in found]
    with kept.open("a") as file, _workers() as workers:
        for each, heard_of in zip(left, workers.map(play, left), strict=True):
            found[each] = heard_of
            file.write(json.dumps([each, heard_of]) + "\n")
            file.flush()
            print(f"  {each.name}, seed {each.seed}: {_note(heard_of)} {heard_of.length}", flush=True)
    return found


def _workers() -> ProcessPoolExecutor:
    return ProcessPoolExecutor(AT_ONCE, mp_context=multiprocessing.get_context("spawn"))


def _lie(liar: type[Reference], found: Mapping[Play, Heard]) -> Row:
    plays = {seed: found[Play(liar.__name__, seed)] for seed in SEEDS}
    notes = [f"seed {seed}: {_note(each)} after {each.length} steps" for seed, each in plays.items()]
    work = f"{liar.__name__}: {_sentence(liar)}"
    return _row(work, (bool(each.rules) for each in plays.values()), "; ".join(notes))


def _raced(name: str, rule: str, found: Mapping[Play, Heard]) -> Row:
    """One that is honest alone, as `ci` hears it in its races, by its own rule."""
    plays = [found[Play(name, seed, in_races=True)] for seed in SEEDS]
    orders = ", ".join(str(each.length) for each in plays)
    work = f"{name}, in the races of ci: {_sentence(LIARS[name])}"
    return _row(work, (rule in each.rules for each in plays), f"{rule} by order {orders}")


def _honest(work: str, name: str, found: Mapping[Play, Heard], unit: str, *, in_races: bool = False) -> Row:
    plays = [found[Play(name, seed, in_races)] for seed in SEEDS]
    return _row(work, (not each.rules for each in plays), f"{sum(each.length for each in plays)} {unit}")


def _note(heard_of: Heard) -> str:
    return ", ".join(heard_of.rules[:TOLD]) or "not heard"


def _sentence(liar: type) -> str:
    return (liar.__doc__ or liar.__name__).strip().splitlines()[0].removesuffix(".")


def _row(work: str, held: Iterable[bool], note: str) -> Row:
    count = sum(held)
    share = count / len(SEEDS)
    return Row(
        work, "seeds", count, "asked", len(SEEDS), share, (share, share), 1.0, pairs=len(SEEDS), note=note
    )
