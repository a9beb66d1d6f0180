"""The findings of the page: the requirement, the history, the cause, and the command that replays it."""

from __future__ import annotations

import os
from pathlib import Path
from urllib.parse import quote

from conformance.reporting.html.markup import Markup, element, join
from conformance.reporting.results import Results
from conformance.reporting.text import plural, replay_command
from conformance.reporting.view_models import FindingView, StepView, finding_views

LONG = 240
OPEN = 3


def findings(results: Results, base: Path) -> Markup:
    """All findings, new ones first."""
    views = finding_views(results)
    if not views:
        return element("p", "None. Every check of this run came out as it should.", class_="none")
    return join([_finding(view, base, opened=number < OPEN) for number, view in enumerate(views)])


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
    return element(
        "details",
        element(
            "summary",
            element("span", event.fingerprint, class_="print"),
            element("span", event.kind.partition(",")[0], class_=f"kind {kind}"),
            element("span", event.requirement, class_="requirement"),
            element("span", event.engine, class_="who"),
            element("span", plural(event.steps, "step"), class_="dim"),
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
            _files(view, base),
            class_="body",
        ),
        class_=f"finding {kind}",
        id=f"finding-{event.fingerprint}",
        open=opened and event.fresh,
    )


def _facts(view: FindingView) -> Markup:
    event = view.result.event
    facts = [
        ("Charged to", f"{event.engine}, as {event.role}"),
        ("Suite", f"{event.suite}, chunk {event.chunk}, history {event.history}"),
        ("Seen", plural(view.result.times, "time")),
    ]
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
    cause = view.deviation
    if cause is None:
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
            element("h4", "The history"),
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
