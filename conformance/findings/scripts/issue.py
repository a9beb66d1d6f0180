"""The text of an issue for the engine's tracker: what was done, what the protocol says, what happened, the versions."""

from __future__ import annotations

import platform
import re
from collections.abc import Sequence

from conformance.findings.scripts.case import Case, case_of, package_of
from conformance.findings.storage import Finding
from conformance.findings.text import operation_text
from delta_adapters.deviations import Cause
from delta_models import operations as ops
from delta_models.requirements import BY_ID
from delta_models.requirements.links import link_of

LONGEST_TITLE = 140
LONGEST_DETAIL = 1200
SILENT = {
    "delta-spark": "The protocol is silent here. delta-spark, the reference, does it so",
    "docs/": "It follows from what the operation means",
    "SQL:": "It stands in the SQL standard",
}


def issue_for(finding: Finding, script: str, causes: Sequence[Cause] | None = None) -> str:
    """The issue as Markdown, ready to paste. `script` is the finding's, `causes` are those that a run knows."""
    case = case_of(finding, causes)
    lines = [
        f"# {_title(case)}",
        "",
        "## What was done",
        *_done(case, script),
        "",
        "## What the protocol says",
        *_rule(case),
        "",
        "## What happened",
        *_happened(case),
        "",
        "## Versions",
        _versions(finding, case),
        "",
        "## How it was found",
        _how(finding),
    ]
    return "\n".join(lines) + "\n"


def _title(case: Case) -> str:
    """One sentence: the engine, the operation, and what is wrong with it."""
    acting = [step.operation for step in case.steps if not isinstance(step.operation, ops.SwitchActor)]
    shown = case.look if case.look is not None else acting[-1] if acting else None
    did = "" if shown is None else f" {_shortened(operation_text(shown), 50)}:"
    wrong = case.summary or f"{did} {_one_line(case.detail) or _sentence(case)}".strip()
    title = f"{package_of(case.engine)}: {wrong}"
    return _shortened(_plain(title), LONGEST_TITLE)


def _done(case: Case, script: str) -> list[str]:
    """The script, or the steps where no script can do them."""
    if "No script can show this alone" not in script:
        fence = "`" * max(3, 1 + max(map(len, re.findall(r"`+", script)), default=0))
        told = "This program needs nothing but the packages in its first lines. It ends with 1 if the deviation shows."
        return [told, "", f"{fence}python", *script.rstrip("\n").splitlines(), fence]
    steps = [
        f"{number}. {_plain(_shortened(operation_text(step.operation), 300))}{_by(case, step.slot)}"
        for number, step in enumerate(case.steps, 1)
    ]
    if case.look is not None and case.look != case.steps[-1].operation:
        steps.append(f"{len(steps) + 1}. {_plain(_shortened(operation_text(case.look), 300))}")
    why = re.search(r"No script can show this alone: (.*?)\.['\"]", script)
    return [
        *steps,
        "",
        f"There is no program for this: {why[1]}." if why else "There is no program for this.",
    ]


def _by(case: Case, slot: str | None) -> str:
    return f" (by {case.engines[slot]})" if slot in case.engines and slot is not None else ""


def _rule(case: Case) -> list[str]:
    requirement = BY_ID.get(case.requirement)
    if requirement is None:
        return [f"The rule {case.requirement}."]
    quoted = f"> {requirement.sentence}"
    link = link_of(requirement)
    if link is not None:
        return [quoted, "", f"In short; see [{requirement.section}]({link})."]
    silent = next((text for start, text in SILENT.items() if requirement.section.startswith(start)), "")
    about = requirement.section.partition(": ")[2] or requirement.section.partition(" ")[0]
    source = f" ({about})" if requirement.section.startswith(("delta-spark", "SQL:")) else ""
    return [quoted, "", f"{silent or 'It is a rule of the test suite'}{source}."]


def _happened(case: Case) -> list[str]:
    detail = _shortened(case.detail or case.summary or "See the program's output.", LONGEST_DETAIL)
    lines = ["```text", *(_visible(detail).splitlines()), "```"]
    if case.where:
        lines += ["", f"Where: `{_visible(case.where)}`"]
    return lines


def _versions(finding: Finding, case: Case) -> str:
    engines = dict.fromkeys((case.engine, *(case.engine_of(step) for step in case.steps)))
    names = [package_of(engine) for engine in engines]
    harness = finding.versions.get("harness")
    if harness:
        names.append(f"delta-conformance {harness}")
    return ", ".join(
        [*names, f"Python {platform.python_version()}", f"{platform.system()} {platform.machine()}"]
    )


def _how(finding: Finding) -> str:
    history = finding.history
    smaller = (
        f" Its {len(history.steps)} steps were made {len(finding.minimal.steps)}."
        if finding.minimal is not None and len(finding.minimal.steps) < len(history.steps)
        else ""
    )
    return (
        "[delta-conformance](https://github.com/delta-conformance/delta-conformance) generates sequences of "
        f"operations, performs them on real engines and compares with the protocol.{smaller} "
        f"Its rule is `{finding.key.requirement}`, its finding {finding.fingerprint}."
    )


def _sentence(case: Case) -> str:
    requirement = BY_ID.get(case.requirement)
    return requirement.sentence if requirement is not None else case.requirement


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _shortened(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1].rstrip() + "…"


def _plain(text: str) -> str:
    """Text in which Markdown finds nothing to format."""
    return re.sub(r"([\\`*_<>#|])", r"\\\1", _visible(text))


def _visible(text: str) -> str:
    """Text without characters that nobody sees, and that does not end a fence."""
    shown = "".join(c if c.isprintable() or c == "\n" else ascii(c)[1:-1] for c in text)
    return shown.replace("```", "'''")
