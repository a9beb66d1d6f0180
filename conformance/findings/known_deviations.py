"""Match findings with the catalogue of known deviations, by the finding's key and by what its history contains."""

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
    """The name of the known deviation that a finding belongs to; None if the finding is new.

    Without a version the entry of any version counts. Without a history the triggers are not looked at.
    """
    triggers = None if history is None else _Occurred(history)
    entry = covering_deviation(key.fingerprint, key.engine, version, form=key.to_json(), triggers=triggers)
    return None if entry is None else entry.name


def triggers_of(history: History) -> frozenset[str]:
    """The names of the triggers that a history contains: conditions that are known to trip an engine."""
    occurred = _Occurred(history)
    return frozenset(name for name in TRIGGERS if name in occurred)


@dataclass(slots=True)
class _Occurred:
    """The triggers that a history contains. Each is evaluated when it is looked up, since few ever are."""

    history: History

    def __contains__(self, name: object) -> bool:
        trigger = TRIGGERS.get(str(name))
        return trigger is not None and any(trigger.set_off(*step) for step in self._steps())

    def _steps(self) -> Iterator[tuple[Table, Operation]]:
        """The operations of the history, each with the table before it."""
        model_history = ModelHistory()
        for step in self.history.steps:
            yield model_history.table, step.operation
            try:
                model_history = model_history.after(step.operation)
            except NotModelled:  # a fault, or a race: the table keeps its columns
                model_history = model_history.after(Reopen())
