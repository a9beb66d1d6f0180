"""The README of a finding's folder: what is in it, what happened, and how to see it again."""

from __future__ import annotations

from collections.abc import Sequence

from conformance.findings.storage import Finding
from conformance.findings.text import history_lines
from delta_models.requirements import BY_ID
from delta_models.requirements.links import link_of


def readme_of(finding: Finding, scripts: Sequence[str]) -> str:
    """Markdown that can be read as plain text."""
    history = finding.minimal or finding.history
    step, detail = finding.step, finding.detail
    if finding.minimal is not None:
        step = finding.step if finding.minimal_step is None else finding.minimal_step
        detail = finding.minimal_detail or detail
    lines = [
        f"# {finding.fingerprint}: {finding.key.requirement} on {finding.engine}",
        "",
        *_rule(finding),
        "",
        f"At step {step}, charged to the {finding.role}:",
        "",
        f"    {detail}",
    ]
    if finding.where:
        lines.append(f"    at {finding.where}")
    lines += ["", "```", *history_lines(history), "```", ""]
    if finding.timeline:
        lines += ["Who passed which gate:", "", "```", *finding.timeline, "```", ""]
    if finding.slots:
        bound = ", ".join(f"{slot} is {engine}" for slot, engine in sorted(finding.slots.items()))
        lines += [f"Slots: {bound}.", ""]
    lines += ["## To see it again", ""]
    for name in scripts:
        lines += [
            f"    python {name}",
            "",
            "It needs only the packages that it names. Exit 1: the deviation shows. 0: it does not. 2: it can't tell.",
            "",
        ]
    lines += [
        f"    conformance replay {finding.folder}",
        "",
        "`issue.md` is a text for the engine's issue tracker.",
        *_origin(finding),
    ]
    return "\n".join(lines) + "\n"


def _rule(finding: Finding) -> list[str]:
    requirement = BY_ID.get(finding.key.requirement)
    if requirement is None:
        return [f"Source: {finding.strength}."]
    link = link_of(requirement)
    section = f"[{requirement.section}]({link})" if link else requirement.section
    return [requirement.sentence, f"Source: {section} ({requirement.strength})."]


def _origin(finding: Finding) -> list[str]:
    history = finding.history
    origin = f"{history.suite}, profile {history.profile}, chunk {history.chunk}, seed {history.seed}"
    lines = [f"The original history ({len(history.steps)} steps) is from {origin}."]
    if finding.table_before:
        lines.append(f"table-before: {finding.table_before}.")
    return lines
