"""`report.html`: one file, without network, that a person likes to look at."""

from __future__ import annotations

from pathlib import Path

from conformance.report.html.page import page
from conformance.report.results import Results
from conformance.report.writing import write_whole


def write(results: Results, path: Path) -> None:
    """The report as a file; its links are relative to where it stands."""
    write_whole(path, page(results, path.absolute().parent))


__all__ = ["page", "write"]
