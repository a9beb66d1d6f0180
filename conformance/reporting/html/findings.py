"""The findings of the page: the requirement, the history, the cause, and the command that replays it."""

from __future__ import annotations

import os
from pathlib import Path
from urllib.parse import quote

from conformance.reporting.finding_groups import finding_groups, length, says, weight
from conformance.reporting.html.markup import Markup, element, join
from conformance.reporting.results import Results
from conformance.reporting.text import plural, replay_command, shrink_command
from conformance.reporting.view_models import FindingView, StepView, finding_view

LONG = 240
OPEN = 3


def findings(results: Results, base: Path) -> Markup:
    """All findings by kind, the most severe first."""
    groups = finding_groups(results.findings)
    if not groups:
        return element("p", "None. Every check of this run came out as it should.", class_="none")
    shown, parts = 0, []
    for group in groups:
        parts.append(element("h3", group.title))
        parts.append(element("p", group.kind.meaning, class_="hint"))
        for result in group.findings:
            parts.append(_finding(finding_view(result), base, opened=shown < OPEN))
            shown += 1
    return join(parts)


def copyable(command: str) -> Markup:
    """A command with a button that copies it."""
    return element(
        "div",
        element("code", command),
        element("button", "Copy", type="button", class_="copy", data_copy=command),
        class_="command",
    )


def _finding(view: FindingView, base: Path, *, opened: bool) -> Markup:
    event = view.result.event
    kind = "known" if not event.fresh else ("violated" if event.strength == "must" else "differs")
    name = event.cause or event.requirement
    return element(
        "details",
        element(
            "summary",
            element("span", event.fingerprint, class_="print"),
            element("span", event.kind.partition(",")[0], class_=f"kind {kind}"),
            element("span", name, class_="requirement"),
            element("span", event.engine, class_="who"),
            element("span", says(view.result), class_="dim"),
        ),
        element(
            "div",
            element("p", view.sentence, class_="sentence") if view.sentence else None,
            element("p", element("bdi", event.detail), class_="detail"),
            element("p", "at ", element("code", event.where), class_="dim") if event.where else None,
            _facts(view),
            _cause(view),
            _history(view),
            element("h4", "See it again"),
            copyable(replay_command(view.result.folder)),
            _unshrunk(view),
            _files(view, base),
            class_="body",
        ),
        class_=f"finding {kind}",
        id=f"finding-{event.fingerprint}",
        open=opened and event.fresh,
    )


def _unshrunk(view: FindingView) -> Markup | None:
    """The command that makes the history smaller, if the run had no time for it."""
    event = view.result.event
    if not event.fresh or event.state != "unexplained" or view.result.shrunk:
        return None
    return join([element("h4", "Make it smaller"), copyable(shrink_command(view.result.folder))])


def _facts(view: FindingView) -> Markup:
    event = view.result.event
    facts = [
        ("Charged to", f"{event.engine}, as {event.role}"),
        ("Suite", f"{event.suite}, chunk {event.chunk}, history {event.history}"),
        ("Seen", f"{plural(view.result.times, 'time')}, in {weight(view.result)}"),
        ("Requirements", ", ".join(view.result.requirements)),
        ("History", length(view.result)),
    ]
    if view.result.why:
        facts.append(("Triage", view.result.why))
    if view.section:
        facts.insert(1, ("Rule", f"{view.section} ({event.strength})"))
    if event.with_engines:
        facts.append(("Together with", ", ".join(event.with_engines)))
    if event.features:
        facts.append(("Features", ", ".join(event.features)))
    return element(
        "dl", [(element("dt", name), element("dd", value)) for name, value in facts], class_="facts"
    )


def _cause(view: FindingView) -> Markup | None:
    cause = view.cause
    if cause is None:
        if view.result.event.cause:
            named = f"{view.result.event.cause}: {says(view.result)}"
            return element("div", element("h4", "Cause"), element("p", named), class_="cause")
        if view.result.event.known:
            return element("p", "In the baseline: an earlier run found it already.", class_="cause")
        return None
    issue: Markup | str = cause.issue
    if cause.issue.startswith("https://"):
        issue = element("a", cause.issue, href=cause.issue, rel="noreferrer")
    return element(
        "div",
        element("h4", "Cause"),
        element("p", cause.summary),
        element("p", cause.cause),
        element("p", f"{cause.id}. Issue: ", issue, ".", class_="dim"),
        class_="cause",
    )  # fmt: skip


def _history(view: FindingView) -> Markup:
    if not view.steps:
        return element("p", f"Its history can't be shown: {view.problem}", class_="problem")
    shared = any(step.slot for step in view.steps)
    return join(
        [
            element("h4", "The minimal history" if view.minimal else "The history"),
            element(
                "table",
                element(
                    "thead",
                    element(
                        "tr",
                        element("th", "Step", scope="col"),
                        element("th", "Who", scope="col") if shared else None,
                        element("th", "Command", scope="col"),
                    ),
                ),
                element("tbody", [_step(step, shared=shared) for step in view.steps]),
                class_="steps",
            ),
        ]
    )


def _step(step: StepView, *, shared: bool) -> Markup:
    who = f"{step.slot}: {step.engine}" if step.engine else step.slot or "all"
    return element(
        "tr",
        element("td", str(step.number), element("b", "fails here") if step.failing else None),
        element("td", who) if shared else None,
        element("td", _command(step.text)),
        class_="failing" if step.failing else None,
    )


def _command(text: str) -> Markup:
    """A step of the history as text: its operation stands out, and a long text is folded."""
    kind, _, rest = text.partition(" ")
    if len(rest) <= LONG:
        return join([element("strong", kind), " ", element("bdi", rest)])
    return element(
        "details",
        element("summary", element("strong", kind), " ", element("bdi", f"{rest[:LONG]}…")),
        element("bdi", rest),
        class_="long",
    )


def _files(view: FindingView, base: Path) -> Markup | None:
    if not view.files:
        return None
    folder = os.path.relpath(view.result.folder.absolute(), base)
    first = [file for file in view.files if file.endswith(".py")]
    rest = [file for file in view.files if not file.endswith(".py")]
    links = [element("li", element("a", file, href=quote(f"{folder}/{file}"))) for file in (*first, *rest)]
    note = "A script shows it with nothing but the engine." if first else None
    return join([element("ul", links, class_="files"), element("p", note, class_="dim") if note else None])
