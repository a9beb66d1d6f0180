"""Compares what two checkouts of the harness recorded, and says where they differ.

python tools/compare_recordings.py OLD NEW [--allow FILE] [--all]

OLD and NEW are each the folder of a run, or a folder that holds several runs of the same command (what `--out` names).
The command reads `events.jsonl`, `summary.json` and `findings/` as JSON and imports nothing of the harness, so the
recordings may come from any two checkouts.

Exit 0: alike. Exit 1: different. Exit 2: a recording or FILE can't be read.

Not compared: clocks, durations, paths, the machine, the harness' version, generated names, the tails of stderr, the
order of events, README.md of a finding, and the pages made for people (report.html, report.md, junit.xml).
A number or a date counts as a clock only if it lies within two days of the run.

Some engines do not do the same thing twice: delta-rs writes partitions from several threads, and returns rows in any
order. Then one recording of OLD proves little. Record it two or three times into one folder. A place counts as
different if no run of NEW agrees with a run of OLD, and the runs of OLD agree with each other. A place where the runs
of OLD, or those of NEW, disagree among themselves is reported as unstable.

FILE is TOML. It names what may differ, each with its reason:

    [evidence]
    "log.field-type" = "the validity rule counts each action, not each commit"
    [deviations]
    delta-rs-feed-times-of-commit-info = "shows only if the clock ticks between two calls"

The first allows other evidence of a requirement, and verdicts that turn between `holds` and `not-enough-evidence`.
The second allows findings of a known deviation to come or go, and verdicts that turn with them.
"""

from __future__ import annotations

import argparse
import datetime as dt
import json
import re
import sys
import tomllib
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ALIKE, DIFFERENT, UNREADABLE = 0, 1, 2
SHOWN = 12  # differences of one kind, unless --all is given
WIDTH = 600  # characters of one value, unless --all is given

EVIDENCE = "evidence"
CLAIM_EVIDENCE = "evidence of claims"
CLAIM_VERDICT = "verdicts of claims"
BY_EVIDENCE_ALONE = {"holds", "not-enough-evidence"}
FINDINGS = {"findings", "findings of the summary"}

VOLATILE = {"at", "seconds", "engine_seconds"}
OF_THE_MACHINE = {"command", "machine", "python", "started", "harness"}
# What names the place of an event; the rest of the event is what is compared there.
PLACES = {
    "ChunkStarted": ("suite", "profile", "number"),
    "ChunkEnded": ("suite", "profile", "number"),
    "HistoryEnded": ("suite", "chunk", "history"),
    "Declared": ("engine", "requirement", "role", "processes"),
    "Raced": ("engines", "operations", "overlap", "isolation", "processes"),
    "EngineReady": ("engine",),
    "EngineUnavailable": ("engine",),
    "EngineLost": ("engine", "operation"),
}
SETTING = ("suite", "chunk", "history", "engine", "role", "with_engines", "features", "processes")
OF_A_FINDING = (
    "suite",
    "chunk",
    "history",
    "step",
    "engine",
    "role",
    "with_engines",
    "processes",
    "requirement",
)
OF_A_CLAIM = ("requirement", "engine", "role", "with", "features", "storage", "processes")
WORDS = ("detail", "where", "timeline")

UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
WORK = re.compile(r"/[^\s'\",:]*conformance-\w{8}(/worker-\d+)?")
PREFIX = re.compile(r"\b[0-9A-Za-z]{2}/(?=(?:part-\d{5}-|deletion_vector_)?<uuid>|part-\d{5}-<uuid>)")
PROCESS = re.compile(r"\b(pid|process|thread) \d+", re.IGNORECASE)
NUMBER = re.compile(r"(?<![\w.])\d{10,19}(?![\w.])")
DATE = re.compile(
    r"(?<!\d)20\d\d-\d\d-\d\d(?:(?:[T ]|%20)\d\d(?::|%3A)\d\d(?::|%3A)\d\d(?:\.\d+)?(?:Z|\+00:00)?)?"
)
AROUND = dt.timedelta(days=2)


class UnreadableError(Exception):
    """A recording or a list of allowed differences can't be read; the message says which and why."""


Place = tuple[str, ...]
Value = tuple[str, ...]  # several, where several events have one place
Facts = dict[tuple[str, Place], Value]


