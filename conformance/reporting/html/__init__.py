"""`report.html`: one file, without network, that a person likes to look at."""

from __future__ import annotations

from pathlib import Path

from conformance.reporting.atomic_write import write_whole
from conformance.reporting.html.page import page
from conformance.reporting.results import Results


def write(results: Results, path: Path) -> None:
    """The report as a file; its links are relative to where it stands."""
    write_whole(path, page(results, path.absolute().parent))


__all__ = ["page", "write"]
