"""Writes the results of a campaign as Markdown: what was killed and by which requirement, and every survivor."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

KILLED, SURVIVED, UNUSABLE, FAULT = "killed", "survived", "unusable", "fault"
LONGEST = 70


def markdown(title: str, records: Sequence[Mapping[str, Any]]) -> str:
    """The table of a campaign."""
    verdicts = Counter(record["verdict"] for record in records)
    lines = [
        f"## {title}",
        "",
        (
            f"{len(records)} mutants: {verdicts[KILLED]} killed, {verdicts[SURVIVED]} survived,"
            f" {verdicts[UNUSABLE]} unusable (the engine does not start, or fails its smoke test)."
        ),
        "",
        "| group | mutants | killed | survived | unusable |",
        "|---|---|---|---|---|",
    ]
    for group in sorted({record["group"] for record in records}):
        own = Counter(record["verdict"] for record in records if record["group"] == group)
        lines.append(f"| {group} | {own.total()} | {own[KILLED]} | {own[SURVIVED]} | {own[UNUSABLE]} |")
    lines += [
        "",
        "| mutant | operator | before | after | verdict | by | chunks | seconds |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for record in sorted(records, key=lambda record: (record["verdict"] == KILLED, record["mutant"])):
        by = record["requirement"] or ("" if record["verdict"] == SURVIVED else record["detail"])
        cells = [
            record["mutant"], record["operator"], record["before"], record["after"], record["verdict"], by,
            str(record["chunks"]), f"{record['seconds']:.0f}",
        ]  # fmt: skip
        lines.append(f"| {' | '.join(map(_cell, cells))} |")
    return "\n".join(lines) + "\n"


def _cell(text: str) -> str:
    flat = " ".join(str(text).split()).replace("|", "\\|")
    return flat if len(flat) <= LONGEST else f"{flat[: LONGEST - 1]}…"
