"""The text of a finding's folder: what was expected, what happened, and how to see it again."""

from __future__ import annotations

from collections.abc import Sequence

from conformance.findings.storage import Finding
from conformance.findings.text import history_lines
from delta_models.requirements import BY_ID


def readme_of(finding: Finding, scripts: Sequence[str]) -> str:
    """Markdown that can be read as plain text."""
    requirement = BY_ID.get(finding.key.requirement)
    sentence = requirement.sentence if requirement else ""
    source = f"{requirement.section} ({requirement.strength})" if requirement else finding.strength
    lines = [
        f"# {finding.fingerprint}: {finding.key.requirement} on {finding.engine}",
        "",
        f"{sentence}" if sentence else "",
        f"Source: {source}. Charged to the {finding.role}.",
        "",
        (
            f"Step {finding.step} of a `{finding.suite}` history (profile {finding.history.profile}, "
            f"chunk {finding.history.chunk}, seed {finding.history.seed}): {finding.action}"
        ),
        "",
        f"    {finding.detail}",
    ]
    if finding.where:
        lines.append(f"    at {finding.where}")
    lines += ["", "## The history", "", "```"]
    lines += history_lines(finding.history)
    lines += ["```", ""]
    if finding.timeline:
        lines += ["Who was let through which gate, and then moved up to its next:", "", "```"]
        lines += [*finding.timeline, "```", ""]
    if finding.slots:
        bound = ", ".join(f"{slot} is {engine}" for slot, engine in sorted(finding.slots.items()))
        lines += [f"Slots: {bound}.", ""]
    lines += ["## To see it again", "", "    conformance replay " + f"findings/{finding.fingerprint}"]
    if scripts:
        lines += [
            "",
            "Without the harness, with nothing but the engine (exit 1: the deviation shows; 0: it does not):",
            "",
        ]
        lines += [f"    python {name}" for name in scripts]
    if finding.table_before:
        lines += ["", f"table-before: {finding.table_before}."]
    lines += [
        "",
        "Key of the fingerprint: "
        + ", ".join(f"{name} {value}" for name, value in finding.key.to_json().items()),
    ]
    return "\n".join(lines) + "\n"
