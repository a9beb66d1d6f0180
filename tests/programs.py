"""Programs that are engines: they speak the host protocol on their standard streams, or do not.

`python tests/programs.py KIND` is one. `command` returns the words for `--engine`.
"""

from __future__ import annotations

import os
import shlex
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

from delta_adapters.contract import Answer
from delta_adapters.host_server import HostServer
from delta_adapters.wire import Channel, Frame
from delta_models.codec import encode
from delta_models.operations import Operation
from delta_models.outcomes import Outcome, Unsupported
from delta_models.schema import LONG, struct
from delta_models.values import Rows
from tests.adapters.small_adapters import OnlyAppends

ROOT = Path(__file__).parents[1]


def command(kind: str, name: str = "small") -> str:
    """The text for `--engine` that starts a program of this kind."""
    return f"{name}={shlex.join([sys.executable, '-m', 'tests.programs', kind])}"


class Honest(OnlyAppends):
    """Creates, appends and reads."""


class LiesAboutClaims(OnlyAppends):
    """Claims to overwrite, and does not."""

    CLAIMED: ClassVar[Mapping[str, Any]] = {
        **OnlyAppends.CLAIMED,
        "operations": {**OnlyAppends.CLAIMED["operations"], "Overwrite": {}},
    }

    def execute(self, operation: Operation, tag: str) -> Outcome:
        if type(operation).__name__ == "Overwrite":
            return Unsupported("there is no such thing here")
        return super().execute(operation, tag)


class Counting(Channel):
    """A channel that counts the requests, to misbehave at some of them."""

    requests = 0

    def receive(self, deadline: float | None = None) -> Frame:
        frame = super().receive(deadline)
        self.requests += 1
        return frame


class DiesAtEveryThirdCall(Counting):
    """Ends the process at the third request at a table."""

    def receive(self, deadline: float | None = None) -> Frame:
        frame = super().receive(deadline)
        header = frame.header
        if header["call"] in {"hello", "open"} or header.get("tag") == "smoke":
            self.requests = 0  # it is honest in its smoke test, and begins to count anew at each table
        if self.requests == 3:
            os._exit(9)
        return frame


class AnswersAnotherRequest(Counting):
    """Answers the fourth request with the number of the one before it."""

    def send(self, header: dict[str, Any], parts: Any = (), deadline: float | None = None) -> None:
        if self.requests == 4:
            header = {**header, "id": header["id"] - 1}
        super().send(header, parts, deadline)


class HangsInSmoke(Counting):
    """Never answers the first operation."""

    def receive(self, deadline: float | None = None) -> Frame:
        frame = super().receive(deadline)
        if frame.header.get("call") == "execute":
            threading.Event().wait()
        return frame


class RowsAsJson(Channel):
    """Answers reads with rows as JSON, in place of Arrow."""

    rows: ClassVar[Any] = None

    def send(self, header: dict[str, Any], parts: Any = (), deadline: float | None = None) -> None:
        if parts:
            header = {key: part for key, part in header.items() if key != "parts"} | {"rows": self.rows}
            parts = ()
        super().send(header, parts, deadline)


class AnswersJson(OnlyAppends):
    """Hands the rows that it reads to its channel, as JSON."""

    def read(self, read: Any) -> Answer | Outcome:
        answer = super().read(read)
        if isinstance(answer, Answer):
            schema = struct(*((name, LONG) for name in answer.table.column_names))  # it claims longs alone
            columns = [column.to_pylist() for column in answer.table.columns]
            RowsAsJson.rows = encode(Rows(schema, tuple(zip(*columns, strict=True))))
        return answer


KINDS: dict[str, tuple[type[Channel], str]] = {
    "honest": (Channel, "Honest"),
    "json": (RowsAsJson, "AnswersJson"),
    "lies": (Channel, "LiesAboutClaims"),
    "dies": (DiesAtEveryThirdCall, "Honest"),
    "answers-another": (AnswersAnotherRequest, "Honest"),
    "hangs": (HangsInSmoke, "Honest"),
}


def main(kind: str) -> None:
    """Be a host of this kind until the end."""
    channel, adapter = KINDS[kind]
    HostServer(channel(0, 1), f"tests.programs:{adapter}", Path(os.environ["CONFORMANCE_WORK"])).run()


if __name__ == "__main__":
    from tests import programs  # noqa: PLW0406 - the adapters find its classes

    programs.main(sys.argv[1])
