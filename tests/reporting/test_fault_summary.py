"""The fault summary adds up histories, and both reports show it if there were faults."""

from __future__ import annotations

from pathlib import Path

from conformance.events.types import FaultOutcome
from conformance.reporting.fault_summary import TITLE, fault_rows
from conformance.reporting.html.page import page
from conformance.reporting.markdown import text
from tests.reporting.samples import results_of, small_run

ONE = FaultOutcome("delta-rs@1.6.6", "Append", "DeadTableAt", 20, 12, 8, {"data": 12, "staging": 4})
MORE = FaultOutcome("delta-rs@1.6.6", "Append", "DeadTableAt", 2, 1, 1, {"data": 1})
OTHER = FaultOutcome("delta-rs@1.6.6", "Append", "LoseReplyAt", 2, 0, 2)


def test_the_same_fault_in_several_histories_is_one_line():
    assert [strike.cells for strike in fault_rows((OTHER, ONE, MORE))] == [
        ("delta-rs@1.6.6", "Append", "DeadTableAt", "22", "13", "9", "data 13, staging 4"),
        ("delta-rs@1.6.6", "Append", "LoseReplyAt", "2", "0", "2", "nothing"),
    ]


def test_both_reports_show_orphaned_files():
    results = results_of(*small_run(ONE))
    for shown in (page(results, Path("run")), text(results)):
        assert TITLE in shown
        assert "data 12, staging 4" in shown


def test_without_a_fault_there_is_no_summary():
    results = results_of(*small_run())
    assert TITLE not in page(results, Path("run"))
    assert TITLE not in text(results)
