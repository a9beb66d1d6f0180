"""A run says how many cells its plan covers, and is inconclusive if the plan leaves one out without a reason."""

from __future__ import annotations

from conformance.events.types import CellsPlanned, EvidenceThreshold
from conformance.reporting.terminal.final_summary import closing_lines
from tests.reporting.samples import results_of, small_run

CORE = (EvidenceThreshold("contents.rows", "delta-rs"),)
WHOLE = CellsPlanned("core", "delta-rs", 9, 9, (), {"no constants are written": 2})
GAP = CellsPlanned("core", "delta-rs", 8, 9, ("Append with partitioned",))


def test_a_run_whose_plan_covers_every_cell_holds():
    results = results_of(*small_run(WHOLE, core=CORE))
    assert results.outcome.exit == 0
    assert any("9 of 9 cells covered" in line for line in closing_lines(results, None))


def test_a_cell_that_the_plan_leaves_out_without_a_reason_makes_a_run_inconclusive():
    results = results_of(*small_run(GAP, core=CORE))
    assert results.outcome.exit == 3
    assert results.outcome.reasons == (
        "delta-rs core: the plan does not reach 1 of 9 cells: Append with partitioned",
    )
