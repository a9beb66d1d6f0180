"""Choose the listener that shows a run, by the option `--format` or by whether the output is a terminal."""

from __future__ import annotations

from typing import Protocol, TextIO

from conformance.events.types import Event
from conformance.reporting.github.terminal import GithubTerminal
from conformance.reporting.terminal.json_lines import JsonLines
from conformance.reporting.terminal.plain import PlainTerminal

FORMATS = ("pretty", "plain", "json", "github")


class TerminalOutput(Protocol):
    """A listener that owns the terminal until it is closed."""

    def __call__(self, event: Event) -> None:
        """Show the event."""

    def close(self) -> None:
        """Leave the terminal as it was."""


def listen(form: str | None, out: TextIO) -> TerminalOutput:
    """The listener for a format. None means the one that suits `out`."""
    if form == "json":
        return JsonLines(out)
    if form == "github":
        return GithubTerminal(out)
    if form == "plain" or (form is None and not out.isatty()):
        return PlainTerminal(out)
    from conformance.reporting.terminal.pretty import PrettyTerminal  # noqa: PLC0415 - rich, where it is used

    return PrettyTerminal(out)
