"""Steps seen through their traces alone: for rules of operations that the honest engine does not perform itself.

For a rule about contents: a table that holds the model's rows, and one that lacks a row. For a rule about refusals: the
refusal, and success instead.
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
    mutants,  # noqa: F401 - registers them, so that the rest can be reported
    stories,
    tellers,  # noqa: F401 - the same
)
from tests.mutants.registry import TRIPS

BY_ENGINES = {trip.requirement for trip in TRIPS}
TAMPERED = sorted(
    rule.id
    for rule in CATALOGUE
    if rule.unobservable is None
    and rule.strength != "lenient"
    and rule.id not in BY_ENGINES
    and set(rule.checks) & {"contents", "outcomes"}
)


def observe(requirement: str, folder: Path, *, lie: bool) -> Observation:
    """A step to which a rule applies, kept or broken."""
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
            Committed(), (0, 1), model.with_rows((*rows, rows[0])) if lie else model, requirement
        )
        branch = ends
    else:
        ends = AllowedOutcome(Rejected("bad-argument"), (0, 0), model, requirement)
        outcome = Committed() if lie else Rejected("bad-argument")
        branch = None if lie else ends
    return Observation(
        "reference@1", 3, Purge(), folder, Expectation((ends,)), outcome, branch, ends.table, reader, after, after,
    )  # fmt: skip
