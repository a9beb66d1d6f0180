"""The matrix of conflicts as a table of the page."""

from __future__ import annotations

from conformance.report.conflicts import CELLS, HEAD, conflicts
from conformance.report.html.markup import Markup, element
from conformance.report.results import Results


def conflict_matrix(results: Results) -> Markup | None:
    """The section; none where nobody raced."""
    lines = conflicts(results.raced)
    if not lines:
        return None
    head = element("tr", [element("th", each, scope="col") for each in HEAD])
    rows = [element("tr", [element("td", cell) for cell in each.cells]) for each in lines]
    table = element("table", element("thead", head), element("tbody", rows), class_="plain")
    return element(
        "section",
        element("h2", "Writers at once"),
        element("p", CELLS, class_="hint"),
        element("div", table, class_="scroll"),
        id="conflicts",
    )
