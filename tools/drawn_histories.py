"""Draws all histories of a profile for a seed, without engines, and prints a digest of each.

python tools/drawn_histories.py [--profile ci] [--seed 1] [--of-each N] [--whole]

Recordings hold only the histories of findings. So this is how two checkouts are compared: run the script of each, and
`diff` what they print. `--of-each` limits a long profile to N chunks of each kind. `--whole` prints the histories as
JSON in place of their digests, to see what differs.

Committed histories (examples, crash scenarios, pairs of races) are digested too. In which orders a pair races depends
on the engine, so the orders stand in the recordings only.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from conformance.generation import TableShape
from conformance.generation.choices import RandomChoices
from conformance.generation.races import TABLES
from conformance.generation.state_machine import draw
from conformance.histories import Chunk, Step
from conformance.planning.plan import make_plan
from conformance.planning.profile import load_profile
from conformance.suites.crashes.scenarios import CrashScenario, scenarios_of
from conformance.suites.examples import EXAMPLES, Orphan
from conformance.suites.races.scenarios import PAIRS
from conformance.suites.races.suite import EVERY_ORDER
from delta_models.codec import encode

Form = dict[str, Any]
DrawnHistory = tuple[int, Form]


class HistoryCollector:
    """The `HistoryPlayer` that keeps the histories of a chunk, in `histories`, and plays none."""

    def __init__(self) -> None:
        self.histories: list[DrawnHistory] = []

    def begin(self, history: int, shape: TableShape) -> None:
        """Begin the next history, with the shape of its table."""
        table = {
            "schema": encode(shape.schema),
            "partition_by": list(shape.partition_by),
            "properties": [list(pair) for pair in shape.properties],
        }
        self.histories.append((history, {"table": table, "steps": []}))

    def play(self, step: Step) -> None:
        """Keep the next step."""
        self.histories[-1][1]["steps"].append(
            {"operation": encode(step.operation), "slot": step.slot, "by": step.by}
        )

    def end(self) -> None:
        """End a history: there is nothing to do."""

    @staticmethod
    def is_over() -> bool:
        """Return False: all histories are wanted."""
        return False


def histories_of(chunk: Chunk) -> list[DrawnHistory]:
    """Return the histories of a chunk, each with its number."""
    if chunk.suite == "examples":
        return list(_examples())
    if chunk.suite == "crashes" and (scenarios := scenarios_of(chunk.table)):
        return list(_scenarios(scenarios[: chunk.histories]))
    if chunk.suite == "races" and chunk.table not in TABLES:
        return list(_pairs(chunk))
    collector = HistoryCollector()
    draw(
        chunk,
        collector,
        shared=chunk.suite == "shared",
        faulty=chunk.suite == "crashes",
        racing=chunk.suite == "races",
    )
    return collector.histories


def _examples() -> Iterator[DrawnHistory]:
    for number, make in enumerate(EXAMPLES.values()):
        example = make()
        operations = [step.operation for step in example.steps]
        steps = [
            {"orphan": repr(operation.rows)} if isinstance(operation, Orphan) else encode(operation)
            for operation in operations
        ]
        yield number, {"example": example.name, "steps": steps}


def _scenarios(scenarios: Iterable[CrashScenario]) -> Iterator[DrawnHistory]:
    for number, scenario in enumerate(scenarios):
        operations = (*scenario.before, scenario.operation, *scenario.afterwards)
        yield (
            number,
            {"fault_at": len(scenario.before), "steps": [encode(operation) for operation in operations]},
        )


def _pairs(chunk: Chunk) -> Iterator[DrawnHistory]:
    pairs = EVERY_ORDER.get(chunk.table) or RandomChoices(chunk.seed).some(PAIRS, chunk.histories)
    for number, pair in enumerate(tuple(pairs)[: chunk.histories]):
        yield number, {"overlap": pair.overlap, "steps": [encode(pair.first), encode(pair.second)]}


def chunks_of(profile: str, seed: int, of_each: int | None) -> Iterator[Chunk]:
    """Yield the chunks of a profile's plan, or the first `of_each` of each suite and table profile."""
    plan = make_plan(load_profile(profile), seed, engines=())
    taken: Counter[tuple[str, str]] = Counter()
    for chunk in plan.chunks:
        taken[chunk.suite, chunk.table] += 1
        if of_each is None or taken[chunk.suite, chunk.table] <= of_each:
            yield chunk


def digest(form: Any) -> str:
    """Return sixteen hexadecimal digits for a JSON value."""
    return hashlib.sha256(json.dumps(form, sort_keys=True).encode()).hexdigest()[:16]


def whole(form: Any) -> str:
    """Return a JSON value as one line."""
    return json.dumps(form, sort_keys=True)


def main(arguments: Sequence[str] | None = None) -> int:
    """Draw, print, and return 0."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--profile", default="ci")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--of-each", type=int)
    parser.add_argument("--whole", action="store_true")
    given = parser.parse_args(arguments)
    shown: Callable[[Any], str] = whole if given.whole else digest
    total: list[str] = []
    for chunk in chunks_of(given.profile, given.seed, given.of_each):
        histories = histories_of(chunk)
        name = f"{chunk.suite}-{chunk.number}{f' ({chunk.table})' if chunk.table else ''}"
        lines = [
            f"{name} history {number}: {len(form['steps'])} steps {shown(form)}" for number, form in histories
        ]
        chunk_digest = digest([form for _, form in histories])
        total.append(chunk_digest)
        print("\n".join([*lines, f"{name} seed {chunk.seed}: {len(histories)} histories {chunk_digest}"]))
    print(f"profile {given.profile}, seed {given.seed}: {len(total)} chunks {digest(total)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
