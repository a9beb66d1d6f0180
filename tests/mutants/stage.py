"""Play operations on adapters inside this process: with the real table session and checks, but without hosts."""

from __future__ import annotations

from collections import Counter
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

# The requirement that deltalake violates in each of its commits, and the known deviation that says so.
ALWAYS, ALWAYS_KNOWN = {"checksum.each-commit"}, {"delta-rs-no-checksums"}


class InProcess:
    """A host client whose adapter answers at once, in this process."""

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
            reply = ReadReply(answer.table, None, answer.version, 0.0)
        else:
            reply = ReadReply(None, answer, None, 0.0)
        return Pending(lambda: reply)


@dataclass(slots=True)
class Played:
    """The results of all steps, in order."""

    result: list[StepResult] = field(default_factory=list)

    @property
    def broken(self) -> set[str]:
        """The requirements that were violated."""
        return {violation.requirement for result in self.result for violation in result.violations}

    @property
    def faults(self) -> list[str]:
        """The faults of the harness itself."""
        return [fault for result in self.result for fault in result.faults]

    @property
    def evidence(self) -> dict[str, int]:
        """How often each requirement was judged."""
        evidence: Counter[str] = Counter()
        for result in self.result:
            evidence.update(result.evidence)
        return dict(evidence)

    def describe(self) -> str:
        """Return all violations as text, for a failing assertion."""
        return "\n".join(
            f"{violation.requirement}: {violation.detail} [{violation.where}]"
            for result in self.result
            for violation in result.violations
        )


class Table:
    """A table and the adapters that use it."""

    def __init__(
        self, adapter: Any, folder: Path, *more: Any, extra_reads: bool = True, reads: bool = True
    ) -> None:
        engine_sessions = []
        for index, engine in enumerate((adapter, *more)):
            host: Any = InProcess(engine)  # it has all that an engine session needs
            name = f"{engine.identity}-{index}" if index else f"{engine.identity}"
            engine_sessions.append(
                EngineSession(name, host, Capabilities.validated(engine.capabilities), 60.0)
            )
        self.session = TableSession(
            folder, engine_sessions, seed=1, tag="test", extra_reads=extra_reads, reads=reads
        )
        self.lost = self.session.open_all()

    @property
    def plays(self) -> bool:
        """Whether the history continues at this table."""
        return self.session.plays

    def play(self, step: Step) -> list[StepResult]:
        """Execute one step and return its results."""
        return self.session.execute(step)


def play(
    adapter: Any,
    folder: Path,
    steps: Sequence[Operation | tuple[Operation, str]],
    *more: Any,
    extra_reads: bool = True,
    reads: bool = True,
) -> Played:
    """Play operations. Further adapters use the same table, and a step may name the adapter by its slot."""
    table = Table(adapter, folder, *more, extra_reads=extra_reads, reads=reads)
    played = Played(list(table.lost))
    for step in steps:
        operation, slot = step if isinstance(step, tuple) else (step, None)
        if table.plays:
            played.result += table.play(Step(operation, slot))
    return played