@dataclass(frozen=True, slots=True)
class Normaliser:
    """Takes out of texts what a second play of the same command may legally change."""

    folder: str
    earliest: dt.datetime
    latest: dt.datetime

    def text(self, text: str) -> str:
        """The text with marks in place of paths, generated names, process ids and clocks."""
        text = text.replace(self.folder, "<run>")
        text = WORK.sub("<work>", UUID.sub("<uuid>", text))
        text = PROCESS.sub(r"\1 <id>", PREFIX.sub("<prefix>/", text))
        return NUMBER.sub(self._number, DATE.sub(self._date, text))

    def value(self, value: Any) -> Any:
        """The JSON value with all its texts and clocks normalised."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, list):
            return [self.value(part) for part in value]
        if isinstance(value, dict):
            return {self.text(key): self.value(part) for key, part in value.items()}
        return value

    def _number(self, match: re.Match[str]) -> str:
        digits = match[0]
        scale = {10: 0, 13: 3, 16: 6, 19: 9}.get(len(digits))
        if scale is None:
            return digits
        seconds = int(digits) / 10**scale
        return "<clock>" if self.earliest.timestamp() <= seconds <= self.latest.timestamp() else digits

    def _date(self, match: re.Match[str]) -> str:
        try:
            day = dt.datetime.fromisoformat(match[0][:10]).replace(tzinfo=dt.UTC)
        except ValueError:
            return match[0]
        return "<clock>" if self.earliest <= day + dt.timedelta(days=1) and day <= self.latest else match[0]


@dataclass(frozen=True, slots=True)
class Recording:
    """What one run left in its folder."""

    folder: Path
    events: tuple[dict[str, Any], ...]
    summary: dict[str, Any]

    def normaliser(self) -> Normaliser:
        """The normaliser for texts of this run."""
        try:
            start = dt.datetime.fromisoformat(self.events[0]["started"])
            end = start + dt.timedelta(seconds=float(self.events[-1]["seconds"]))
        except (KeyError, TypeError, ValueError) as error:
            raise UnreadableError(f"{self.folder}: no time of its start and end: {error!r}") from error
        return Normaliser(str(self.folder.absolute()), start - AROUND, end + AROUND)


# Reading


def read_recordings(folder: Path) -> list[Recording]:
    """The runs in a folder: the one that it is, or all that it holds. Raises UnreadableError."""
    if (folder / "events.jsonl").exists():
        return [read_recording(folder)]
    runs = [part for part in sorted(folder.glob("*")) if part.is_dir() and not part.is_symlink()]
    runs = [part for part in runs if (part / "events.jsonl").exists()]
    if not runs:
        raise UnreadableError(f"{folder}: no events.jsonl there, nor in a folder below it")
    return [read_recording(part) for part in runs]


def read_recording(folder: Path) -> Recording:
    """The run in a folder. Raises UnreadableError for a run that is torn or did not end."""
    path = folder / "events.jsonl"
    text = read_text(path)
    if not text.endswith("\n"):
        raise UnreadableError(f"{path}: the last line is torn")
    events = tuple(parsed(line, f"{path}, line {number}") for number, line in enumerate(text.splitlines(), 1))
    kinds = [event.get("event") for event in events]
    if kinds[0] != "RunStarted" or kinds[-1] != "RunEnded":
        raise UnreadableError(f"{path}: a recording begins with RunStarted and ends with RunEnded")
    return Recording(folder, events, parsed(read_text(folder / "summary.json"), str(folder / "summary.json")))


def read_text(path: Path) -> str:
    """The text of a file. Raises UnreadableError."""
    try:
        return path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UnreadableError(f"{path}: {error}") from error


def parsed(text: str, where: str) -> dict[str, Any]:
    """The JSON object in a text. Raises UnreadableError."""
    try:
        form = json.loads(text)
    except json.JSONDecodeError as error:
        raise UnreadableError(f"{where}: no JSON: {error}") from error
    if not isinstance(form, dict):
        raise UnreadableError(f"{where}: an object is expected, not {type(form).__name__}")
    return form


@dataclass(frozen=True, slots=True)
class Allowed:
    """What may differ, each with the reason: evidence by requirement, findings by known deviation."""

    evidence: Mapping[str, str] = field(default_factory=dict)
    deviations: Mapping[str, str] = field(default_factory=dict)


def read_allowed(path: Path | None) -> Allowed:
    """What a file allows to differ. Raises UnreadableError."""
    if path is None:
        return Allowed()
    try:
        form = tomllib.loads(read_text(path))
    except tomllib.TOMLDecodeError as error:
        raise UnreadableError(f"{path}: {error}") from error
    for name, table in form.items():
        if name not in {"evidence", "deviations"} or not isinstance(table, dict):
            raise UnreadableError(f"{path}: tables [evidence] and [deviations] are expected, found {name}")
        for what, reason in table.items():
            if not isinstance(reason, str) or not reason.strip():
                raise UnreadableError(f"{path}: {what} has no reason")
    return Allowed(**form)


# From a recording to facts: a kind, a place, and what was recorded there


def facts_of(recording: Recording) -> Facts:
    """All that is compared of a run."""
    normalise = recording.normaliser().value
    gathered: defaultdict[tuple[str, Place], list[str]] = defaultdict(list)
    counts: Counter[tuple[str, Place]] = Counter()
    for event in recording.events:
        if event["event"] == "Evidence":
            place = [*fields_of(event, SETTING).values()]
            for requirement, count in event["checks"].items():
                counts[EVIDENCE, as_place([requirement, *place])] += count
            for name in ("operations", "crash_points", "schedules"):
                counts[f"{name} of evidence", as_place(place)] += event.get(name, 0)
            continue
        for kind, place_of_event, value in facts_of_event(event):
            gathered[kind, as_place(normalise(place_of_event))].append(canonical(normalise(value)))
    for kind, place_of_part, value in (
        *facts_of_summary(recording.summary),
        *facts_of_findings(recording.folder),
    ):
        gathered[kind, as_place(normalise(place_of_part))].append(canonical(normalise(value)))
    facts = {key: tuple(sorted(values)) for key, values in gathered.items()}
    return facts | {key: (str(count),) for key, count in counts.items()}


def facts_of_event(event: Mapping[str, Any]) -> Iterator[tuple[str, Sequence[Any], Any]]:
    """What is compared of an event that is no evidence."""
    kind = event["event"]
    rest = {name: value for name, value in event.items() if name not in VOLATILE | {"event"}}
    match kind:
        case "FindingFound":
            place = list(fields_of(event, OF_A_FINDING).values())
            yield "findings", place, {n: v for n, v in rest.items() if n not in (*OF_A_FINDING, *WORDS)}
            yield "words of findings", [rest.get("fingerprint"), *place], fields_of(rest, WORDS)
        case "RunStarted":
            for name, value in rest.items():
                if name not in OF_THE_MACHINE:
                    yield "the run", [name], value
        case "RunEnded":
            yield "the run", ["verdict"], rest
        case "Struck":
            place = [rest.pop(name) for name in ("engine", "operation", "fault")]
            yield "files left over", place, rest.pop("left_over", {})
            yield "Struck", place, rest
        case "HarnessFault":
            yield "HarnessFault", [], rest.get("message")
        case "EngineLost":
            rest.pop("stderr_tail", None)
            yield "EngineLost", list(fields_of(event, PLACES[kind]).values()), rest
        case "Note":
            yield "Note", [rest["message"]], "noted"
        case _:
            names = PLACES.get(kind, ())
            yield (
                kind,
                list(fields_of(event, names).values()),
                {n: v for n, v in rest.items() if n not in names},
            )


def facts_of_summary(summary: Mapping[str, Any]) -> Iterator[tuple[str, Sequence[Any], Any]]:
    """What is compared of summary.json."""
    dropped = OF_THE_MACHINE | VOLATILE
    for name, value in summary.items():
        if name not in dropped | {"claims", "findings"}:
            yield "summary", [name], without(value, dropped)
    for claim in summary.get("claims", ()):
        place = list(fields_of(claim, OF_A_CLAIM).values())
        rest = {name: value for name, value in claim.items() if name not in OF_A_CLAIM}
        yield CLAIM_EVIDENCE, place, rest.pop("evidence", None)
        yield CLAIM_VERDICT, place, rest
    for finding in summary.get("findings", ()):
        rest = {name: value for name, value in finding.items() if name not in WORDS}
        yield "findings of the summary", [rest.pop("fingerprint", "")], rest
        yield "words of findings of the summary", [finding.get("fingerprint", "")], finding.get("detail")


def facts_of_findings(folder: Path) -> Iterator[tuple[str, Sequence[Any], Any]]:
    """What is compared of the kept findings. Raises UnreadableError."""
    for part in sorted((folder / "findings").glob("[0-9a-f]*")):
        finding = parsed(read_text(part / "finding.json"), str(part / "finding.json"))
        finding.get("versions", {}).pop("harness", None)
        yield "kept words", [part.name], {name: finding.pop(name, None) for name in WORDS}
        yield "kept findings", [part.name], finding
        for path in sorted(part.glob("*.json")):
            if path.name != "finding.json":
                yield "kept histories", [part.name, path.name], parsed(read_text(path), str(path))
        for path in sorted(part.glob("*.py")):
            # These lines quote the words, which are compared by themselves.
            lines = read_text(path).splitlines()
            code = [line for line in lines if not line.startswith(("Seen with ", "SEEN = "))]
            yield "kept scripts", [part.name, path.name], code


def fields_of(form: Mapping[str, Any], names: Iterable[str]) -> dict[str, Any]:
    """The fields of these names, None where there is none."""
    return {name: form.get(name) for name in names}


def without(value: Any, names: set[str]) -> Any:
    """The JSON value without members of these names, at any depth."""
    if isinstance(value, list):
        return [without(part, names) for part in value]
    if isinstance(value, dict):
        return {name: without(part, names) for name, part in value.items() if name not in names}
    return value


def as_place(parts: Iterable[Any]) -> Place:
    """A place for people and for sorting."""
    return tuple(part if isinstance(part, str) else canonical(part) for part in parts)


def canonical(value: Any) -> str:
    """The one text of a JSON value."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False)


