"""What a suite is, and the one loop that executes a step of any suite."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

from conformance.execution.history_recorder import HistoryRecorder
from conformance.execution.table_session import TableSession
from conformance.findings import FindingError
from conformance.histories import Step


class Suite(Protocol):
    """The histories of one chunk."""

    @property
    def complete(self) -> bool:
        """Whether every history was played to its end."""

    def play_all(self) -> None:
        """Play the histories, as far as there is time. Raises FindingError or OSError if the run's folder fails."""


def play_step(
    history_recorder: HistoryRecorder,
    step: Step,
    table_sessions: Iterable[TableSession],
    execute: Callable[[], None],
    engines: Sequence[str],
) -> None:
    """Execute a step, and report that these engines have, if there are any.

    Raises FindingError and OSError: the run's folder fails, so going on is useless. Any other error of the harness says
    nothing about engines. It is reported, the history ends at these tables, and other histories go on.
    """
    history_recorder.begin_step(step)
    try:
        execute()
        if engines:
            history_recorder.played(engines)
    except (FindingError, OSError):
        raise
    except Exception as error:  # noqa: BLE001 - whatever it is, it says nothing of the engines
        history_recorder.harness_failed(error, table_sessions)


def engines_at(table_sessions: Iterable[TableSession]) -> list[str]:
    """The engines that take part at these tables."""
    return [
        engine_session.engine
        for table_session in table_sessions
        for engine_session in table_session.engine_sessions
        if engine_session.plays
    ]
