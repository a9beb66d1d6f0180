"""A plain table in a section of the page."""

from __future__ import annotations

from collections.abc import Sequence

from conformance.reporting.html.markup import Markup, element


def plain_table(
    anchor: str, title: str, hint: str, head: Sequence[str], rows: Sequence[Sequence[str]]
) -> Markup | None:
    """The section; None if the table has no rows."""
    if not rows:
        return None
    top = element("tr", [element("th", column, scope="col") for column in head])
    body = [element("tr", [element("td", cell) for cell in row]) for row in rows]
    table = element("table", element("thead", top), element("tbody", body), class_="plain")
    return element(
        "section",
        element("h2", title),
        element("p", hint, class_="hint"),
        element("div", table, class_="scroll"),
        id=anchor,
    )
