"""What faults did to tables, and the matrix of conflicts, as tables of the page."""

from __future__ import annotations

from conformance.reporting import fault_summary
from conformance.reporting.conflict_matrix import CELLS, HEAD, conflicts
from conformance.reporting.html.markup import Markup
from conformance.reporting.html.tables import plain_table
from conformance.reporting.results import Results


def conflict_matrix(results: Results) -> Markup | None:
    """The section; none where nobody raced."""
    rows = [conflict.cells for conflict in conflicts(results.raced)]
    return plain_table("conflicts", "Writers at once", CELLS, HEAD, rows)


def what_faults_left(results: Results) -> Markup | None:
    """The section; none where nothing was struck."""
    rows = [strike.cells for strike in fault_summary.strikes(results.struck)]
    return plain_table("faults", fault_summary.TITLE, fault_summary.CELLS, fault_summary.HEAD, rows)
