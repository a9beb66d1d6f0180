"""The formats of the report: the name, the file in the run's folder and the writer of each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from conformance.reporting import html, junit, markdown, summary_json
from conformance.reporting.results import Results


@dataclass(frozen=True, slots=True)
class Format:
    """One format of the report."""

    file: str
    write: Callable[[Results, Path], None]


FORMATS = {
    "html": Format("report.html", html.write),
    "markdown": Format("report.md", markdown.write),
    "junit": Format("junit.xml", junit.write),
    "summary": Format(summary_json.NAME, summary_json.write),
}


def write_all(results: Results, folder: Path) -> None:
    """Write all reports into a run's folder, the summary first because other programs wait for it."""
    for name in ("summary", "html", "markdown", "junit"):
        FORMATS[name].write(results, folder / FORMATS[name].file)
