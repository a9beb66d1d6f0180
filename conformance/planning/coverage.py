"""The cells that a plan must cover for one engine, which it has covered, and which it leaves out with a reason."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations, combinations_with_replacement

from conformance.generation.facets import PLAIN, Facet, offered_facets
from conformance.planning.cells import CRASH, FEATURE, MOMENTS, ORDERS, PAIR, PARTITION, RACE, TYPE, Cell
from delta_adapters.capabilities import ANY, Capabilities

# What a cell is worth: one that is not covered yet, and one that is, to be divided by how often it is. Whole numbers,
# since a sum of others would depend on the order of a set, which differs from process to process.
NEW, COVERED = 2000, 300


@dataclass(slots=True)
class Coverage:
    """The cells of one part of a plan: what is wanted, and how often each is covered so far."""

    wanted: frozenset[Cell]
    counts: Counter[Cell] = field(default_factory=Counter)

    def gain(self, cells: Iterable[Cell]) -> int:
        """What it is worth to cover these cells: the more, the rarer they are so far.

        A cell that nobody wants, such as a refusal, counts half.
        """
        worth = 0
        for cell in cells:
            count = self.counts[cell]
            weight = COVERED // count if count else NEW
            worth += weight if cell in self.wanted else weight // 2
        return worth

    def add(self, cells: Iterable[Cell]) -> None:
        """Count cells as covered."""
        self.counts.update(cells)

    def missing(self) -> tuple[Cell, ...]:
        """The wanted cells that are not covered yet, in their order."""
        return tuple(sorted(cell for cell in self.wanted if not self.counts[cell]))

    def needs(self, kind: str) -> Counter[str]:
        """How many wanted cells of a kind are missing for each last word of a cell: a facet, or a type."""
        return Counter(cell[-1] for cell in self.wanted if cell[0] == kind and not self.counts[cell])


def claimed_letters(capabilities: Capabilities) -> Iterator[str]:
    """Yield the operations that an engine claims, each alone and with each option that it names."""
    for name, options in sorted(capabilities.operations.items()):
        yield name
        yield from (f"{name}/{option}" for option in sorted(options) if option != ANY)


def feature_cells(
    capabilities: Capabilities, names: Collection[str], facets: Sequence[Facet] | None = None
) -> Iterator[Cell]:
    """Yield each claimed letter of the operations with these names, on a table with each facet, or each of these."""
    if facets is None:
        facets = offered_facets(capabilities)
    for letter in claimed_letters(capabilities):
        if letter.partition("/")[0] in names:
            yield from ((FEATURE, letter, facet.name) for facet in facets)


def type_cells(capabilities: Capabilities, names: Collection[str]) -> Iterator[Cell]:
    """Yield each claimed letter of the operations with these names, with each type of column."""
    kinds = (
        *sorted(capabilities.data_types),
        *(PARTITION + kind for kind in sorted(capabilities.partition_types)),
    )
    for letter in claimed_letters(capabilities):
        if letter.partition("/")[0] in names:
            yield from ((TYPE, letter, kind) for kind in kinds)


def pair_cells(capabilities: Capabilities) -> Iterator[Cell]:
    """Yield each pair of facets."""
    names = sorted(facet.name for facet in offered_facets(capabilities) if facet.name != PLAIN)
    yield from ((PAIR, *pair) for pair in combinations(names, 2))


def crash_cells(capabilities: Capabilities, names: Collection[str]) -> Iterator[Cell]:
    """Yield a crash before and after the commit of each claimed operation of these names."""
    claimed = sorted(set(names) & capabilities.operations.keys())
    yield from ((CRASH, name, moment) for name in claimed for moment in MOMENTS)


def race_cells(capabilities: Capabilities, names: Collection[str]) -> Iterator[Cell]:
    """Yield each pair of claimed operations of these names in three orders."""
    claimed = sorted(set(names) & capabilities.operations.keys())
    for first, second in combinations_with_replacement(claimed, 2):
        orders = ORDERS if first != second else ORDERS[::2]  # of two alike either may be the first
        yield from ((RACE, first, second, order) for order in orders)
