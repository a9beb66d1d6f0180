"""The page: verdict, engines, suites, matrix, findings, and what else a reader should know."""

from __future__ import annotations

import base64
import hashlib
import shlex
from collections import Counter
from importlib import resources
from pathlib import Path

from conformance.reporting.claims import VERDICTS, Verdict
from conformance.reporting.html.conflicts import conflict_section, fault_section
from conformance.reporting.html.findings import copyable, findings
from conformance.reporting.html.markup import Markup, element, trusted
from conformance.reporting.html.matrix import SYMBOLS, WORDS, matrix, verdict_badge
from conformance.reporting.results import EngineResult, Results
from conformance.reporting.text import harmless, plural, seconds

HEADLINES = {
    0: ("holds", "✓", "All of the core holds"),
    1: ("violated", "✕", "A requirement is violated"),
    2: ("fault", "!", "The harness is at fault"),
    3: ("inconclusive", "?", "Inconclusive"),
    130: ("inconclusive", "■", "Stopped before its end"),
}
EXPLAINED = {
    0: "Every rule that this run's profile calls core was checked often enough, on every engine asked, and held.",
    1: "An engine broke a rule. The findings below show how, each with the history that makes it happen again.",
    2: "Nothing here says anything about an engine until the harness is mended.",
    3: "Nothing was found that is violated, but not enough was tested to say that the core holds.",
    130: "What was found until then is kept, and says nothing about what was not reached.",
}
REASONS = 6
CELLS = "In a cell: the verdict, and how many checks in how many histories stand behind it. Open one to see its claims."


def page(results: Results, base: Path) -> str:
    """The whole document. Links are relative to the folder `base`."""
    style, script = _resource("report.css"), _resource("report.js")
    title = f"{results.outcome.verdict}: Delta conformance, profile {results.runs[0].profile}"
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=_policy(style, script)),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("title", title),
        element("style", trusted(style)),
    )
    body = element(
        "body",
        element("a", "Skip to the matrix", href="#matrix-section", class_="skip"),
        _top(results),
        element(
            "main",
            _banner(results),
            _tiles(results),
            copyable(shlex.join(results.runs[0].command)),
            _section("engines", "Engines", _engines(results)),
            _section("suites", "Suites", _suites(results)),
            _section("findings", f"Findings ({len(results.findings)})", findings(results, base)),
            _section(
                "matrix-section",
                "Requirements and engines",
                _controls(),
                element("p", CELLS, class_="hint"),
                matrix(results),
            ),
            fault_section(results),
            conflict_section(results),
            _notes(results),
            _section("legend", "How to read this", _legend()),
        ),
        element("script", trusted(script)),
    )
    return f"<!doctype html>\n{element('html', head, body, lang='en')}\n"


def _policy(style: str, script: str) -> str:
    """Nothing is loaded, and no script or style runs but ours."""
    return f"default-src 'none'; style-src {_digest(style)}; script-src {_digest(script)}"


