"""The conflict matrix and the fault summary as sections of the page."""

from __future__ import annotations

from conformance.reporting import fault_summary
from conformance.reporting.conflict_matrix import CELLS, HEAD, conflict_rows
from conformance.reporting.html.markup import Markup
from conformance.reporting.html.tables import plain_table
from conformance.reporting.results import Results


def conflict_section(results: Results) -> Markup | None:
    """The section of the conflict matrix; None if the run had no races."""
    rows = [row.cells for row in conflict_rows(results.raced)]
    return plain_table("conflicts", "Writers at once", CELLS, HEAD, rows)


def fault_section(results: Results) -> Markup | None:
    """The section of the fault summary; None if the run injected no faults."""
    rows = [row.cells for row in fault_summary.fault_rows(results.struck)]
    return plain_table("faults", fault_summary.TITLE, fault_summary.CELLS, fault_summary.HEAD, rows)
