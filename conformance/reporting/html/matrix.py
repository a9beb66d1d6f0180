"""The matrix: a row a requirement, a column an engine, in each cell the verdict with its weight."""

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


# From so many engines on the table is wider than a narrow, or than any, window.
SEVERAL, MANY = 2, 5


def matrix(results: Results) -> Markup:
    """The table with everything that a script needs to open a cell."""
    engines = tested_engines(results)
    found = areas(results)
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
        [_area(each, len(engines)) for each in found],
        id="matrix",
        class_="many" if len(engines) > MANY else "several" if len(engines) > SEVERAL else None,
    )
    data = {"engines": engines, "cells": _details(found)}
    return join([element("div", table, class_="scroll", tabindex="0"), data_block("cells", data)])


def verdict_badge(verdict: Verdict) -> Markup:
    """A verdict as symbol and words."""
    return element(
        "span", element("i", SYMBOLS[verdict], aria_hidden="true"), WORDS[verdict], class_=f"badge {verdict}"
    )


def data_block(name: str, data: Any) -> Markup:
    """Data for the script. JSON may hold no `<` here, so that no text can end the block."""
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
    asked = sum(line.asked for line in area.lines)
    head = element(
        "tr",
        element(
            "th",
            element(
                "button",
                element("span", area.name, class_="name"),
                element("span", area.title, class_="title"),
                element("span", f"{asked} of {len(area.lines)} asked", class_="count"),
                type="button", aria_expanded="true",
            ),
            colspan=columns + 1, scope="rowgroup",
        ),
        class_="area",
    )  # fmt: skip
    return element("tbody", head, [_line(line) for line in area.lines], data_area=area.name)


def _line(line: MatrixRow) -> Markup:
    verdicts = " ".join(sorted({square.verdict for square in line.squares if square})) or "unasked"
    return element(
        "tr",
        element(
            "th",
            element("code", line.id),
            element("span", line.strength, class_=f"class {line.strength}"),
            element("p", line.sentence),
            scope="row", class_="rule",
        ),
        [element("td", _square(line, number, square)) for number, square in enumerate(line.squares)],
        class_="line",
        data_id=line.id,
        data_verdicts=verdicts,
        data_class=line.strength,
        data_core=any(square.core for square in line.squares if square),
        data_words=f"{line.id} {line.sentence} {line.section}".lower(),
    )  # fmt: skip


def _square(line: MatrixRow, number: int, square: MatrixCell | None) -> Markup:
    if square is None:
        why = "not observable" if line.unobservable else "not asked"
        return element("span", why, class_="unasked", title=line.unobservable)
    weight, amount = square.weight, _amount(square)
    said = f"{plural(weight.checks, 'check')} in {plural(weight.histories, 'history', 'histories')}"
    return element(
        "button",
        element("i", SYMBOLS[square.verdict], aria_hidden="true"),
        element("b", WORDS[square.verdict]),
        element("span", amount, class_="weight", title=said) if weight.checks else None,
        element("span", "core", class_="core") if square.core else None,
        type="button",
        class_=f"square {square.verdict}",
        aria_expanded="false",
        aria_label=f"{line.id}: {WORDS[square.verdict]}, {said}" + (", core" if square.core else ""),
        data_cell=f"{line.id} {number}",
    )


def _amount(square: MatrixCell) -> str:
    """The weight in a few characters; where it is too little, what of it."""
    if square.verdict != "not-enough-evidence":
        return f"{square.weight.checks:,} in {square.weight.histories:,}"
    nearest = max(square.claims, key=lambda each: each.weight.checks)
    weight, floor = nearest.counted, nearest.floor
    if weight.checks < floor.checks:
        return f"{weight.checks:,} of {floor.checks:,} in {weight.histories:,}"
    return f"{weight.checks:,} in {weight.histories:,} of {floor.histories:,}"


def _details(found: tuple[RequirementArea, ...]) -> dict[str, list[dict[str, Any]]]:
    return {
        f"{line.id} {number}": [_claim(claim) for claim in square.claims]
        for area in found
        for line in area.lines
        for number, square in enumerate(line.squares)
        if square is not None
    }


def _claim(claim: Claim) -> dict[str, Any]:
    cell, weight = claim.cell, claim.weight
    form: dict[str, Any] = {
        "v": claim.verdict,
        "role": cell.role,
        "with": list(cell.with_engines),
        "features": list(cell.features),
        "processes": cell.processes,
        "storage": cell.storage,
        "w": [weight.checks, weight.histories, weight.operations, weight.crash_points, weight.schedules],
        "floor": [claim.floor.checks, claim.floor.histories],
    }
    if claim.core:
        form["core"] = True
    if claim.findings:
        form["findings"] = list(claim.findings)
    if claim.why:
        form["why"] = claim.why
    return form
