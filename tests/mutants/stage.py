"""Plays operations on an adapter inside this process, with the real player and the real checks, without a host."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from conformance.execution.engine_session import EngineSession
from conformance.execution.step_result import StepResult
from conformance.execution.table_session import TableSession
from conformance.histories import Step
from delta_adapters.capabilities import Capabilities
from delta_adapters.contract import Adapter, Answer
from delta_adapters.host_client import Pending, ReadReply, Reply
from delta_models.operations import Operation, Read

# What deltalake breaks in each commit that it makes, and the entry that says so.
ALWAYS, ALWAYS_KNOWN = {"checksum.each-commit"}, {"delta-rs-no-checksums"}


class InProcess:
    """What a seat asks of a host, answered by an adapter at once."""

    def __init__(self, adapter: Adapter) -> None:
        self.adapter = adapter

    def open(self, location: str, timeout: float = 0) -> None:
        self.adapter.open(location)

    def submit_open(self, location: str, timeout: float = 0) -> Pending[None]:
        return Pending(lambda: self.open(location))

    def submit(self, operation: Operation, tag: str = "", timeout: float = 0) -> Pending[Reply]:
        reply = Reply(self.adapter.execute(operation, tag), 0.0)
        return Pending(lambda: reply)

    def submit_read(self, read: Read, timeout: float = 0) -> Pending[ReadReply]:
        answer = self.adapter.read(read)
        if isinstance(answer, Answer):
            found = ReadReply(answer.table, None, answer.version, 0.0)
        else:
            found = ReadReply(None, answer, None, 0.0)
        return Pending(lambda: found)


@dataclass(slots=True)
class Played:
    """What came of it: every judgement, in order."""

    result: list[StepResult] = field(default_factory=list)

    @property
    def broken(self) -> set[str]:
        """The requirements that were breached."""
        return {violation.requirement for each in self.result for violation in each.violations}

    @property
    def faults(self) -> list[str]:
        """What the harness says of itself."""
        return [fault for each in self.result for fault in each.faults]

    @property
    def evidence(self) -> dict[str, int]:
        """How often each requirement was judged."""
        found: dict[str, int] = {}
        for each in self.result:
            for requirement, count in each.evidence.items():
                found[requirement] = found.get(requirement, 0) + count
        return found

    def told(self) -> str:
        """All breaches as text, for a failing assertion."""
        return "\n".join(
            f"{b.requirement}: {b.detail} [{b.where}]" for each in self.result for b in each.violations
        )


class Table:
    """A table at which adapters sit."""

    def __init__(self, adapter: Any, folder: Path, *more: Any) -> None:
        engine_sessions = []
        for at, each in enumerate((adapter, *more)):
            host: Any = InProcess(each)  # it has all that a seat asks of a host
            name = f"{each.identity}-{at}" if at else f"{each.identity}"
            engine_sessions.append(EngineSession(name, host, Capabilities.validated(each.capabilities), 60.0))
        self._desk = TableSession(folder, engine_sessions, seed=1, tag="test")
        self.lost = list(self._desk.open_all())

    @property
    def plays(self) -> bool:
        """Whether the history still goes on here."""
        return self._desk.plays

    def play(self, step: Step) -> list[StepResult]:
        """One step, and the verdict on it."""
        return self._desk.execute(step)


def play(
    adapter: Any, folder: Path, steps: Sequence[Operation | tuple[Operation, str]], *more: Any
) -> Played:
    """Play operations; further adapters sit at the same table, and a step may name its slot."""
    table = Table(adapter, folder, *more)
    played = Played(list(table.lost))
    for step in steps:
        operation, slot = step if isinstance(step, tuple) else (step, None)
        if table.plays:
            played.result += table.play(Step(operation, slot))
    return played
