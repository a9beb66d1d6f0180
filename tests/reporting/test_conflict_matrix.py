"""The conflict matrix adds up chunks, and both reports show it if there were races."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from conformance.events.serialization import to_line
from conformance.events.types import Note, RaceOutcome
from conformance.reporting.conflict_matrix import conflict_rows
from conformance.reporting.html.page import page
from conformance.reporting.markdown import text
from tests.reporting.samples import results_of, small_run
from tools.conflicts_report import document, raced

TWINS = ("delta-rs@1.6.6", "delta-rs@1.6.6")
ONE = RaceOutcome(TWINS, ("Append", "Delete"), "table", "can conflict", 70, 20, {"conflict.append": 50})
MORE = RaceOutcome(TWINS, ("Append", "Delete"), "table", "can conflict", 5, 5, {})
OTHER = RaceOutcome(
    ("delta-rs@1.6.6", "pyspark@0.1.0"), ("Append", "Append"), "table", "cannot conflict", 70, 70, {}
)


def test_the_same_pair_of_several_chunks_is_one_line():
    lines = conflict_rows((ONE, OTHER, MORE))
    assert [line.cells for line in lines] == [
        (
            "delta-rs@1.6.6, twice",
            "Append and Delete",
            "table",
            "Serializable",
            "can conflict",
            "75",
            "25",
            "conflict.append 50",
        ),
        (
            "delta-rs@1.6.6 and pyspark@0.1.0",
            "Append and Append",
            "table",
            "Serializable",
            "cannot conflict",
            "70",
            "70",
            "none",
        ),
    ]


def test_each_level_of_isolation_has_its_lines():
    weaker = replace(ONE, isolation="WriteSerializable", documented="cannot conflict")
    lines = [conflict.cells for conflict in conflict_rows((ONE, weaker))]
    assert [line[3:5] for line in lines] == [
        ("Serializable", "can conflict"),
        ("WriteSerializable", "cannot conflict, unconfirmed"),
    ]


def test_a_serialized_writer_has_its_own_line():
    in_turn = replace(ONE, engines=("delta-spark@4.4.0", "delta-rs@1.6.6"), processes="several-in-turn")
    lines = [
        conflict.cells
        for conflict in conflict_rows((in_turn, replace(in_turn, processes="several", both=75)))
    ]
    assert [(line[0], line[6]) for line in lines] == [
        ("delta-spark@4.4.0 and delta-rs@1.6.6", "75"),
        ("delta-spark@4.4.0 and delta-rs@1.6.6, in turn", "20"),
    ]


def test_recordings_of_several_runs_make_one_table(tmp_path: Path):
    for name, events in (("one", (ONE, Note("between"))), ("two", (MORE, OTHER))):
        (tmp_path / name).mkdir()
        (tmp_path / name / "events.jsonl").write_text("".join(f"{to_line(event)}\n" for event in events))
    lines = document(raced((tmp_path / "one", tmp_path / "two" / "events.jsonl"))).splitlines()
    twins, beside = lines[-2:]
    assert twins.endswith(
        "| Append and Delete | table | Serializable | can conflict | 75 | 25 | conflict.append 50 |"
    )
    assert beside.endswith("| Append and Append | table | Serializable | cannot conflict | 70 | 70 | none |")


def test_orders_that_could_not_be_followed_are_distinguished():
    (line,) = conflict_rows((ONE, replace(ONE, schedules=3, unfollowed=2)))
    assert line.cells[5] == "73, 2 not followed"


def test_both_reports_show_it():
    results = results_of(*small_run(ONE))
    assert "Append and Delete" in page(results, Path("run"))
    assert "Writers at once" in text(results)


def test_without_a_race_there_is_no_matrix():
    results = results_of(*small_run())
    assert "Writers at once" not in page(results, Path("run"))
    assert "Writers at once" not in text(results)
