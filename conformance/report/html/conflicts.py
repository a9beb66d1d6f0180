"""What faults did to tables, and the matrix of conflicts, as tables of the page."""

from __future__ import annotations

from conformance.report import strikes
from conformance.report.conflicts import CELLS, HEAD, conflicts
from conformance.report.html.markup import Markup
from conformance.report.html.plain import plain_table
from conformance.report.results import Results


def conflict_matrix(results: Results) -> Markup | None:
    """The section; none where nobody raced."""
    rows = [each.cells for each in conflicts(results.raced)]
    return plain_table("conflicts", "Writers at once", CELLS, HEAD, rows)


def what_faults_left(results: Results) -> Markup | None:
    """The section; none where nothing was struck."""
    rows = [each.cells for each in strikes.strikes(results.struck)]
    return plain_table("faults", strikes.TITLE, strikes.CELLS, strikes.HEAD, rows)
