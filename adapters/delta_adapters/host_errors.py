"""The ways in which a host fails. Each exception says what happened, at which operation, and what to do."""

from __future__ import annotations

import signal
from collections.abc import Mapping


class HostError(Exception):
    """A host failed. Carries its last operation and the end of its stderr."""

    def __init__(self, engine: str, what: str, cure: str, last_operation: str, stderr_tail: str) -> None:
        self.engine = engine
        self.what = what
        self.last_operation = last_operation
        self.stderr_tail = stderr_tail
        during = f" while it was asked to {last_operation}" if last_operation else ""
        tail = (
            f"\nThe end of its stderr:\n{stderr_tail.rstrip()}"
            if stderr_tail.strip()
            else "\nIts stderr is empty."
        )
        super().__init__(f"The host of {engine} {what}{during}. {cure}{tail}")


class HostDied(HostError):
    """The host ended by itself. `exit` is its exit code, negative for a signal, None if unknown."""

    def __init__(self, engine: str, exit_code: int | None, last_operation: str, stderr_tail: str) -> None:
        self.exit = exit_code
        cure = "A crash of an engine is a finding; `python -m delta_adapters.smoke` tells whether it ever works here."
        super().__init__(engine, f"died ({_exit_in_words(exit_code)})", cure, last_operation, stderr_tail)


class HostHung(HostError):
    """The host did not answer in time. It has been killed."""

    def __init__(self, engine: str, timeout: float, last_operation: str, stderr_tail: str) -> None:
        self.timeout = timeout
        cure = "It has been killed. A hang of an engine is a finding; on a very slow machine raise the time limit."
        super().__init__(engine, f"did not answer within {timeout:g} s", cure, last_operation, stderr_tail)


class HostGarbage(HostError):
    """The host sent something that is no answer. It has been killed."""

    def __init__(self, engine: str, detail: str, last_operation: str, stderr_tail: str) -> None:
        cure = (
            "It has been killed. What carries its replies must carry nothing else: the inherited descriptors of an"
            " adapter, the standard output of a program."
        )
        super().__init__(engine, f"sent garbage ({detail})", cure, last_operation, stderr_tail)


class AdapterBug(HostError):
    """The adapter raised, or answered something that the contract does not allow. The host stays alive."""

    def __init__(self, engine: str, bug: Mapping[str, str], last_operation: str, stderr_tail: str) -> None:
        self.type = str(bug.get("type"))
        self.message = str(bug.get("message"))
        self.traceback = str(bug.get("traceback"))
        what = f"reports a bug of its adapter, {self.type}: {self.message},"
        cure = f"Mend the adapter; this says nothing of the engine.\n{self.traceback.rstrip()}"
        super().__init__(engine, what, cure, last_operation, stderr_tail)


def _exit_in_words(exit_code: int | None) -> str:
    if exit_code is None:
        return "killed"
    if exit_code < 0:
        try:
            return f"by {signal.Signals(-exit_code).name}"
        except ValueError:
            return f"by signal {-exit_code}"
    return f"exit code {exit_code}"
