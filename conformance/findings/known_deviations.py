"""Which known deviation a finding is, if any: by its key, and by what occurred in its history."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from conformance.findings.fingerprint import FindingKey
from conformance.histories import History
from delta_adapters.deviations import TRIGGERS, covering_deviation
from delta_models.operations import Operation, Reopen
from delta_models.table import ModelHistory, NotModelled, Table


def known_deviation(
    key: FindingKey, version: str | None = None, history: History | None = None
) -> str | None:
    """The name of the entry that a finding belongs to, None if it is news.

    Without a version any version counts, without its history whatever the key fits.
    """
    triggers = None if history is None else _Occurred(history)
    entry = covering_deviation(key.fingerprint, key.engine, version, form=key.to_json(), triggers=triggers)
    return None if entry is None else entry.name


def triggers_of(history: History) -> frozenset[str]:
    """What occurred in a history of that which is known to trip engines, by the names of the triggers."""
    occurred = _Occurred(history)
    return frozenset(name for name in TRIGGERS if name in occurred)


@dataclass(slots=True)
class _Occurred:
    """The triggers that occurred in a history. Which of them did is found out when it is asked: few ever are."""

    history: History

    def __contains__(self, name: object) -> bool:
        trigger = TRIGGERS.get(str(name))
        return trigger is not None and any(trigger.set_off(*step) for step in self._steps())

    def _steps(self) -> Iterator[tuple[Table, Operation]]:
        """The operations of the history, each with the table that it finds."""
        model_history = ModelHistory()
        for step in self.history.steps:
            yield model_history.table, step.operation
            try:
                model_history = model_history.after(step.operation)
            except NotModelled:  # a fault, or a race: the table keeps its columns
                model_history = model_history.after(Reopen())
