"""The reports that there are: under which name, in which file of a run's folder, and by whom each is written."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from conformance.reporting import html, junit, markdown, summary_json
from conformance.reporting.results import Results


@dataclass(frozen=True, slots=True)
class Format:
    """One form of the results."""

    file: str
    write: Callable[[Results, Path], None]


FORMATS = {
    "html": Format("report.html", html.write),
    "markdown": Format("report.md", markdown.write),
    "junit": Format("junit.xml", junit.write),
    "summary": Format(summary_json.NAME, summary_json.write),
}


def write_all(results: Results, folder: Path) -> None:
    """Every report of a run, into its folder; the summary first, for it is what other programs wait for."""
    for name in ("summary", "html", "markdown", "junit"):
        FORMATS[name].write(results, folder / FORMATS[name].file)
