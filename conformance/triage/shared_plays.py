"""What was found out about long histories answers for their beginnings, so that a run plays each history once.

A run sees one cause in many steps of one history. Each is a sighting, whose history ends with its step. What happens up
to a step depends on the steps up to it alone, so one play of the longest history answers for all.
"""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field, replace
from typing import Generic, TypeVar

from conformance.histories import History

T = TypeVar("T")
_KEPT = 256  # answers that are remembered


@dataclass(slots=True)
class SharedPlays(Generic[T]):
    """Answers about histories. `find` gives the answer about a history that begins with the steps of another one."""

    _known: OrderedDict[Hashable, OrderedDict[tuple[str, ...], tuple[History, T]]] = field(
        default_factory=OrderedDict
    )

    def find(
        self, history: History, how: Hashable, answers: Callable[[History, T], bool] = lambda *_: True
    ) -> tuple[History, T] | None:
        """The shortest known history that goes on from this one, with its answer; None if there is none.

        `how` is what else an answer depends on. `answers` says whether an answer holds for a shorter history.
        """
        steps = _texts(history)
        going_on = [
            known
            for texts, known in self._known.get(_key(history, how), {}).items()
            if texts == steps or (texts[: len(steps)] == steps and answers(*known))
        ]
        return min(going_on, key=lambda known: len(known[0].steps), default=None)

    def keep(self, history: History, how: Hashable, answer: T) -> None:
        """Remember an answer."""
        same = self._known.setdefault(_key(history, how), OrderedDict())
        same[_texts(history)] = history, answer
        while len(same) > _KEPT:
            same.popitem(last=False)
        while len(self._known) > _KEPT:
            self._known.popitem(last=False)


def _key(history: History, how: Hashable) -> Hashable:
    return json.dumps(replace(history, steps=()).to_json(), sort_keys=True), how


def _texts(history: History) -> tuple[str, ...]:
    """The steps as texts: NaN equals nothing, not even itself."""
    return tuple(json.dumps(form, sort_keys=True) for form in history.to_json()["steps"])
