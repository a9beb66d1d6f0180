"""Progress on a terminal: a line for each event, and below them a panel that shows how far the run is."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from typing import TextIO

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from conformance.events.serialization import name_of
from conformance.events.types import Event, FindingFound, FindingTriaged
from conformance.reporting.terminal.plain import event_lines
from conformance.reporting.terminal.progress import Progress
from conformance.reporting.text import plural, seconds

SPINNER = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"


class PrettyTerminal:
    """A listener that draws. Until `close`, rich controls the cursor; `close` may be called twice."""

    def __init__(
        self, out: TextIO, *, clock: Callable[[], float] = time.monotonic, console: Console | None = None
    ) -> None:
        self._console = console or Console(file=out, highlight=False)
        self._progress = Progress(clock)
        self._shown: set[tuple[str, str, str]] = set()
        self._live = Live(
            get_renderable=self.picture, console=self._console, refresh_per_second=4, transient=True,
            redirect_stdout=False, redirect_stderr=False,
        )  # fmt: skip
        self._live.start()

    def __call__(self, event: Event) -> None:
        """Show the event."""
        self._progress(event)
        for line in event_lines(event, self._shown):
            self._console.print(_styled(event, line), soft_wrap=True)

    def close(self) -> None:
        """Leave the terminal as it was, with the lines and without the panel."""
        with contextlib.suppress(BrokenPipeError):
            self._live.stop()

    def picture(self) -> RenderableType:
        """The panel at this moment."""
        progress = self._progress
        frame = SPINNER[int(progress.elapsed * 8) % len(SPINNER)]
        grid = Table.grid(padding=(0, 2))
        grid.add_column(style="dim", min_width=9)
        grid.add_column()
        grid.add_row(f"{frame} steps", _steps(progress))
        grid.add_row("  time", _time(progress))
        grid.add_row("  findings", _findings(progress))
        if progress.doing:
            grid.add_row("  triage", Text(progress.doing, style="dim"))
        for engine, state in progress.engines.items():
            done = plural(progress.operations[engine], "operation") if state == "ready" else state
            grid.add_row(f"  {engine}", Text(done, style="" if state == "ready" else "yellow"))
        return Group(Text(), grid)


def _steps(progress: Progress) -> RenderableType:
    row = Table.grid(padding=(0, 2))
    if not progress.planned:
        row.add_row("the engines are starting" if not progress.steps else f"{progress.steps:,}")
        return row
    share = min(progress.steps / progress.planned, 1.0)
    row.add_row(
        ProgressBar(total=1.0, completed=share, width=32),
        f"{progress.steps:,} of {progress.planned:,}",
        Text(progress.suite, style="dim"),
    )
    return row


def _time(progress: Progress) -> str:
    if progress.left is None:
        return seconds(progress.elapsed)
    return f"{seconds(progress.elapsed)}, about {seconds(progress.left)} left"


def _findings(progress: Progress) -> Text:
    known = f" and {progress.known} known" if progress.known else ""
    text = Text(f"{progress.fresh or 'none'}", style="bold red" if progress.fresh else "green")
    text.append(known, style="yellow")
    return text.append(f", {progress.waiting} to explain" if progress.waiting else "", style="dim")


def _styled(event: Event, line: str) -> Text:
    styles = {
        "EngineReady": "green",
        "EngineUnavailable": "yellow",
        "EngineLost": "yellow",
        "HarnessFault": "bold red",
    }
    style = styles.get(name_of(event), "")
    if isinstance(event, FindingFound):
        style = "red" if event.fresh else "yellow"
    if isinstance(event, FindingTriaged):
        style = "yellow" if event.state == "known" else "red"
    return Text(line, style=style)