# Comparing


@dataclass(frozen=True, slots=True)
class Difference:
    """A place where OLD and NEW hold different values; none where a side has nothing."""

    kind: str
    place: Place
    old: Value
    new: Value


@dataclass(slots=True)
class Comparison:
    """All differences, by whether they count.

    OLD disagrees with itself where it is `unstable`. NEW does, and OLD does not, where it is `wavering`. `explained`
    are those of findings that are allowed to come and go.
    """

    places: Counter[str] = field(default_factory=Counter)
    different: list[Difference] = field(default_factory=list)
    allowed: list[Difference] = field(default_factory=list)
    explained: list[Difference] = field(default_factory=list)
    unstable: list[Difference] = field(default_factory=list)
    wavering: list[Difference] = field(default_factory=list)


def compare(old: Sequence[Facts], new: Sequence[Facts], allowed: Allowed) -> Comparison:
    """Where the recordings of NEW differ from those of OLD."""
    result = Comparison()
    may_go = fingerprints_of((*old, *new), allowed.deviations)
    for kind, place in sorted({key for facts in (*old, *new) for key in facts}):
        result.places[kind] += 1
        before = [facts.get((kind, place), ()) for facts in old]
        after = [facts.get((kind, place), ()) for facts in new]
        agreed = set(before) & set(after)
        if agreed and set(after) <= set(before):
            continue
        other = next(value for value in after if value not in before)
        difference = Difference(kind, place, before[0], other)
        if is_of_allowed_evidence(difference, allowed.evidence):
            result.allowed.append(difference)
        elif is_of_findings(difference, may_go):
            result.explained.append(difference)
        elif len(set(before)) > 1:
            result.unstable.append(difference)
        elif agreed:
            result.wavering.append(difference)
        else:
            result.different.append(difference)
    return result


