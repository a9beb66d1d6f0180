"""Makes all choices of the draws, each by a number below another. Small numbers mean simple choices, for shrinking."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from functools import cache, lru_cache, wraps
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, Protocol, TypeVar

if TYPE_CHECKING:
    from hypothesis import strategies as st

T = TypeVar("T")
P = ParamSpec("P")


class Draw(Protocol):
    """The function that Hypothesis gives to a composite strategy."""

    def __call__(self, strategy: st.SearchStrategy[int], /) -> int:
        """Return a value of a strategy."""


class Choices:
    """Choices in terms of `below`, which the subclasses define."""

    def below(self, limit: int) -> int:
        """Return a number from 0 to limit - 1, all equally likely."""
        raise NotImplementedError

    def one_in(self, number: int) -> bool:
        """Return True once in `number` times; the simple answer is False."""
        return self.below(number) == number - 1

    def pick(self, options: Sequence[T]) -> T:
        """Return one of the options; the first is the simplest."""
        return options[self.below(len(options))] if len(options) > 1 else options[0]

    def weighted(self, options: Sequence[tuple[T, int]]) -> T:
        """Return one of the options, as likely as its weight says."""
        rest = self.below(sum(weight for _, weight in options))
        for option, weight in options:
            if rest < weight:
                return option
            rest -= weight
        message = "no options"
        raise ValueError(message)

    def some(self, options: Sequence[T], number: int) -> list[T]:
        """Return so many different options, or all if there are fewer, in an order drawn."""
        left = list(options)
        return [
            left.pop(self.below(len(left)) if len(left) > 1 else 0) for _ in range(min(number, len(left)))
        ]


class HypothesisChoices(Choices):
    """Draws from Hypothesis, so that histories shrink and replay."""

    def __init__(self, draw: Draw) -> None:
        self._draw = draw

    def below(self, limit: int) -> int:
        """Return a number from 0 to limit - 1."""
        return self._draw(_below(limit))


class RandomChoices(Choices):
    """Draws from a seeded generator: many histories for little time, where nothing needs to shrink."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def below(self, limit: int) -> int:
        """Return a number from 0 to limit - 1."""
        return self._random.randrange(limit)


@lru_cache(maxsize=1024)
def _below(limit: int) -> st.SearchStrategy[int]:
    from hypothesis import strategies as st  # noqa: PLC0415 - as `composite` says

    return st.integers(0, limit - 1)


def composite(function: Callable[Concatenate[Any, P], T]) -> Callable[P, st.SearchStrategy[T]]:
    """Hypothesis' `composite`, but Hypothesis is loaded at the first call: a planner knows shapes and draws none."""

    @cache
    def made() -> Callable[P, st.SearchStrategy[T]]:
        from hypothesis import strategies as st  # noqa: PLC0415 - as above

        return st.composite(function)

    @wraps(function)
    def make(*args: P.args, **words: P.kwargs) -> st.SearchStrategy[T]:
        return made()(*args, **words)

    return make
