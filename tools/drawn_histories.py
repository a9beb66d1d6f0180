"""Draws all histories of a profile for a seed, without engines, and prints a digest of each.

python tools/drawn_histories.py [--profile ci] [--seed 1] [--of-each N] [--whole]

Recordings hold only the histories of findings. So this is how two checkouts are compared: run it with the Python of
each, and `diff` what they print. `--of-each` limits a long profile to N chunks of each kind. `--whole` prints the
histories as JSON in place of their digests, to see what differs.

Committed histories (examples, crash stories, pairs of races) are digested too. In which orders a pair races depends on
the engine, so the orders stand in the recordings only.

The script runs with checkouts from before and after the modules of `conformance` got their present names.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from typing import Any

History = tuple[int, dict[str, Any]]

# Where a name may be found: the present module first, then the older ones.
HOMES = {
    "draw": ("conformance.generation.state_machine", "conformance.machine"),
    "load_profile": ("conformance.planning.profile", "conformance.planning.plan", "conformance.plan"),
    "make_plan": ("conformance.planning.plan", "conformance.plan"),
    "RandomDice": (
        "conformance.generation.choices",
        "conformance.generation.dice",
        "conformance.strategies.dice",
    ),
    "EXAMPLES": ("conformance.suites.examples",),
    "stories": (
        "conformance.suites.crashes.scenario_groups",
        "conformance.suites.crashes.scenarios",
        "conformance.crashes.groups",
    ),
    "PAIRS": ("conformance.suites.races.scenarios", "conformance.races.pairs"),
    "EVERY_ORDER": ("conformance.suites.races.suite", "conformance.races.game"),
    "TABLES": (
        "conformance.generation.races",
        "conformance.generation.schedules",
        "conformance.strategies.schedules",
    ),
}


def imported(name: str) -> Any:
    """The object of this name, from the first module that has it. Raises ImportError."""
    for home in HOMES[name]:
        try:
            return getattr(import_module(home), name)
        except (ModuleNotFoundError, AttributeError):
            continue
    raise ImportError(f"no {name} in {', '.join(HOMES[name])}: add its module to HOMES of {__file__}")


def encoded(value: Any) -> Any:
    """The JSON of an operation or a type."""
    return import_module("delta_models.codec").encode(value)


class Collector:
    """The `Game` that keeps what a machine draws."""

    def __init__(self) -> None:
        self.histories: list[History] = []

    def begin(self, history: int, shape: Any) -> None:
        """The next history, with the table that it is for."""
        table = {
            "schema": encoded(shape.schema),
            "partition_by": list(shape.partition_by),
            "properties": [list(pair) for pair in shape.properties],
        }
        self.histories.append((history, {"table": table, "steps": []}))

    def play(self, step: Any) -> None:
        """The next step."""
        self.histories[-1][1]["steps"].append(
            {"operation": encoded(step.operation), "slot": step.slot, "by": step.by}
        )

    def end(self) -> None:
        """The end of a history: there is nothing to do."""

    @staticmethod
    def is_over() -> bool:
        """False: all is wanted."""
        return False


def histories_of(chunk: Any) -> list[History]:
    """The histories of a chunk, each with its number."""
    if chunk.suite == "examples":
        return list(_examples())
    if chunk.suite == "crashes" and (stories := imported("stories")(chunk.table)):
        return list(_stories(stories[: chunk.histories]))
    if chunk.suite == "races" and chunk.table not in imported("TABLES"):
        return list(_pairs(chunk))
    collector = Collector()
    imported("draw")(
        chunk,
        collector,
        shared=chunk.suite == "shared",
        faulty=chunk.suite == "crashes",
        racing=chunk.suite == "races",
    )
    return collector.histories


def _examples() -> Iterator[History]:
    for number, make in enumerate(imported("EXAMPLES").values()):
        example = make()
        operations = [step.operation for step in example.steps]
        yield (
            number,
            {
                "example": example.name,
                "steps": [
                    {"orphan": repr(operation.rows)}
                    if type(operation).__name__ == "Orphan"
                    else encoded(operation)
                    for operation in operations
                ],
            },
        )


def _stories(stories: Sequence[Any]) -> Iterator[History]:
    for number, story in enumerate(stories):
        parts = (*story.before, story.operation, *story.afterwards)
        yield number, {"fault_at": len(story.before), "steps": [encoded(operation) for operation in parts]}


def _pairs(chunk: Any) -> Iterator[History]:
    committed = imported("EVERY_ORDER").get(chunk.table)
    pairs = committed or imported("RandomDice")(chunk.seed).some(imported("PAIRS"), chunk.histories)
    for number, pair in enumerate(tuple(pairs)[: chunk.histories]):
        yield number, {"overlap": pair.overlap, "steps": [encoded(pair.first), encoded(pair.second)]}


def chunks_of(profile: str, seed: int, of_each: int | None) -> Iterator[Any]:
    """The chunks of a profile's plan, or the first so many of each suite and table profile."""
    plan = imported("make_plan")(imported("load_profile")(profile), seed, engines=())
    taken: Counter[tuple[str, str]] = Counter()
    for chunk in plan.chunks:
        taken[chunk.suite, chunk.table] += 1
        if of_each is None or taken[chunk.suite, chunk.table] <= of_each:
            yield chunk


def digest(form: Any) -> str:
    """Sixteen hexadecimal digits of a JSON value."""
    return hashlib.sha256(json.dumps(form, sort_keys=True).encode()).hexdigest()[:16]


def whole(form: Any) -> str:
    """A JSON value as one line."""
    return json.dumps(form, sort_keys=True)


def main(arguments: Sequence[str] | None = None) -> int:
    """Draw and print; always 0."""
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
