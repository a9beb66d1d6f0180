"""The terminal output of a run: plain lines, the panel, and the final summary."""

from __future__ import annotations

import io
import json
from dataclasses import replace

import pytest
from rich.console import Console

from conformance.events.serialization import from_line
from conformance.events.types import (
    BudgetSpent,
    EngineLost,
    EngineReady,
    EngineUnavailable,
    Event,
    HistoryEnded,
    Interrupted,
    Note,
    PlannedSuite,
    Progress,
    Triaging,
)
from conformance.reporting.terminal.final_summary import closing_lines
from conformance.reporting.terminal.json_lines import JsonLines
from conformance.reporting.terminal.plain import PlainTerminal
from conformance.reporting.terminal.pretty import PrettyTerminal
from conformance.reporting.terminal.progress import Progress as HowFar
from delta_models.requirements import BY_ID
from tests.reporting.samples import (
    FINDING,
    HEADER,
    ONE_OF_EACH,
    SIGHTING,
    explained,
    results_of,
    shrunk,
    small_run,
    triaged,
)


class Clock:
    """Seconds that pass when the test says so."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def steps(count: int, history: int = 0) -> list[Event]:
    return [Progress("lockstep", 0, history, step, ("delta-rs@1.6.6",)) for step in range(count)]


def test_plain_lines_say_what_happens_and_every_so_often_how_far_it_is():
    out, clock = io.StringIO(), Clock()
    terminal = PlainTerminal(out, clock=clock)
    begin: list[Event] = [
        HEADER,
        EngineReady("delta-rs@1.6.6", seconds=0.42),
        EngineUnavailable("delta-spark", "there is no java", "sudo apt install openjdk-17-jre-headless"),
    ]
    end: list[Event] = [
        FINDING,
        FINDING,
        EngineLost("delta-rs@1.6.6", "died of SIGSEGV", "Merge", restarted=True),
        HistoryEnded("lockstep", 0, 0, 30),
        Note("half done"),
        BudgetSpent(240.0),
        Interrupted(),
    ]
    for event in begin:
        terminal(event)
    for event in steps(30):
        clock.now += 1
        terminal(event)
    for event in end:
        terminal(event)
    terminal.close()
    assert out.getvalue() == (
        "conformance 0.1.0, profile dev, seed 1\n"
        "delta-rs@1.6.6 is ready after 0.4 s\n"
        "delta-spark can't run here: there is no java\n"
        "  to mend it: sudo apt install openjdk-17-jre-headless\n"
        "[10 s] 10 of 300 steps, 0 histories, 0 findings, about 4 min 21 s left\n"
        "[20 s] 20 of 300 steps, 0 histories, 0 findings, about 4 min 26 s left\n"
        "[30 s] 30 of 300 steps, 0 histories, 0 findings, about 4 min 21 s left\n"
        "finding 9f3c21aa (must): delta-rs@1.6.6 log.remove-names-live-file: commit 3 removes part-0.parquet, which is "
        "not live\n"
        "delta-rs@1.6.6 died of SIGSEGV in Merge; started again\n"
        "note: half done\n"
        "the budget was spent after 4 min 00 s\n"
        "stopping: the engines are being ended and the report is written\n"
    )


def test_the_count_at_the_end_of_a_history_corrects_the_announced_steps():
    out, clock = io.StringIO(), Clock()
    terminal = PlainTerminal(out, interval=0.0, clock=clock)
    for event in (*steps(3), HistoryEnded("lockstep", 0, 0, 5)):
        terminal(event)
    assert out.getvalue().splitlines()[-1] == "[0.0 s] 5 steps, 1 history, 0 findings"


def test_the_time_left_is_estimated_from_the_slower_kind_of_steps():
    clock = Clock()
    progress = HowFar(clock)
    progress(replace(HEADER, plan=(PlannedSuite("lockstep", 1, 12, 300, dear=20),)))
    for step in range(100):
        progress(Progress("lockstep", 0, 0, step))
        if step < 5:
            progress(Progress("lockstep", 0, 1, step, dear=True))
        clock.now += 1
    assert progress.left == pytest.approx(100 * 15 / 5)
    for step in range(15):
        progress(Progress("lockstep", 0, 1, step, dear=True))
    assert progress.left == pytest.approx(100 * 180 / 100)
    progress(HistoryEnded("lockstep", 0, 0, 100))
    progress(HistoryEnded("lockstep", 0, 2, 5))
    assert progress.left == pytest.approx(100 * 155 / 105), (
        "of the second history's 25 steps 20 were not asked"
    )


def test_text_of_an_engine_can_not_drive_the_terminal():
    out = io.StringIO()
    terminal = PlainTerminal(out)
    terminal(EngineUnavailable("delta-rs", "\x1b[2J\x07 gone\nand more"))
    assert out.getvalue() == "delta-rs can't run here: \\x1b[2J\\x07 gone and more\n"


def test_events_for_another_program_can_be_read_back():
    out = io.StringIO()
    listener = JsonLines(out)
    for event in ONE_OF_EACH:
        listener(event)
    assert tuple(map(from_line, out.getvalue().splitlines())) == ONE_OF_EACH
    assert all(isinstance(json.loads(line), dict) for line in out.getvalue().splitlines())


def test_on_a_terminal_a_panel_shows_engines_steps_time_and_findings():
    out, clock = io.StringIO(), Clock()
    console = Console(file=out, force_terminal=True, width=100, color_system=None)
    terminal = PrettyTerminal(out, clock=clock, console=console)
    try:
        terminal(HEADER)
        terminal(EngineReady("delta-rs@1.6.6"))
        terminal(EngineUnavailable("delta-spark", "no Java"))
        for event in steps(100):
            clock.now += 0.5
            terminal(event)
        terminal(FINDING)
        with console.capture() as capture:
            console.print(terminal.picture())
    finally:
        terminal.close()
        terminal.close()
    shown = capture.get()
    assert "100 of 300" in shown
    assert "50 s, about 1 min 39 s left" in shown
    assert "delta-rs@1.6.6" in shown
    assert "100 operations" in shown
    assert "delta-spark" in shown
    assert "not available" in shown
    assert "findings" in shown
    assert "finding 9f3c21aa" in out.getvalue()


LIVE = BY_ID[FINDING.requirement].sentence
FILTERED = BY_ID["read.filter"].sentence


def test_the_last_lines_say_verdict_counts_report_and_how_to_replay(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    known = FINDING.__class__(
        "00000001", "read.filter", "must", "delta-rs@1.6.6", "reader", "lockstep", "x", 2, known=True
    )
    home = tmp_path / "out" / "run 1"
    results = results_of(*small_run(FINDING, known, EngineUnavailable("delta-spark", "no Java")), home=home)
    assert "\n".join(closing_lines(results, home / "report.html")) == (
        f"""
