"""The matrix of the page: a row for each requirement, a column for each engine, a verdict with its evidence."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from conformance.reporting.claims import Claim, Verdict
from conformance.reporting.html.markup import Markup, element, join
from conformance.reporting.results import Results
from conformance.reporting.text import plural
from conformance.reporting.view_models import MatrixCell, MatrixRow, RequirementArea, areas, tested_engines
from delta_adapters.engine_id import EngineId

SYMBOLS: dict[Verdict, str] = {
    "holds": "✓",
    "violated": "✕",
    "differs": "≠",
    "known-deviation": "◆",
    "not-guaranteed": "◇",
    "unsupported": "∅",
    "not-enough-evidence": "○",
}

WORDS: dict[Verdict, str] = {
    "holds": "holds",
    "violated": "violated",
    "differs": "differs",
    "known-deviation": "known deviation",
    "not-guaranteed": "not guaranteed",
    "unsupported": "unsupported",
    "not-enough-evidence": "too little",
}


# With more engines the table is wider than a narrow window, or than any window.
SEVERAL, MANY = 2, 5


def matrix(results: Results) -> Markup:
    """The table, and the data that the script of the page needs to open a cell."""
    engines = tested_engines(results)
    shown_areas = areas(results)
    table = element(
        "table",
        element("caption", "Requirements and engines. A cell opens its claims.", class_="unseen"),
        element(
            "thead",
            element(
                "tr",
                element("th", "Requirement", scope="col", class_="rule"),
                [element("th", *_engine_name(engine), scope="col") for engine in engines],
            ),
        ),
        [_area(area, len(engines)) for area in shown_areas],
        id="matrix",
        class_="many" if len(engines) > MANY else "several" if len(engines) > SEVERAL else None,
    )
    data = {"engines": engines, "cells": _details(shown_areas)}
    return join([element("div", table, class_="scroll", tabindex="0"), data_block("cells", data)])


def verdict_badge(verdict: Verdict) -> Markup:
    """A verdict as a symbol and words."""
    return element(
        "span", element("i", SYMBOLS[verdict], aria_hidden="true"), WORDS[verdict], class_=f"badge {verdict}"
    )


def data_block(name: str, data: Any) -> Markup:
    """Data for the script of the page. It holds no `<`, so that no text can end the block."""
    text = (
        json.dumps(data, ensure_ascii=True, separators=(",", ":"))
        .replace("<", "\\u003c")
        .replace("&", "\\u0026")
    )
    return element("script", Markup(text), type="application/json", id=f"data-{name}")


def _engine_name(label: str) -> Iterator[Markup | str]:
    engine = EngineId.parse(label)
    yield engine.name
    yield element("small", engine.version or "")


def _area(area: RequirementArea, columns: int) -> Markup:
    checked = sum(row.checked for row in area.rows)
    head = element(
        "tr",
        element(
            "th",
            element(
                "button",
                element("span", area.name, class_="name"),
                element("span", area.title, class_="title"),
                element("span", f"{checked} of {len(area.rows)} asked", class_="count"),
                type="button", aria_expanded="true",
            ),
            colspan=columns + 1, scope="rowgroup",
        ),
        class_="area",
    )  # fmt: skip
    return element("tbody", head, [_row(row) for row in area.rows], data_area=area.name)


def _row(row: MatrixRow) -> Markup:
    verdicts = " ".join(sorted({cell.verdict for cell in row.cells if cell})) or "unasked"
    return element(
        "tr",
        element(
            "th",
            element("code", row.id),
            element("span", row.strength, class_=f"class {row.strength}"),
            element("p", row.sentence),
            scope="row", class_="rule",
        ),
        [element("td", _cell_button(row, number, cell)) for number, cell in enumerate(row.cells)],
        class_="line",
        data_id=row.id,
        data_verdicts=verdicts,
        data_class=row.strength,
        data_core=any(cell.core for cell in row.cells if cell),
        data_words=f"{row.id} {row.sentence} {row.section}".lower(),
    )  # fmt: skip


def _cell_button(row: MatrixRow, number: int, cell: MatrixCell | None) -> Markup:
    if cell is None:
        why = "not observable" if row.unobservable else "not asked"
        return element("span", why, class_="unasked", title=row.unobservable)
    evidence, amount = cell.evidence, _amount(cell)
    said = f"{plural(evidence.checks, 'check')} in {plural(evidence.histories, 'history', 'histories')}"
    return element(
        "button",
        element("i", SYMBOLS[cell.verdict], aria_hidden="true"),
        element("b", WORDS[cell.verdict]),
        element("span", amount, class_="weight", title=said) if evidence.checks else None,
        element("span", "core", class_="core") if cell.core else None,
        type="button",
        class_=f"square {cell.verdict}",
        aria_expanded="false",
        aria_label=f"{row.id}: {WORDS[cell.verdict]}, {said}" + (", core" if cell.core else ""),
        data_cell=f"{row.id} {number}",
    )


def _amount(cell: MatrixCell) -> str:
    """The evidence in a few characters; if it is too little, with what is missing."""
    if cell.verdict != "not-enough-evidence":
        return f"{cell.evidence.checks:,} in {cell.evidence.histories:,}"
    nearest = max(cell.claims, key=lambda claim: claim.evidence.checks)
    evidence, threshold = nearest.counted, nearest.threshold
    if evidence.checks < threshold.checks:
        return f"{evidence.checks:,} of {threshold.checks:,} in {evidence.histories:,}"
    return f"{evidence.checks:,} in {evidence.histories:,} of {threshold.histories:,}"


def _details(shown_areas: tuple[RequirementArea, ...]) -> dict[str, list[dict[str, Any]]]:
    return {
        f"{row.id} {number}": [_claim(claim) for claim in cell.claims]
        for area in shown_areas
        for row in area.rows
        for number, cell in enumerate(row.cells)
        if cell is not None
    }


def _claim(claim: Claim) -> dict[str, Any]:
    setting, evidence = claim.setting, claim.evidence
    form: dict[str, Any] = {
        "v": claim.verdict,
        "role": setting.role,
        "with": list(setting.with_engines),
        "features": list(setting.features),
        "processes": setting.processes,
        "storage": setting.storage,
        "w": [
            evidence.checks,
            evidence.histories,
            evidence.operations,
            evidence.crash_points,
            evidence.schedules,
        ],
        "floor": [claim.threshold.checks, claim.threshold.histories],
    }
    if claim.core:
        form["core"] = True
    if claim.findings:
        form["findings"] = list(claim.findings)
    if claim.why:
        form["why"] = claim.why
    return form
