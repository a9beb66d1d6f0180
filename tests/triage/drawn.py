"""Histories as a run draws them, without an engine."""

from __future__ import annotations

from functools import cache

from conformance.generation import TableShape, state_machine
from conformance.histories import Chunk, History, Step


class Recorder:
    """Takes the histories of a chunk as they are drawn."""

    def __init__(self) -> None:
        self.histories: list[list[Step]] = []

    def begin(self, history: int, shape: TableShape) -> None:
        self.histories.append([])

    def play(self, step: Step) -> None:
        self.histories[-1].append(step)

    def end(self) -> None:
        """Nothing is kept open."""

    def is_over(self) -> bool:
        return False


@cache
def drawn_history(seed: int, steps: int = 20, suite: str = "lockstep") -> History:
    """The history that a run draws from a seed."""
    recorder = Recorder()
    state_machine.draw(
        Chunk(suite, "dev", 0, seed, 1, steps, table="drawn" if suite == "races" else ""), recorder,
        shared=suite == "shared", faulty=suite == "crashes", racing=suite == "races",
    )  # fmt: skip
    return History(suite, "dev", 0, seed, tuple(recorder.histories[0]))
