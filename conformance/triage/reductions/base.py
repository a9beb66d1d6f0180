"""What a reduction is.

A reduction is a generator of candidates: histories that are simpler in one respect. It is told of each candidate
whether it still fails, by the history that was kept (a candidate may fail before its last step), and goes on from that
one. None means that the candidate was no good.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import replace
from typing import Any

from conformance.histories import History, Step
from delta_models.operations import Operation

Candidates = Generator[History, History | None, None]
Reduction = Callable[[History], Candidates]
Variants = Callable[[Operation], Iterator[Operation]]


def with_steps(history: History, steps: Sequence[Step]) -> History:
    """The history with other steps."""
    return replace(history, steps=tuple(steps))


def with_operation(history: History, number: int, operation: Operation) -> History:
    """The history with another operation in one of its steps."""
    steps = history.steps
    step = replace(steps[number], operation=operation)
    return with_steps(history, (*steps[:number], step, *steps[number + 1 :]))


def of_each_operation(variants: Variants) -> Reduction:
    """A reduction that tries the variants of each operation, the last operation first, as long as one is good."""

    def candidates(history: History) -> Candidates:
        number = len(history.steps) - 1
        while number >= 0:
            if number < len(history.steps):
                kept = True
                while kept:
                    kept = False
                    for variant in variants(history.steps[number].operation):
                        taken = yield with_operation(history, number, variant)
                        if taken is not None:
                            history, kept = taken, number < len(taken.steps)
                            break
            number -= 1

    return candidates


def shorter(parts: Sequence[Any], least: int = 0) -> Iterator[tuple[Any, ...]]:
    """Shorter forms of a sequence: as few as there may be, halves, then one less."""
    many = len(parts)
    if many <= least:
        return
    tried = {many}
    for size in (least, many // 2):
        if size >= least and size not in tried:
            tried.add(size)
            yield tuple(parts[:size])
            if size > 0:
                yield tuple(parts[many - size :])
    if many > 1:
        for number in range(many - 1, -1, -1):
            yield (*parts[:number], *parts[number + 1 :])