def _digest(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _resource(name: str) -> str:
    return (resources.files("conformance.reporting.html") / name).read_text("utf-8")


def _section(name: str, title: str, *content: Markup | None) -> Markup:
    return element("section", element("h2", title), content, id=name)


def _top(results: Results) -> Markup:
    links = {"engines": "Engines", "findings": "Findings", "matrix-section": "Matrix", "legend": "Legend"}
    return element(
        "header",
        element("strong", element("span", "Δ", class_="delta", aria_hidden="true"), "conformance"),
        element(
            "nav",
            [element("a", title, href=f"#{name}") for name, title in links.items()],
            aria_label="Sections",
        ),
        element("span", f"harness {results.runs[0].harness}", class_="dim"),
        element("button", "Light or dark", type="button", id="theme"),
    )


def _banner(results: Results) -> Markup:
    kind, symbol, headline = HEADLINES[results.outcome.exit]
    reasons = [element("li", reason) for reason in results.outcome.reasons[:REASONS]]
    more = len(results.outcome.reasons) - REASONS
    if more > 0:
        reasons.append(element("li", f"and {more} more"))
    return element(
        "section",
        element("div", symbol, class_="symbol", aria_hidden="true"),
        element(
            "div",
            element("h1", headline),
            element("p", EXPLAINED[results.outcome.exit]),
            element("ul", reasons) if reasons else None,
            class_="words",
        ),
        _circumstances(results),
        class_=f"banner {kind}",
    )


def _circumstances(results: Results) -> Markup:
    first = results.runs[0]
    seeds = dict.fromkeys(str(run.seed) for run in results.runs)
    facts = [
        ("exit", str(results.outcome.exit)),
        ("profile", first.profile),
        ("seed", ", ".join(seeds)),
        ("storage", first.storage),
        ("time", seconds(results.seconds)),
        ("started", first.started.replace("T", " ").replace("+00:00", " UTC")),
        ("machine", first.machine),
        ("python", first.python),
    ]
    if len(results.runs) > 1:
        facts.insert(0, ("runs", str(len(results.runs))))
    return element(
        "dl", [(element("dt", name), element("dd", value)) for name, value in facts], class_="facts"
    )


def _tiles(results: Results) -> Markup:
    steps = sum(suite.steps for suite in results.suites)
    histories = sum(suite.histories for suite in results.suites)
    fresh = sum(finding.event.fresh for finding in results.findings)
    checks = sum(claim.evidence.checks for claim in results.claims)
    tiles = [
        (f"{steps:,}", "steps", "commands, each counted once"),
        (f"{histories:,}", "histories", "drawn or written"),
        (f"{checks:,}", "checks", "over all engines"),
        (f"{len(results.claims):,}", "claims", "requirement, engine, setting"),
        (
            f"{fresh:,}",
            "open finding" if fresh == 1 else "open findings",
            f"new, unexplained or unstable; and {len(results.findings) - fresh} known",
        ),
    ]
    return element(
        "div",
        [
            element("div", element("b", value), element("span", name), element("small", note), class_="tile")
            for value, name, note in tiles
        ],
        class_="tiles",
    )


def _engines(results: Results) -> Markup:
    return element("div", [_engine(engine, results) for engine in results.engines], class_="cards")


def _engine(engine: EngineResult, results: Results) -> Markup:
    counts = Counter(claim.verdict for claim in results.claims if claim.setting.engine == engine.label)
    head = element("h3", engine.name, element("small", engine.version or ""))
    if engine.status != "tested":
        return element(
            "article",
            head,
            element("p", element("b", "Not available. "), engine.why or ""),
            element("p", "To mend it: ", element("code", engine.cure)) if engine.cure else None,
            class_="card unavailable",
        )
    facts = [
        ("operations", f"{engine.operations:,}"),
        ("in the engine", seconds(engine.engine_seconds)),
        ("start", seconds(engine.start_seconds)),
    ]
    if engine.compatible_with:
        facts.append(("promises to be like", ", ".join(engine.compatible_with)))
    if engine.lost:
        facts.append(("died or hung", plural(engine.lost, "time")))
    return element(
        "article",
        head,
        _bar(counts),
        element(
            "ul",
            [_count(verdict, counts[verdict]) for verdict in VERDICTS if counts[verdict]],
            class_="counts",
        ),
        element("dl", [(element("dt", name), element("dd", value)) for name, value in facts], class_="facts"),
        class_="card",
    )


def _bar(counts: Counter[Verdict]) -> Markup:
    """The shares of the verdicts as a bar; the counts below it say the same in words."""
    whole = sum(counts.values()) or 1
    parts = []
    offset = 0.0
    for verdict in VERDICTS:
        width = 100 * counts[verdict] / whole
        if width:
            parts.append(
                element(
                    "rect",
                    x=f"{offset:.2f}",
                    y="0",
                    width=f"{width:.2f}",
                    height="6",
                    class_=f"part {verdict}",
                )
            )
        offset += width
    return element(
        "svg", parts, class_="bar", viewBox="0 0 100 6", preserveAspectRatio="none", aria_hidden="true"
    )


def _count(verdict: Verdict, number: int) -> Markup:
    return element("li", element("i", SYMBOLS[verdict], class_=f"text {verdict}", aria_hidden="true"),
                   f"{number:,} ", WORDS[verdict])  # fmt: skip


def _suites(results: Results) -> Markup:
    columns = ("Suite", "Histories", "Steps", "Crash points", "Schedules", "Time", "")
    rows = [
        element(
            "tr",
            element("th", suite.name, scope="row"),
            [
                element("td", text, class_="number")
                for text in (
                    f"{suite.histories:,}", f"{suite.steps:,}", f"{suite.crash_points:,}", f"{suite.schedules:,}",
                    seconds(suite.seconds),
                )
            ],
            element("td", "complete" if suite.complete else "cut short", class_="" if suite.complete else "cut"),
        )
        for suite in results.suites
    ]  # fmt: skip
    table = element(
        "table",
        element("thead", element("tr", [element("th", column, scope="col") for column in columns])),
        element("tbody", rows),
        class_="plain",
    )
    return element("div", table, class_="scroll")


def _controls() -> Markup:
    verdicts = [
        element(
            "label",
            element("input", type="checkbox", name="verdict", value=verdict),
            element("i", SYMBOLS[verdict], aria_hidden="true"),
            WORDS[verdict],
            class_=f"chip {verdict}",
        )
        for verdict in VERDICTS
    ]
    return element(
        "form",
        element(
            "label",
            element("span", "Search", class_="unseen"),
            element(
                "input", type="search", id="search", placeholder="Search rules  ( / )", autocomplete="off"
            ),
        ),
        element("fieldset", element("legend", "Verdict", class_="unseen"), verdicts),
        element("label", element("input", type="checkbox", id="core-only"), "core only", class_="chip"),
        element(
            "label", element("input", type="checkbox", id="unasked"), "rules never asked too", class_="chip"
        ),
        element("output", "", id="shown", aria_live="polite"),
        id="controls",
    )


def _notes(results: Results) -> Markup | None:
    parts = [element("li", element("b", "Incomplete: "), problem) for problem in results.problems]
    for fault in results.faults:
        text = element("pre", harmless(fault.detail)) if fault.detail else None
        parts.append(element("li", element("b", "Harness: "), fault.message, text))
    for lost in results.lost:
        after = f" in {lost.operation}" if lost.operation else ""
        tail = element("pre", harmless(lost.stderr_tail)) if lost.stderr_tail else None
        again = "; started again" if lost.restarted else ""
        parts.append(element("li", element("b", lost.engine), f" {lost.how}{after}{again}", tail))
    parts += [element("li", note) for note in results.notes]
    return _section("notes", "Notes", element("ul", parts, class_="notes")) if parts else None


def _legend() -> Markup:
    verdicts = [
        (element("dt", verdict_badge(verdict)), element("dd", VERDICTS[verdict])) for verdict in VERDICTS
    ]
    classes = [
        ("must", "The protocol, or the meaning of the operation, leaves no choice. A breach is a violation."),
        ("should", "The protocol recommends it. A breach is a difference."),
        ("reference", "The protocol is silent, and delta-spark does it so. A breach is a difference."),
        ("lenient", "Engines may do as they like."),
    ]
    return element(
        "div",
        element("dl", verdicts, class_="legend"),
        element(
            "div",
            element(
                "p",
                "A cell shows its verdict and its weight: how many checks were made, in how many histories. Below its "
                "floor, 20 checks in 5 histories unless the core says otherwise, a cell is never green. A cell marked ",
                element("span", "core", class_="core"),
                " decides the exit code; any other changes it only by a violation.",
            ),
            element(
                "dl", [(element("dt", name), element("dd", text)) for name, text in classes], class_="facts"
            ),
            element(
                "p", "This page loads nothing from the network. The same results for programs: summary.json."
            ),
        ),
        class_="columns",
    )
