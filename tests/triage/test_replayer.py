"""A replayer plays histories again and again: fresh tables, hosts that stay, clear ends."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.findings.recorder import FindingRecorder
from conformance.histories import History
from conformance.runner.context import open_suite_context
from conformance.triage.hosts import CannotRun, placed
from conformance.triage.replayer import Replayer, Setup
from delta_adapters.reference import Reference
from delta_adapters.registry import parse_engine
from delta_models.expressions import Column, Compare, Literal
from delta_models.operations import Append, Create, Delete, Read, Reopen
from delta_models.schema import LONG, struct
from delta_models.values import Rows
from tests.command_runs import engine
from tests.mutants.contents import DropsARow
from tests.mutants.reads import StaleReads
from tests.triage.in_process import NAME, find, history_of, replayer_of

SCHEMA = struct(("id", LONG))
ROWS = Rows(SCHEMA, ((1,), (2,)))
STALE = history_of(Create(SCHEMA), Append(ROWS), Append(ROWS), Append(ROWS))


def test_a_history_is_played_up_to_the_violation_that_is_wanted():
    with replayer_of(StaleReads) as replayer:
        setup = Setup.of(find(replayer, STALE, "read.latest"))
        played = replayer.play(STALE, setup, until=lambda _, violation: True)
    assert played.steps_played == 3
    assert {violation.requirement for _, violation in played.violations("reference")} >= {"read.latest"}
    assert not list(played.violations("another"))


def test_each_play_has_a_fresh_table_and_leaves_nothing_behind(tmp_path: Path):
    with replayer_of(Reference) as base:
        replayer = Replayer(tmp_path, hosts=base._hosts)
        with replayer:
            setup = Setup("lockstep", (NAME,))
            first = replayer.play(STALE, setup)
            second = replayer.play(STALE, setup)
            assert not first.results[0].observation.folder.exists()
            assert second.results[0].observation.folder.exists(), (
                "who looks at the results may read the table"
            )
            assert not [result.violations for result in second.results if result.violations]
    assert not list(tmp_path.rglob("table"))


def test_the_extra_reads_of_a_run_are_made_again_unless_the_history_says_that_its_reads_are_steps():
    where = Compare("<", Column(("id",)), Literal(LONG, 2))
    reopened = [Reopen() for _ in range(9)]

    def reads_of(history: History, *, extra_reads: bool | None = None) -> int:
        with replayer_of(Reference) as replayer:
            played = replayer.play(history, Setup("lockstep", (NAME,)), extra_reads=extra_reads)
        return sum(len(result.observation.looks) for result in played.results)

    history = history_of(Create(SCHEMA), Append(ROWS), Delete(where), *reopened)
    explicit = History.from_json({**history.to_json(), "explicit_reads": True})
    assert History.from_json(explicit.to_json()).explicit_reads
    assert reads_of(history) > reads_of(explicit) == reads_of(history, extra_reads=False)
    assert reads_of(explicit, extra_reads=True) == reads_of(history)


def test_a_read_that_is_a_step_is_made_after_the_write_that_ended_the_history_and_no_write_after_it():
    filtered = Read(where=Compare("<", Column(("id",)), Literal(LONG, 2)))
    steps = (Create(SCHEMA), Append(ROWS), filtered, Append(ROWS), filtered)
    explicit = History.from_json({**history_of(*steps).to_json(), "explicit_reads": True})
    for history, played in ((explicit, [2]), (history_of(*steps), [])):
        with replayer_of(DropsARow) as replayer:
            playthrough = replayer.play(history, Setup("lockstep", (NAME,)))
        found = {
            violation.requirement: result.observation.step
            for result, violation in playthrough.violations("reference")
        }
        assert found["contents.append"] == 1
        later = [result.observation.step for result in playthrough.results if result.observation.step > 1]
        assert later == played, "the history ended with the append; reads that are steps belong to it"


def test_an_engine_of_no_name_cannot_run():
    with Replayer() as replayer, pytest.raises(CannotRun, match="no engine is called 'delta-sr'"):
        replayer.play(STALE, Setup("lockstep", ("delta-sr@1.0",)))


def test_an_engine_that_does_not_start_cannot_run():
    with Replayer() as replayer, pytest.raises(CannotRun, match="no licence found"):
        replayer.play(STALE, Setup("lockstep", ("dies@1.0",), {"dies@1.0": engine("DiesAtStart")}))


def test_a_host_that_dies_in_a_history_is_started_again_for_the_next():
    with Replayer() as replayer:
        setup = Setup("lockstep", ("segfaults@1.0",), {"segfaults@1.0": engine("Segfaults")})
        for _ in range(2):
            played = replayer.play(STALE, setup)
            assert [violation.requirement for _, violation in played.violations("segfaults")] == [
                "host.lives"
            ]


class CannotOpen(Reference):
    """Fails to open any table."""

    def open(self, location: str) -> None:
        from delta_adapters.host_errors import HostDied  # noqa: PLC0415

        raise HostDied(NAME, -11, "open", "no such table")


def test_an_engine_that_is_lost_before_its_first_step_again_and_again_cannot_run():
    with replayer_of(CannotOpen) as replayer:
        setup = Setup("lockstep", (NAME,))
        for _ in range(2):
            assert replayer.play(STALE, setup).steps_played == 0
        with pytest.raises(CannotRun, match="can't open a table, 3 times in a row"):
            replayer.play(STALE, setup)


def test_an_error_of_the_harness_is_told_apart_from_what_engines_do():
    class Breaks(Reference):
        def execute(self, operation, tag):
            raise ZeroDivisionError("the harness breaks here, for this engine runs within it")

    with replayer_of(Breaks) as replayer:
        played = replayer.play(STALE, Setup("lockstep", (NAME,)))
    assert played.error is not None
    assert "ZeroDivisionError" in played.error
    assert not played.results


def test_another_build_takes_the_place_of_an_engine_by_its_name():
    setup = Setup("shared", ("delta-rs@1.5.0", "delta-spark@4.0.0"), {"delta-rs@1.5.0": "delta-rs@1.5.0"})
    other = setup.with_engine("delta-rs", "delta-rs@1.6.6")
    assert [other.spec_of(name) for name in other.engines] == ["delta-rs@1.6.6", "delta-spark@4.0.0"]


def test_twins_have_places_of_their_own():
    assert list(placed(["a", "b", "b", "a"])) == [("a", "A"), ("b", "A"), ("b", "B"), ("a", "B")]


def test_own_specs_are_found_by_their_text():
    spec = parse_engine(engine("Lies"))
    with Replayer(specs=[spec]) as replayer:
        played = replayer.play(STALE, Setup("lockstep", ("lies@1.0",), {"lies@1.0": str(spec)}))
    (violation,) = [violation for _, violation in played.violations("lies")][:1]
    assert violation.requirement == "outcome.commits"


def test_the_hosts_of_a_worker_are_played_on_and_stay(tmp_path: Path):
    spec = parse_engine("reference")
    recorder = FindingRecorder(tmp_path)
    with open_suite_context(
        [spec], recorder, lambda _: None, tmp_path / "work", is_over=lambda: False, start_heavy=False
    ) as context:
        before = context.engine_pool.get("reference")
        assert before is not None
        assert before.host is not None
        supervisor = before.host.supervisor_pid
        with Replayer.in_worker(context, tmp_path / "triage") as replayer:
            setup = Setup("lockstep", (before.name,), {before.name: "reference"})
            assert [replayer.play(STALE, setup).steps_played for _ in range(2)] == [4, 4]
            with pytest.raises(CannotRun, match="delta-rs takes no part in this run"):
                replayer.play(STALE, Setup("lockstep", ("delta-rs@1.0",), {"delta-rs@1.0": "delta-rs"}))
        assert before.host.alive
        assert before.host.supervisor_pid == supervisor
    assert not list((tmp_path / "triage").rglob("table"))
