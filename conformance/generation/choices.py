"""How anything here is chosen: by a number below another. Small numbers mean simple choices, for shrinking."""

from __future__ import annotations

import random
from collections.abc import Sequence
from functools import lru_cache
from typing import Protocol, TypeVar

from hypothesis import strategies as st

T = TypeVar("T")


class Draw(Protocol):
    """What Hypothesis gives to a composite strategy."""

    def __call__(self, strategy: st.SearchStrategy[int], /) -> int:
        """A value of a strategy."""


class Choices:
    """Choices in terms of `below`, which its two kinds define."""

    def below(self, limit: int) -> int:
        """A number from 0 to limit - 1, each as likely."""
        raise NotImplementedError

    def one_in(self, number: int) -> bool:
        """True once in `number` times; the simple answer is no."""
        return self.below(number) == number - 1

    def pick(self, options: Sequence[T]) -> T:
        """One of the options; the first is the simplest."""
        return options[self.below(len(options))] if len(options) > 1 else options[0]

    def weighted(self, options: Sequence[tuple[T, int]]) -> T:
        """One of the options, as likely as its weight says."""
        at = self.below(sum(weight for _, weight in options))
        for option, weight in options:
            if at < weight:
                return option
            at -= weight
        message = "no options"
        raise ValueError(message)

    def some(self, options: Sequence[T], number: int) -> list[T]:
        """So many different options, or all if there are fewer, in an order drawn."""
        left = list(options)
        return [
            left.pop(self.below(len(left)) if len(left) > 1 else 0) for _ in range(min(number, len(left)))
        ]


class HypothesisChoices(Choices):
    """Draws from Hypothesis, so that histories shrink and replay."""

    def __init__(self, draw: Draw) -> None:
        self._draw = draw

    def below(self, limit: int) -> int:
        """A number from 0 to limit - 1."""
        return self._draw(_below(limit))


class RandomChoices(Choices):
    """Draws from a seeded generator: many histories for little time, where nothing needs to shrink."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def below(self, limit: int) -> int:
        """A number from 0 to limit - 1."""
        return self._random.randrange(limit)


@lru_cache(maxsize=1024)
def _below(limit: int) -> st.SearchStrategy[int]:
    return st.integers(0, limit - 1)
