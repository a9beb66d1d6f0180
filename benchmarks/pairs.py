"""Interleaved pairs: ours and the peer's turn by turn, so that whatever else the machine does falls on both."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median

PAIRS = 15
DEAR_SECONDS = 10.0
DEAR_PAIRS = 5
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
        """The median of ours over the peer's, pair by pair."""
        return median(self._ratios)

    @property
    def interval(self) -> tuple[float, float]:
        """Where that median lies, by bootstrap over the pairs."""
        return bootstrap(self._ratios)

    @property
    def _ratios(self) -> list[float]:
        return [mine / theirs for mine, theirs in zip(self.ours, self.peer, strict=True)]


def measure(
    ours: Callable[[int], float], peer: Callable[[int], float], pairs: int = PAIRS, *, alternate: bool = True
) -> Pairs:
    """Measure both by turns, who goes first changing; each gets the number of its turn and returns its seconds.

    Not `alternate`: the peer repeats what ours did, so ours goes first. Where one takes over ten seconds a few pairs
    must do.
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
        if max(mine[-1], theirs[-1]) > DEAR_SECONDS:
            wanted = min(wanted, DEAR_PAIRS)
    return Pairs(tuple(mine), tuple(theirs))


def bootstrap(values: Sequence[float]) -> tuple[float, float]:
    """The interval of the median at the confidence above."""
    dice = random.Random(0)
    medians = sorted(median(dice.choices(values, k=len(values))) for _ in range(RESAMPLES))
    edge = int(RESAMPLES * (1 - CONFIDENCE) / 2)
    return medians[edge], medians[-1 - edge]
