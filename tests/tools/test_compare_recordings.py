"""`tools/compare_recordings.py`: what a second play may change is passed over, and nothing else is."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tools.compare_recordings import ALIKE, DIFFERENT, UNREADABLE, main

STARTED = "2026-11-19T17:15:57+00:00"
EVENTS: tuple[dict[str, Any], ...] = (
    {
        "event": "RunStarted", "format": 1, "harness": "0.1.0", "command": ["conformance", "run", "--out", "here"],
        "seed": 1, "profile": "ci", "storage": "local", "machine": "Linux, 2 cores", "python": "3.11.7",
        "started": STARTED, "engines": ["delta-rs"], "suites": ["lockstep"],
    },
    {"event": "EngineReady", "engine": "delta-rs@1.6.6", "seconds": 1.5, "at": 1.6},
    {"event": "ChunkStarted", "suite": "lockstep", "profile": "ci", "number": 0, "seed": 7, "at": 2.0},
    {
        "event": "FindingFound", "fingerprint": "0e845e40", "requirement": "stats.min-values", "strength": "must",
        "engine": "delta-rs@1.6.6", "role": "writer", "suite": "lockstep", "steps": 6, "step": 5, "known": True,
        "detail": "part-00000-1d5791cb-6b77-4c54-8dfb-c24ec0acbb2d-c000.snappy.parquet: 7 of 1795108621205000",
        "deviation": "delta-rs-decimal-statistics", "folder": "findings/0e845e40", "at": 2.1,
    },
    {
        "event": "HistoryEnded", "suite": "lockstep", "chunk": 0, "history": 0, "steps": 22, "seconds": 0.3,
        "operations": {"delta-rs@1.6.6": 38}, "engine_seconds": {"delta-rs@1.6.6": 0.1}, "at": 2.2,
    },
    {
        "event": "Evidence", "suite": "lockstep", "chunk": 0, "history": 0, "engine": "delta-rs@1.6.6",
        "role": "writer", "checks": {"log.field-type": 60, "stats.min-values": 12}, "operations": 38, "at": 2.3,
    },
    {
        "event": "Struck", "engine": "delta-rs@1.6.6", "operation": "Append", "fault": "DeadTableAt",
        "points": 14, "before": 11, "after": 3, "left_over": {"data": 12}, "at": 2.4,
    },
    {"event": "Note", "message": "delta-rs@1.6.6 does not claim Purge", "at": 2.5},
    {"event": "ChunkEnded", "suite": "lockstep", "profile": "ci", "number": 0, "complete": True, "seconds": 1.0},
    {"event": "RunEnded", "verdict": "holds", "exit": 0, "seconds": 53.8, "at": 53.8},
)  # fmt: skip
SUMMARY = {
    "format": 1, "harness": "0.1.0", "command": ["conformance"], "seed": 1, "seconds": 53.8, "started": STARTED,
    "verdict": "holds", "exit": 0, "engines": [{"name": "delta-rs", "operations": 38, "engine_seconds": 0.1}],
    "claims": [
        {
            "requirement": "log.field-type", "engine": "delta-rs@1.6.6", "role": "writer", "with": [],
            "features": [], "storage": "local", "processes": "one", "verdict": "holds", "evidence": {"checks": 60},
        }
    ],
    "findings": [],
}  # fmt: skip
FINDING = {
    "format": 1, "fingerprint": "0e845e40", "step": 5, "known": True, "detail": "7 of 1795108621205000",
    "versions": {"harness": "0.1.0", "delta-rs@1.6.6": "delta-rs"},
}  # fmt: skip

Change = Callable[[list[dict[str, Any]], dict[str, Any]], object]


def record(folder: Path, change: Change | None = None, *, finding: dict[str, Any] | None = None) -> Path:
    """A recording, changed before it is written."""
    events, summary = json.loads(json.dumps([EVENTS, SUMMARY]))
    if change is not None:
        change(events, summary)
    kept = folder / "findings" / "0e845e40"
    kept.mkdir(parents=True)
    (folder / "events.jsonl").write_text("".join(json.dumps(event) + "\n" for event in events))
    (folder / "summary.json").write_text(json.dumps(summary))
    (kept / "finding.json").write_text(json.dumps(FINDING | (finding or {})))
    (kept / "history.json").write_text(json.dumps({"format": 1, "steps": [{"operation": {"is": "Read"}}]}))
    (kept / "script_delta_rs.py").write_text("print('shows')\n")
    return folder


def event(events: list[dict[str, Any]], kind: str) -> dict[str, Any]:
    return next(event for event in events if event["event"] == kind)


def another_play(events: list[dict[str, Any]], summary: dict[str, Any]) -> None:
    """All that may legally differ."""
    header, footer = events[0], events[-1]
    header |= {
        "command": ["conformance", "run"],
        "machine": "another",
        "python": "3.13.1",
        "harness": "0.2.0",
    }
    header["started"] = "2026-11-20T09:00:00+00:00"
    footer["seconds"] = 99.0
    event(events, "FindingFound")["detail"] = (
        "part-00000-aaaaaaaa-6b77-4c54-8dfb-c24ec0acbb2d-c000.snappy.parquet: 7 of 1795165201205000"
    )
    event(events, "HistoryEnded")["seconds"] = 7.0
    events[2:-1] = reversed(events[2:-1])
    summary |= {"seconds": 99.0, "started": header["started"], "harness": "0.2.0", "command": []}


def test_another_play_of_the_same_is_alike(tmp_path, capsys):
    old, new = record(tmp_path / "old"), record(tmp_path / "new", another_play)
    assert main([str(old), str(new)]) == ALIKE
    assert "alike: 0 differences" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("kind", "change", "said"),
    (
        ("FindingFound", {"fingerprint": "ffffffff"}, "findings: 1 of 1 places differ"),
        ("FindingFound", {"known": False, "deviation": None}, "findings: 1 of 1 places differ"),
        ("FindingFound", {"step": 4}, "findings: 2 of 2 places differ"),
        ("FindingFound", {"detail": "8 of 1795108621205000"}, "words of findings: 1 of 1"),
        ("FindingFound", {"detail": "part-00000-x: 7 of 1495108621205000"}, "words of findings: 1 of 1"),
        ("HistoryEnded", {"steps": 21}, "HistoryEnded: 1 of 1 places differ"),
        ("HistoryEnded", {"operations": {"delta-rs@1.6.6": 37}}, "HistoryEnded: 1 of 1 places differ"),
        ("Evidence", {"role": "reader"}, "evidence: 4 of 4 places differ"),
        ("Evidence", {"features": ["deletionVectors"]}, "evidence: 4 of 4 places differ"),
        ("Struck", {"before": 12, "after": 2}, "Struck: 1 of 1 places differ"),
        ("Struck", {"left_over": {}}, "files left over: 1 of 1 places differ"),
        ("Note", {"message": "another"}, "Note: 2 of 2 places differ"),
        ("ChunkEnded", {"complete": False}, "ChunkEnded: 1 of 1 places differ"),
        ("RunEnded", {"verdict": "inconclusive", "exit": 3}, "the run: 1 of"),
        ("RunStarted", {"seed": 2}, "the run: 1 of"),
    ),
)
def test_what_changes_in_an_event_counts(tmp_path, capsys, kind, change, said):
    old = record(tmp_path / "old")
    new = record(tmp_path / "new", lambda events, _: event(events, kind).update(change))
    assert main([str(old), str(new)]) == DIFFERENT
    assert said in capsys.readouterr().out


def test_an_event_more_counts(tmp_path, capsys):
    old = record(tmp_path / "old")
    new = record(
        tmp_path / "new",
        lambda events, _: events.insert(1, {"event": "HarnessFault", "message": "a", "detail": "b"}),
    )
    assert main([str(old), str(new)]) == DIFFERENT
    assert "HarnessFault: 1 of 1 places differ" in capsys.readouterr().out


def test_a_finding_that_is_recorded_twice_counts(tmp_path):
    old = record(tmp_path / "old")
    new = record(tmp_path / "new", lambda events, _: events.insert(3, events[3]))
    assert main([str(old), str(new)]) == DIFFERENT


def test_changed_evidence_is_listed_by_requirement(tmp_path, capsys):
    old = record(tmp_path / "old")
    new = record(tmp_path / "new", more_evidence)
    assert main([str(old), str(new)]) == DIFFERENT
    output = capsys.readouterr().out
    assert "evidence: 1 of 2 places differ" in output
    assert "log.field-type: 60 -> 64 in 1 places" in output


def test_a_kept_finding_and_its_files_count(tmp_path, capsys):
    old = record(tmp_path / "old")
    new = record(tmp_path / "new", finding={"step": 4})
    (new / "findings/0e845e40/history.json").write_text('{"format": 1, "steps": []}')
    (new / "findings/0e845e40/script_delta_rs.py").unlink()
    assert main([str(old), str(new)]) == DIFFERENT
    output = capsys.readouterr().out
    for kind in ("kept findings", "kept histories", "kept scripts"):
        assert f"{kind}: 1 of 1 places differ" in output


def test_a_changed_claim_counts(tmp_path, capsys):
    old = record(tmp_path / "old")
    new = record(tmp_path / "new", lambda _, summary: summary["claims"][0].update(verdict="violated"))
    assert main([str(old), str(new)]) == DIFFERENT
    assert "verdicts of claims: 1 of 1 places differ" in capsys.readouterr().out


# Allowed differences


def more_evidence(events: list[dict[str, Any]], summary: dict[str, Any]) -> None:
    event(events, "Evidence")["checks"]["log.field-type"] = 64
    summary["claims"][0]["evidence"]["checks"] = 64


def allow(path: Path, requirement: str = "log.field-type", reason: str = "counted by action") -> str:
    path.write_text(f'[evidence]\n"{requirement}" = "{reason}"\n')
    return f"--allow={path}"


def test_evidence_may_differ_where_that_is_allowed(tmp_path, capsys):
    old, new = record(tmp_path / "old"), record(tmp_path / "new", more_evidence)
    assert main([str(old), str(new), allow(tmp_path / "allow.toml")]) == ALIKE
    assert "log.field-type: 60 -> 64 in 1 places: counted by action" in capsys.readouterr().out


def test_what_is_allowed_of_one_requirement_is_not_of_another(tmp_path, capsys):
    old, new = record(tmp_path / "old"), record(tmp_path / "new", more_evidence)
    assert main([str(old), str(new), allow(tmp_path / "allow.toml", "stats.min-values")]) == DIFFERENT
    assert "allowed, but alike: stats.min-values" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("verdict", "code"),
    (("not-enough-evidence", ALIKE), ("violated", DIFFERENT)),
    ids=("evidence", "violation"),
)
def test_only_verdicts_that_follow_from_evidence_are_allowed_with_it(tmp_path, verdict, code):
    old = record(tmp_path / "old")
    new = record(tmp_path / "new", lambda _, summary: summary["claims"][0].update(verdict=verdict))
    assert main([str(old), str(new), allow(tmp_path / "allow.toml")]) == code


@pytest.mark.parametrize("text", ('[evidence]\n"a.b" = ""\n', "[findings]\n", "evidence = 1\n", "["))
def test_a_list_without_reasons_is_refused(tmp_path, capsys, text):
    (tmp_path / "allow.toml").write_text(text)
    old, new = record(tmp_path / "old"), record(tmp_path / "new")
    assert main([str(old), str(new), "--allow", str(tmp_path / "allow.toml")]) == UNREADABLE
    assert "allow.toml" in capsys.readouterr().err


ALLOWED_DEVIATION = '[deviations]\ndelta-rs-decimal-statistics = "by the clock"\n'


def without_the_finding(events: list[dict[str, Any]], summary: dict[str, Any]) -> None:
    events.remove(event(events, "FindingFound"))
    summary["claims"][0].update(verdict="not-enough-evidence", findings=[])


def with_the_finding(_: list[dict[str, Any]], summary: dict[str, Any]) -> None:
    summary["claims"][0].update(verdict="known-deviation", findings=["0e845e40"])


@pytest.mark.parametrize(
    ("text", "code"), ((ALLOWED_DEVIATION, ALIKE), ("", DIFFERENT)), ids=("allowed", "not")
)
def test_findings_of_a_deviation_may_go_where_that_is_allowed(tmp_path, capsys, text, code):
    (tmp_path / "allow.toml").write_text(text)
    old, new = record(tmp_path / "old", with_the_finding), record(tmp_path / "new", without_the_finding)
    for path in sorted((new / "findings/0e845e40").iterdir()):
        path.unlink()
    (new / "findings/0e845e40").rmdir()
    assert main([str(old), str(new), "--allow", str(tmp_path / "allow.toml")]) == code
    assert ("findings of allowed deviations, so not judged" in capsys.readouterr().out) == (code == ALIKE)


def test_a_finding_beside_those_of_an_allowed_deviation_counts(tmp_path):
    (tmp_path / "allow.toml").write_text(ALLOWED_DEVIATION)
    old = record(tmp_path / "old")
    new = record(
        tmp_path / "new",
        lambda events, _: events.insert(3, events[3] | {"fingerprint": "aaaaaaaa", "deviation": None}),
    )
    assert main([str(old), str(new), "--allow", str(tmp_path / "allow.toml")]) == DIFFERENT


# Several recordings


def with_left_over(count: int) -> Change:
    return lambda events, _: event(events, "Struck").update(left_over={"data": count})


def test_a_place_where_old_disagrees_with_itself_is_not_judged(tmp_path, capsys):
    for at, count in enumerate((12, 14)):
        record(tmp_path / "old" / str(at), with_left_over(count))
    new = record(tmp_path / "new", with_left_over(16))
    assert main([str(tmp_path / "old"), str(new)]) == ALIKE
    assert "unstable in OLD, so not judged: 1 files left over" in capsys.readouterr().out


def test_a_place_where_only_new_disagrees_with_itself_is_reported(tmp_path, capsys):
    old = record(tmp_path / "old")
    for at, count in enumerate((12, 14)):
        record(tmp_path / "new" / str(at), with_left_over(count))
    assert main([str(old), str(tmp_path / "new")]) == ALIKE
    assert "unstable in NEW, so not judged: 1 files left over" in capsys.readouterr().out


def test_a_stable_place_counts_however_often_it_was_recorded(tmp_path):
    for at in range(2):
        record(tmp_path / "old" / str(at))
        record(tmp_path / "new" / str(at), with_left_over(16))
    assert main([str(tmp_path / "old"), str(tmp_path / "new")]) == DIFFERENT


# What can't be read


@pytest.mark.parametrize(
    ("name", "damage"),
    (
        ("events.jsonl", lambda text: text[:-9]),
        ("events.jsonl", lambda text: text[: text.rindex('{"event": "RunEnded"')]),
        ("events.jsonl", lambda text: text[text.index("\n") + 1 :]),
        ("events.jsonl", lambda text: text.replace('{"event": "Note"', "{event", 1)),
        ("events.jsonl", lambda _: ""),
        ("summary.json", lambda text: text[:-1]),
        ("findings/0e845e40/finding.json", lambda text: text[:-1]),
        ("findings/0e845e40/history.json", lambda _: "[]"),
    ),
    ids=("torn", "no-footer", "no-header", "no-json", "empty", "summary", "finding", "history"),
)
def test_a_damaged_recording_is_no_comparison(tmp_path, capsys, name, damage):
    old, new = record(tmp_path / "old"), record(tmp_path / "new")
    (new / name).write_text(damage((new / name).read_text()))
    assert main([str(old), str(new)]) == UNREADABLE
    assert main([str(new), str(old)]) == UNREADABLE
    assert name in capsys.readouterr().err


def test_a_folder_without_a_recording_is_no_comparison(tmp_path):
    assert main([str(record(tmp_path / "old")), str(tmp_path / "nothing")]) == UNREADABLE