def fingerprints_of(recordings: Iterable[Facts], deviations: Collection[str]) -> set[str]:
    """The fingerprints of all findings that belong to these known deviations."""
    findings = (
        json.loads(part)
        for facts in recordings
        for (kind, _), value in facts.items()
        if kind == "findings"
        for part in value
    )
    return {finding["fingerprint"] for finding in findings if finding.get("deviation") in deviations}


def is_of_allowed_evidence(difference: Difference, allowed: Collection[str]) -> bool:
    """Whether the difference is one of evidence that may differ, or of a verdict that follows from it."""
    if difference.kind not in {EVIDENCE, CLAIM_EVIDENCE, CLAIM_VERDICT} or difference.place[0] not in allowed:
        return False
    if difference.kind == CLAIM_VERDICT:
        return {claim["verdict"] for claim in claims_in(difference)} <= BY_EVIDENCE_ALONE
    return True


def is_of_findings(difference: Difference, fingerprints: Collection[str]) -> bool:
    """Whether the difference is only that findings of these fingerprints came, went, or have other words."""
    kind, place = difference.kind, difference.place
    if kind in FINDINGS:
        old, new = Counter(difference.old), Counter(difference.new)
        parts = [json.loads(part) for part in ((old - new) + (new - old))]
        return all(part.get("fingerprint", place[0]) in fingerprints for part in parts)
    if kind == CLAIM_VERDICT:
        claims = claims_in(difference)
        left = {canonical(sorted(set(claim.get("findings", ())) - set(fingerprints))) for claim in claims}
        verdicts = {claim["verdict"] for claim in claims} - BY_EVIDENCE_ALONE
        return len(claims) > 1 and left == {"[]"} and verdicts <= {"known-deviation"}
    return kind.startswith(("kept ", "words of ")) and place[0] in fingerprints


