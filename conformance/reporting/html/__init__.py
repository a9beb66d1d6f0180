"""`report.html`: the report for people, one file that needs no network."""

from __future__ import annotations

from pathlib import Path

from conformance.reporting.atomic_write import write_whole
from conformance.reporting.html.page import page
from conformance.reporting.results import Results


def write(results: Results, path: Path) -> None:
    """Write the report to a file. Its links are relative to the file."""
    write_whole(path, page(results, path.absolute().parent))


__all__ = ["page", "write"]
