"""Measure ours and the peer by turns, so that other load of the machine falls on both."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median

PAIRS = 15
LONG_SECONDS = 10.0
LONG_PAIRS = 5
RESAMPLES = 2000
CONFIDENCE = 0.95


@dataclass(frozen=True, slots=True)
class Pairs:
    """Measurements side by side, each pair taken right after another."""

    ours: tuple[float, ...]
    peer: tuple[float, ...]

    def __post_init__(self) -> None:
        assert len(self.ours) == len(self.peer) > 0

    @property
    def ratio(self) -> float:
        """The median of the ratios, ours over the peer's, pair by pair."""
        return median(self._ratios)

    @property
    def interval(self) -> tuple[float, float]:
        """The confidence interval of that median, by bootstrap over the pairs."""
        return bootstrap(self._ratios)

    @property
    def _ratios(self) -> list[float]:
        return [mine / theirs for mine, theirs in zip(self.ours, self.peer, strict=True)]


def measure(
    ours: Callable[[int], float], peer: Callable[[int], float], pairs: int = PAIRS, *, alternate: bool = True
) -> Pairs:
    """Measure both by turns. Each function gets the number of its turn and returns its seconds.

    They change places after every turn. Without `alternate`, ours always goes first, because the peer repeats what ours
    did. If a turn takes more than ten seconds, five pairs are enough.
    """
    mine: list[float] = []
    theirs: list[float] = []
    wanted = pairs
    turn = 0
    while turn < wanted:
        if alternate and turn % 2:
            theirs.append(peer(turn))
            mine.append(ours(turn))
        else:
            mine.append(ours(turn))
            theirs.append(peer(turn))
        turn += 1
        if max(mine[-1], theirs[-1]) > LONG_SECONDS:
            wanted = min(wanted, LONG_PAIRS)
    return Pairs(tuple(mine), tuple(theirs))


def bootstrap(values: Sequence[float]) -> tuple[float, float]:
    """Return the confidence interval of the median."""
    source = random.Random(0)
    medians = sorted(median(source.choices(values, k=len(values))) for _ in range(RESAMPLES))
    edge = int(RESAMPLES * (1 - CONFIDENCE) / 2)
    return medians[edge], medians[-1 - edge]
