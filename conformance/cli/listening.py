"""Which listener shows a run: by the option `--format`, or by whether someone is looking."""

from __future__ import annotations

from typing import Protocol, TextIO

from conformance.events import Event
from conformance.report.terminal.json_lines import JsonLines
from conformance.report.terminal.plain import PlainTerminal

FORMATS = ("pretty", "plain", "json")


class Shown(Protocol):
    """A listener that holds the terminal until it is closed."""

    def __call__(self, event: Event) -> None:
        """Show the event."""

    def close(self) -> None:
        """Leave the terminal as it was."""


def listen(form: str | None, out: TextIO) -> Shown:
    """The listener for a form; None means what suits `out`."""
    if form == "json":
        return JsonLines(out)
    if form == "plain" or (form is None and not out.isatty()):
        return PlainTerminal(out)
    from conformance.report.terminal.pretty import PrettyTerminal  # noqa: PLC0415 - rich, where it is used

    return PrettyTerminal(out)