VIOLATED: a requirement does not hold (exit 1)
  - delta-rs@1.6.6 violates log.remove-names-live-file
  - delta-spark can't run here: no Java

  delta-rs@1.6.6         732 operations, 6.0 s in the engine
  delta-spark            not available: no Java
  lockstep               12 histories, 300 steps
  claims                 1 holds, 1 violated, 1 known-deviation, 1 not-enough-evidence
  time                   12 s

1 new violation:
  9f3c21aa delta-rs@1.6.6 log.remove-names-live-file (must): {LIVE}
    commit 3 removes part-0.parquet, which is not live
    7 steps
    conformance replay 'out/run 1/findings/9f3c21aa'

1 known cause seen; `conformance explain CAUSE` tells each:
  00000001 read.filter (delta-rs@1.6.6, 1 sighting of 1 requirement): in the baseline: {FILTERED}

Report: out/run 1/report.html"""
    )


def test_a_sighting_is_shown_when_triage_knows_what_it_is():
    out, clock = io.StringIO(), Clock()
    terminal = PlainTerminal(out, clock=clock)
    other, third = replace(SIGHTING, fingerprint="00000002"), replace(SIGHTING, fingerprint="00000003")
    for event in (
        SIGHTING, other, third, SIGHTING,
        Triaging("explain", "9f3c21aa", 1, 3),
        explained(), explained(other), triaged("unexplained", third),
        Triaging("shrink", "00000003", 3, 3, 7, 7), Triaging("shrink", "00000003", steps=7, left=4),
        shrunk(third), shrunk(SIGHTING),
    ):  # fmt: skip
        terminal(event)
    assert out.getvalue().splitlines() == [
        "known cause a-cause: delta-rs@1.6.6 log.remove-names-live-file: Removes are repeated.",
        f"finding 00000003 (unexplained must): delta-rs@1.6.6 log.remove-names-live-file: {FINDING.detail}",
        "shrinking 00000003: 7 steps",
        f"finding ab12cd34 (new must, 3 steps): delta-rs@1.6.6 log.remove-names-live-file: {FINDING.detail}",
        "9f3c21aa is finding ab12cd34 too",
    ]


def test_the_progress_says_what_triage_does_and_what_waits_for_it():
    progress = HowFar(Clock())
    other = replace(SIGHTING, fingerprint="00000002")
    for event in (SIGHTING, other, Triaging("explain", "9f3c21aa", 1, 2)):
        progress(event)
    assert (progress.fresh, progress.known, progress.waiting, progress.doing) == (
        0,
        0,
        2,
        "explaining 1 of 2",
    )
    progress(explained())
    assert (progress.fresh, progress.known, progress.waiting, progress.doing) == (0, 1, 1, "")
    progress(triaged("unexplained", other))
    progress(Triaging("shrink", "00000002", steps=18, left=4))
    assert (progress.fresh, progress.waiting) == (1, 0)
    assert progress.doing == "shrinking 00000002: 18 -> 4 steps"
