"""Writes `reports/mutation.md` from the rows of the sets: what was killed and by which rule, and every survivor."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from tools.mutation.campaign import NOT_REACHED, OPEN
from tools.mutation.drawing import GROUPS, group_of
from tools.mutation.judgements import MOST, Judgement, need_not_count
from tools.mutation.lines import ranges
from tools.mutation.play import FAULT, GIVEN_UP, KILLED, SURVIVED, UNUSABLE

UNPLAYED = "not-played"
STATES = {
    KILLED: "a rule blames the engine, so a run ends with 1",
    SURVIVED: "no chunk of the gate shows it",
    NOT_REACHED: "no recorded chunk executes the changed line",
    OPEN: "nothing so far, but not all chunks that may reach it were played",
    UNUSABLE: "the engine does not start or fails its smoke test, so a run ends with 2",
    GIVEN_UP: "the engine died or hung again and again, so a run ends with 3",
    FAULT: "the harness itself failed, so a run ends with 2",
    UNPLAYED: "not played yet",
}
STOPPED = (KILLED, UNUSABLE, GIVEN_UP, FAULT)
LONGEST = 90
TOP = """\
# Mutants of the in-house engine

Written by `python -m tools.mutation report`; nothing here is written by hand.
[Decision 0046](../docs/decisions/0046-how-the-gate-is-measured.md) says how the gate is measured. A mutant is one small
change of `pyspark_delta`. It plays the chunks of the profile `gate` that execute its line. A mutant counts unless two
judges, each by itself, call it equivalent or say that it changes speed alone. The share of killed mutants is of all
that count, whatever became of the others.
"""

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class PlayedSet:
    """A set with the newest row of each of its mutants, in the order of the set. Those not played have no row."""

    title: str
    mutants: Sequence[Mapping[str, Any]]
    rows: Mapping[str, Row]
    judgements: Mapping[str, tuple[Judgement, ...]]

    def state(self, mutant: Mapping[str, Any]) -> str:
        """What became of a mutant."""
        row = self.rows.get(mutant["mutant"])
        return str(row["state"]) if row else UNPLAYED

    def counts(self, mutant: Mapping[str, Any]) -> bool:
        """Whether a mutant counts. One that was killed always does."""
        return self.state(mutant) == KILLED or not need_not_count(mutant["mutant"], self.judgements)


def markdown(sets: Sequence[PlayedSet], executed: Mapping[str, Any] | None = None) -> str:
    """The report on all sets, and on the lines that the gate executes, if they were recorded."""
    of_sets = [line for each in sets for line in _set(each)]
    return "\n".join([TOP, *of_sets, *(lines_section(executed) if executed else ())]).rstrip() + "\n"


def lines_section(executed: Mapping[str, Any]) -> Iterator[str]:
    """How many lines of the functions of each file the gate executes, and which it does not."""
    yield from ("## Lines of the engine that the gate executes", "")
    yield f"{executed['recorded']} of {executed['chunks']} chunks of the gate {executed['gate']} were recorded."
    yield from ("", "| group | file | lines | executed | not executed |", "|---|---|---|---|---|")
    files = executed["files"]
    for group in (*GROUPS, None):
        own = [file for file in files if group_of(file) == group]
        for file in own:
            missed = files[file]["missed"]
            yield _share(group, file, files[file]["lines"], len(missed), ranges(missed))
        if own:
            total, left = (
                sum(files[file]["lines"] for file in own),
                sum(len(files[file]["missed"]) for file in own),
            )
            yield _share(group, "*all*", total, left, "")


def _share(group: str | None, file: str, lines: int, missed: int, which: str) -> str:
    return f"| {group or 'other'} | {file} | {lines} | {(lines - missed) / lines:.1%} | {which} |"


def summary_of(played: PlayedSet) -> str:
    """How many mutants of a set were killed of those that count."""
    states = Counter(map(played.state, played.mutants))
    total = len(played.mutants)
    counting = sum(map(played.counts, played.mutants))
    share = f" ({states[KILLED] / counting:.0%})" if counting else ""
    text = f"{total} mutants, {counting} that count: {states[KILLED]} killed{share}"
    others = ", ".join(f"{states[state]} {state}" for state in STATES if state != KILLED and states[state])
    stopped = sum(played.counts(mutant) and played.state(mutant) in STOPPED for mutant in played.mutants)
    if stopped > states[KILLED]:
        text += f", {stopped} end a run with other than 0 ({stopped / counting:.0%})"
    left_out = total - counting
    too_many = (
        f" {left_out} do not count, which is more than a quarter: the share tells nothing."
        if left_out > MOST * total
        else ""
    )
    return f"{text}; {others or 'no others'}.{too_many}"


def _set(played: PlayedSet) -> Iterator[str]:
    yield from (f"## {played.title}", "", summary_of(played), "")
    rows = [played.rows[mutant["mutant"]] for mutant in played.mutants if mutant["mutant"] in played.rows]
    yield from _how(rows)
    yield from _groups(played)
    by_count: dict[bool, list[Mapping[str, Any]]] = {True: [], False: []}
    for mutant in played.mutants:
        if played.state(mutant) != KILLED:
            by_count[played.counts(mutant)].append(mutant)
    if by_count[True]:
        yield from ("### Not killed", "")
        for mutant in by_count[True]:
            yield from _named(played, mutant)
    if by_count[False]:
        yield from ("### Judged not to count", "")
        for mutant in by_count[False]:
            yield from _named(played, mutant)
    killed = [row for row in rows if row["state"] == KILLED]
    if killed:
        yield from (
            "### Killed",
            "",
            "| mutant | before | after | by | chunk | seconds |",
            "|---|---|---|---|---|---|",
        )
        for row in killed:
            cells = (
                f"{row['mutant']}", row["before"], row["after"], row["requirement"], row["chunk"],
                f"{row['seconds']:.0f}",
            )  # fmt: skip
            yield f"| {' | '.join(map(_cell, cells))} |"
        yield ""


def _how(rows: Sequence[Row]) -> Iterator[str]:
    """When the rows were made, on which gate, and how busy the machine was."""
    if not rows:
        return
    gates = ", ".join(sorted({row["gate"] for row in rows}))
    days = sorted({row["at"][:10] for row in rows})
    loads = [row["load"] for row in rows]
    lacking = max(row["unrecorded"] for row in rows)
    yield f"Gate {gates}; played {' to '.join(dict.fromkeys((days[0], days[-1])))} at a load of {min(loads):.1f} to"
    yield f"{max(loads):.1f} (median {median(loads):.1f})."
    if lacking:
        yield f"Up to {lacking} chunks of the gate had no record of lines yet, so no mutant played them."
    yield ""


def _groups(played: PlayedSet) -> Iterator[str]:
    states = [state for state in STATES if any(played.state(mutant) == state for mutant in played.mutants)]
    yield f"| group | mutants | {' | '.join(states)} |"
    yield f"|---|---|{'---|' * len(states)}"
    for group in dict.fromkeys(mutant["group"] for mutant in played.mutants):
        own = Counter(played.state(mutant) for mutant in played.mutants if mutant["group"] == group)
        yield f"| {group} | {own.total()} | {' | '.join(str(own[state]) for state in states)} |"
    yield ""
    yield from (f"- *{state}*: {STATES[state]}" for state in states)
    yield ""


def _named(played: PlayedSet, mutant: Mapping[str, Any]) -> Iterator[str]:
    """One mutant that was not killed, with its diff and what is said of it."""
    state = played.state(mutant)
    row = played.rows.get(mutant["mutant"])
    yield f"**{mutant['mutant']}**"
    place = f", line {mutant['line']}, {mutant['operator']}" if mutant["line"] else f": {mutant['before']}"
    detail = f" {_cell(row['detail'])}" if row and row["detail"] else ""
    played_chunks = f", {len(row['played'])} of {row['reached']} chunks played" if row else ""
    yield f"({state}{place}{played_chunks}){detail}"
    yield from ("", "```diff", *(row or mutant)["diff"].splitlines(), "```")
    for judgement in played.judgements.get(mutant["mutant"], ()):
        yield from ("", f"- {judgement.by}: *{judgement.verdict}*. {judgement.reason}")
    yield ""


def _cell(text: str) -> str:
    flat = " ".join(str(text).split()).replace("|", "\\|")
    return flat if len(flat) <= LONGEST else f"{flat[: LONGEST - 1]}…"
