"""Progress for the log of a GitHub job: the plain lines in a folded group, which GitHub shows and does not obey."""

from __future__ import annotations

from typing import TextIO

from conformance.events.types import Event
from conformance.reporting.github.commands import listen_again, silence
from conformance.reporting.terminal.plain import PlainTerminal

INTERVAL = 30.0  # seconds between two lines about how far the run is


class GithubTerminal:
    """A listener that writes a folded group of plain lines."""

    def __init__(self, out: TextIO) -> None:
        self._out = out
        out.write("::group::conformance run\n")
        self._token = silence(out)
        self._plain = PlainTerminal(out, interval=INTERVAL)

    def __call__(self, event: Event) -> None:
        """Write the lines of the event, if it has any."""
        self._plain(event)

    def close(self) -> None:
        """Close the group."""
        self._plain.close()
        listen_again(self._out, self._token)
        self._out.write("::endgroup::\n")
        self._out.flush()
