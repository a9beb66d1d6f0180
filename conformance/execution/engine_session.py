"""One engine at one table: it submits calls to the engine's host, and collects the answers.

A host that dies, hangs or speaks nonsense is no exception here: the answer is then a `HostFailure`. An engine that dies
is a finding, and the history goes on for the other engines.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Generic, TypeVar

from delta_adapters.capabilities import Capabilities
from delta_adapters.contract import Query
from delta_adapters.host_client import HostClient, Pending, ReadReply, Reply
from delta_adapters.host_errors import AdapterBug, HostDied, HostError, HostGarbage, HostHung
from delta_models.log import Snapshot
from delta_models.operations import Operation
from delta_models.requirements import Violation

LIVES = "host.lives"
ANSWERS = "host.answers"
SPEAKS = "host.speaks"

AnyReply = TypeVar("AnyReply", bound=Reply | ReadReply)


@dataclass(frozen=True, slots=True)
class HostFailure:
    """Why an engine's host gave no answer: it died, hung, or spoke nonsense."""

    requirement: str
    error: HostError

    @property
    def violation(self) -> Violation:
        """The violation of the requirement on hosts."""
        return Violation(self.requirement, str(self.error), self.error.last_operation)


@dataclass(slots=True)
class EngineSession:
    """One engine at one table, for one history.

    `left` says why the engine takes no more part. An engine that `runs_on_jvm` takes long over a call. `operations` and
    `seconds` count its calls.
    """

    engine: str
    host: HostClient
    capabilities: Capabilities
    timeout: float
    runs_on_jvm: bool = False
    left: str | None = None
    operations: int = 0
    seconds: float = 0.0
    address: Path | None = field(default=None)

    @property
    def plays(self) -> bool:
        """Whether the engine still takes part."""
        return self.left is None

    def reason_against(
        self, operation: Operation, snapshot: Snapshot | None, *, writing: bool = True
    ) -> str | None:
        """Why the engine does not claim an operation on a table in this state; None if it does.

        Another engine may have given the table features that this one does not claim.
        """
        reason = self.capabilities.covers(operation)
        if reason is not None or snapshot is None:
            return reason
        protocol = snapshot.protocol
        features = protocol.writer_features if writing else protocol.reader_features
        return self.capabilities.covers_features(set(features or ()), writing=writing)

    def open(self, address: Path) -> HostFailure | None:
        """Open the table at this path, cold, and wait for it; returns the failure if there is one."""
        return self.submit_open(address).collect()

    def submit_open(self, address: Path) -> PendingOpen:
        """Begin to open the table at this path, cold."""
        self.address = address
        start = time.monotonic()
        try:
            return PendingOpen(self, start, self.host.submit_open(str(address), self.timeout))
        except HostError as error:
            return PendingOpen(self, start, self.lose(error))

    def submit(self, operation: Operation, tag: str) -> PendingAnswer[Reply]:
        """Send an operation to the engine."""
        try:
            return PendingAnswer(self, self.host.submit(operation, tag, self.timeout))
        except HostError as error:
            return PendingAnswer(self, None, self.lose(error))

    def submit_query(self, query: Query) -> PendingAnswer[ReadReply]:
        """Send a read, or another query, to the engine."""
        try:
            return PendingAnswer(self, self.host.submit_read(query, self.timeout))
        except HostError as error:
            return PendingAnswer(self, None, self.lose(error))

    def count(self, seconds: float, calls: int = 0) -> None:
        """Count calls of the engine, and the seconds that it took."""
        self.operations += calls
        self.seconds += seconds

    def leave(self, reason: str) -> None:
        """Take no more part in the history."""
        self.left = reason

    def rejoin(self) -> None:
        """Take part again, after the host has started anew or at another table."""
        self.left = None

    def lose(self, error: HostError) -> HostFailure:
        """Take no more part, because the host failed."""
        self.left = f"its host {error.what}"
        return HostFailure(_requirement(error), error)


class PendingAnswer(Generic[AnyReply]):
    """An answer that an engine still owes."""

    __slots__ = ("_answer", "_pending", "engine_session")

    def __init__(
        self,
        engine_session: EngineSession,
        pending: Pending[AnyReply] | None,
        answer: AnyReply | HostFailure | None = None,
    ) -> None:
        self.engine_session = engine_session
        self._pending = pending
        self._answer = answer

    def collect(self) -> AnyReply | HostFailure:
        """Wait for the answer; a second call returns the same one."""
        if self._pending is not None:
            pending, self._pending = self._pending, None
            self._answer = self._timed(pending)
        assert self._answer is not None  # noqa: S101 - it was given, or has just been collected
        return self._answer

    def _timed(self, pending: Pending[AnyReply]) -> AnyReply | HostFailure:
        engine_session, start = self.engine_session, time.monotonic()
        answer: AnyReply | HostFailure
        try:
            answer = pending.result()
            seconds = answer.seconds
        except HostError as error:
            answer = engine_session.lose(error)
            seconds = time.monotonic() - start
        engine_session.count(seconds, calls=1)
        return answer


@dataclass(frozen=True, slots=True)
class PendingOpen:
    """An engine that opens a table since `start`, or has failed to begin with it."""

    engine_session: EngineSession
    start: float
    pending: Pending[None] | HostFailure

    def collect(self) -> HostFailure | None:
        """Wait until the table is open; returns the failure if there is one."""
        failure: HostFailure | None = None
        if isinstance(self.pending, HostFailure):
            failure = self.pending
        else:
            try:
                self.pending.result()
            except HostError as error:
                failure = self.engine_session.lose(error)
        self.engine_session.count(time.monotonic() - self.start)
        return failure


PendingQuery = PendingAnswer[ReadReply]


def find_performer(
    engine_sessions: Sequence[EngineSession], operation: Operation, snapshot: Snapshot | None
) -> EngineSession | None:
    """The first engine session that takes part and claims an operation; None if there is none."""
    for engine_session in engine_sessions:
        if engine_session.left is None and engine_session.reason_against(operation, snapshot) is None:
            return engine_session
    return None


def submit_query_to_all(
    engine_sessions: Sequence[EngineSession],
    query: Query,
    snapshot: Snapshot | None,
    without: Collection[str] = (),
) -> dict[str, PendingQuery]:
    """Send a query to every engine that takes part and claims it; returns the pending answers by engine."""
    return {
        engine_session.engine: engine_session.submit_query(query)
        for engine_session in engine_sessions
        if engine_session.left is None
        and engine_session.engine not in without
        and engine_session.reason_against(query, snapshot, writing=False) is None
    }


def collect_all(
    pending: dict[str, PendingQuery],
) -> tuple[dict[str, ReadReply], list[tuple[EngineSession, HostFailure]]]:
    """Wait for the answers to a query; returns the replies by engine, and the engines whose hosts failed."""
    replies: dict[str, ReadReply] = {}
    failures: list[tuple[EngineSession, HostFailure]] = []
    for engine, pending_answer in pending.items():
        answer = pending_answer.collect()
        if isinstance(answer, HostFailure):
            failures.append((pending_answer.engine_session, answer))
        else:
            replies[engine] = answer
    return replies, failures


def _requirement(error: HostError) -> str:
    match error:
        case HostDied():
            return LIVES
        case HostHung():
            return ANSWERS
        case HostGarbage() | AdapterBug():
            return SPEAKS
    message = f"a kind of host error without a requirement: {type(error).__name__}"
    raise TypeError(message)