def claims_in(difference: Difference) -> list[dict[str, Any]]:
    """The claims on both sides."""
    return [json.loads(part) for part in (*difference.old, *difference.new)]


# Telling


def lines_of(result: Comparison, allowed: Allowed, *, everything: bool) -> Iterator[str]:
    """The comparison for people."""
    by_kind: defaultdict[str, list[Difference]] = defaultdict(list)
    for difference in result.different:
        by_kind[difference.kind].append(difference)
    for kind, differences in by_kind.items():
        yield f"{kind}: {len(differences)} of {result.places[kind]} places differ"
        if kind == EVIDENCE:
            yield from by_requirement(differences)
        shown = differences if everything else differences[:SHOWN]
        for difference in shown:
            yield from lines_of_difference(difference, width=None if everything else WIDTH)
        if len(shown) < len(differences):
            yield f"    and {len(differences) - len(shown)} more (--all shows them)"
        yield ""
    evidence = [difference for difference in result.allowed if difference.kind == EVIDENCE]
    if evidence:
        yield "allowed differences of evidence"
        yield from by_requirement(evidence, allowed.evidence)
        yield ""
    unused = set(allowed.evidence) - {difference.place[0] for difference in result.allowed}
    if unused:
        yield f"allowed, but alike: {', '.join(sorted(unused))}"
    for why, differences in (
        ("findings of allowed deviations", result.explained),
        ("unstable in OLD", result.unstable),
        ("unstable in NEW", result.wavering),
    ):
        if differences:
            counts = Counter(difference.kind for difference in differences)
            listed = ", ".join(f"{count} {kind}" for kind, count in counts.items())
            yield f"{why}, so not judged: {listed}"
            for difference in differences if everything else ():
                yield from lines_of_difference(difference, width=None)
    yield "compared: " + ", ".join(f"{count} {kind}" for kind, count in sorted(result.places.items()))
    yield f"{'DIFFERENT' if result.different else 'alike'}: {len(result.different)} differences that count"


def by_requirement(
    differences: Iterable[Difference], reasons: Mapping[str, str] | None = None
) -> Iterator[str]:
    """How the evidence of each requirement changed, summed up over the places where it differs."""
    old, new, places = Counter[str](), Counter[str](), Counter[str]()
    for difference in differences:
        requirement = difference.place[0]
        old[requirement] += sum(map(int, difference.old))
        new[requirement] += sum(map(int, difference.new))
        places[requirement] += 1
    for requirement in sorted(places):
        reason = f": {reasons[requirement]}" if reasons else ""
        yield f"  {requirement}: {old[requirement]} -> {new[requirement]} in {places[requirement]} places{reason}"


def lines_of_difference(difference: Difference, *, width: int | None) -> Iterator[str]:
    """One place with both values."""
    yield f"  {' | '.join(difference.place)}"
    for side, value in (("old", difference.old), ("new", difference.new)):
        yield f"    {side}: {' and '.join(value)[:width] or 'nothing'}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Compare, print, and return the exit code."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("old", type=Path)
    parser.add_argument("new", type=Path)
    parser.add_argument("--allow", type=Path, help="TOML file of what may differ, with reasons")
    parser.add_argument("--all", action="store_true", help="show every difference, whole")
    given = parser.parse_args(arguments)
    try:
        allowed = read_allowed(given.allow)
        old, new = ([facts_of(run) for run in read_recordings(folder)] for folder in (given.old, given.new))
    except UnreadableError as error:
        print(f"compare_recordings: {error}", file=sys.stderr)
        return UNREADABLE
    result = compare(old, new, allowed)
    print(f"OLD {given.old}: {len(old)} recordings; NEW {given.new}: {len(new)} recordings\n")
    for line in lines_of(result, allowed, everything=given.all):
        print(line)
    return DIFFERENT if result.different else ALIKE


if __name__ == "__main__":
    sys.exit(main())
