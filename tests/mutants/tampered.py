"""Observations of steps that never ran, for rules about operations that the honest engine does not support.

For a rule about contents, the table holds the model's rows, or lacks one. For a rule about refusals, the operation is
refused, or succeeds.
"""

from __future__ import annotations

from pathlib import Path

from conformance.observations.observation import Observation
from delta_adapters.reference import Reference
from delta_models.log import LogReader
from delta_models.operations import Purge
from delta_models.outcomes import Committed, Outcome, Rejected
from delta_models.requirements import BY_ID, CATALOGUE
from delta_models.table import AllowedOutcome, Expectation, Table
from tests.mutants import (
    all_mutants,  # noqa: F401 - registers them, so that the others remain
    stories,
)
from tests.mutants.registry import TRIPS

TRIPPED_BY_MUTANTS = {trip.requirement for trip in TRIPS}
TAMPERED = sorted(
    rule.id
    for rule in CATALOGUE
    if rule.unobservable is None
    and rule.strength != "lenient"
    and rule.id not in TRIPPED_BY_MUTANTS
    and set(rule.checks) & {"contents", "outcomes"}
)


def observe(requirement: str, folder: Path, *, broken: bool) -> Observation:
    """Return the observation of a step that a requirement applies to, and that keeps or violates it."""
    engine = Reference()
    engine.open(str(folder))
    for operation in stories.TWICE:
        engine.execute(operation, "")
    reader = LogReader(folder)
    after = reader.snapshot()
    rows = reader.rows(after).rows
    model = Table(exists=True, schema=after.schema, rows=rows)
    outcome: Outcome = Committed()
    branch: AllowedOutcome | None
    if BY_ID[requirement].checks == ("contents",):
        ends = AllowedOutcome(
            Committed(), (0, 1), model.with_rows((*rows, rows[0])) if broken else model, requirement
        )
        branch = ends
    else:
        ends = AllowedOutcome(Rejected("bad-argument"), (0, 0), model, requirement)
        outcome = Committed() if broken else Rejected("bad-argument")
        branch = None if broken else ends
    return Observation(
        "reference@1", 3, Purge(), folder, Expectation((ends,)), outcome, branch, ends.table, reader, after, after,
    )  # fmt: skip
