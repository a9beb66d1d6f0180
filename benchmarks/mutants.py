"""How soon the checks catch each named mutant, and by which rules, with each of three seeds.

Most mutants are played in generated histories of the profile `dev`, those about races in the races of `ci`. This is no
comparison with a peer. The bar is that every seed catches every mutant, and that none accuses the honest engine. Two
plays run at once. Each result is kept until the code changes, so an interrupted call continues where it was.
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
from tests.mutants.generated_histories import NAMED, SEEDS, play_until_violation
from tests.mutants.race_mutants import MUTANTS
from tests.suites.races import ci_mutants as races

SHOWN_RULES = 3
AT_ONCE = 2
HERE = Path(__file__).resolve().parent.parent
CODE = ("models", "adapters", "conformance", "tests/mutants", "tests/suites/races")
ALONE = {engine.__name__: engine for engine in (Reference, *NAMED)}


class Play(NamedTuple):
    """A mutant or an honest engine, with a seed: in the histories of `dev`, or in the races of `ci`."""

    name: str
    seed: int
    in_races: bool = False


class Caught(NamedTuple):
    """The violated rules, and the number of steps or orders that were played."""

    rules: list[str]
    length: int


def main() -> Result:
    """Return a row for each mutant, and one for each honest engine."""
    plays = [
        *(Play(name, seed) for name in ALONE for seed in SEEDS),
        *(Play(name, seed, in_races=True) for name in (races.HONEST, *races.NAMED) for seed in SEEDS),
    ]
    caught = _play_all(plays, _kept_file())
    rows = [
        *(_mutant_row(mutant, caught) for mutant in NAMED),
        _honest_row("the checks do not accuse the honest engine", Reference.__name__, caught, "steps"),
        *(_race_row(name, rule, caught) for name, rule in races.NAMED.items()),
        _honest_row(
            "the checks do not accuse their honest twin", races.HONEST, caught, "orders", in_races=True
        ),
    ]
    return Result("mutants", tuple(rows), ("ours: the seeds with which the checks catch a mutant",))


def play(asked: Play) -> Caught:
    """Play until the checks catch the mutant, or to the end."""
    folder = Path(tempfile.mkdtemp(prefix="mutants-"))
    try:
        if asked.in_races:
            rules, orders = races.violated_in_ci(asked.name, asked.seed, folder, races.NAMED.get(asked.name))
            return Caught(sorted(rules), orders)
        game = play_until_violation(ALONE[asked.name], asked.seed, folder)
        return Caught(sorted(game.played.broken), game.steps)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _kept_file() -> Path:
    """Return the file that keeps the results of the present code."""
    digest = hashlib.sha256()
    for path in sorted(path for folder in CODE for path in (HERE / folder).rglob("*") if path.is_file()):
        if path.suffix in {".py", ".toml"}:
            digest.update(path.read_bytes())
    return Path(tempfile.gettempdir()) / f"mutants-{digest.hexdigest()[:16]}.jsonl"


def _play_all(plays: Sequence[Play], kept: Path) -> Mapping[Play, Caught]:
    """Return the results of all plays: those that were kept, and the others, which it keeps as they come."""
    results: dict[Play, Caught] = {}
    if kept.exists():
        for line in kept.read_text().splitlines():
            values, caught = json.loads(line)
            results[Play(*values)] = Caught(*caught)
    remaining = [asked for asked in plays if asked not in results]
    with kept.open("a") as file, _workers() as workers:
        for asked, caught in zip(remaining, workers.map(play, remaining), strict=True):
            results[asked] = caught
            file.write(json.dumps([asked, caught]) + "\n")
            file.flush()
            print(f"  {asked.name}, seed {asked.seed}: {_note(caught)} {caught.length}", flush=True)
    return results


def _workers() -> ProcessPoolExecutor:
    return ProcessPoolExecutor(AT_ONCE, mp_context=multiprocessing.get_context("spawn"))


def _mutant_row(mutant: type[Reference], results: Mapping[Play, Caught]) -> Row:
    by_seed = {seed: results[Play(mutant.__name__, seed)] for seed in SEEDS}
    notes = [f"seed {seed}: {_note(caught)} after {caught.length} steps" for seed, caught in by_seed.items()]
    work = f"{mutant.__name__}: {_sentence(mutant)}"
    return _row(work, (bool(caught.rules) for caught in by_seed.values()), "; ".join(notes))


def _race_row(name: str, rule: str, results: Mapping[Play, Caught]) -> Row:
    """Return the row of a mutant that is honest alone, which the races of `ci` must catch by its own rule."""
    plays = [results[Play(name, seed, in_races=True)] for seed in SEEDS]
    orders = ", ".join(str(caught.length) for caught in plays)
    work = f"{name}, in the races of ci: {_sentence(MUTANTS[name])}"
    return _row(work, (rule in caught.rules for caught in plays), f"{rule} by order {orders}")


def _honest_row(
    work: str, name: str, results: Mapping[Play, Caught], unit: str, *, in_races: bool = False
) -> Row:
    plays = [results[Play(name, seed, in_races)] for seed in SEEDS]
    return _row(
        work, (not caught.rules for caught in plays), f"{sum(caught.length for caught in plays)} {unit}"
    )


def _note(caught: Caught) -> str:
    return ", ".join(caught.rules[:SHOWN_RULES]) or "not caught"


def _sentence(mutant: type) -> str:
    return (mutant.__doc__ or mutant.__name__).strip().splitlines()[0].removesuffix(".")


def _row(work: str, held: Iterable[bool], note: str) -> Row:
    count = sum(held)
    share = count / len(SEEDS)
    return Row(
        work, "seeds", count, "asked", len(SEEDS), share, (share, share), 1.0, pairs=len(SEEDS), note=note
    )
