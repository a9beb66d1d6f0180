"""Which of the ends that the model allows an operation came to: its outcome tells, and what is in the log."""

from __future__ import annotations

from dataclasses import dataclass, replace

from conformance.observations.schema_comparison import comparable_schema
from delta_models.log import LogError, LogReader, Snapshot
from delta_models.outcomes import Outcome, Unknown
from delta_models.table import AllowedOutcome, Expectation
from delta_models.table.identity import bind_generated_values, identities
from delta_models.values import bag


@dataclass(frozen=True, slots=True)
class ObservedState:
    """What a copy's log holds after a step; without a snapshot there is no table."""

    reader: LogReader
    snapshot: Snapshot | None

    def end_of(self, expectation: Expectation, outcome: Outcome, commits: int) -> AllowedOutcome | None:
        """The allowed end that fits; of several the one whose rows are there. Where the engine does not know, the log
        tells."""
        if isinstance(outcome, Unknown):
            return next(
                (branch for branch in expectation.allowed_outcomes if self._is_there(branch, commits)), None
            )
        fitting = expectation.fitting_outcomes(outcome, commits)
        if all(each.table is fitting[0].table for each in fitting[1:]):
            return fitting[0] if fitting else None
        return next((each for each in fitting if self._is_there(each, commits)), fitting[0])

    def bound(self, branch: AllowedOutcome | None) -> AllowedOutcome | None:
        """The end that an engine came to, with the values that it made up."""
        if branch is None or self.snapshot is None or not identities(branch.table.schema):
            return branch
        try:
            return replace(branch, table=bind_generated_values(branch.table, self.reader.rows(self.snapshot)))
        except LogError:
            return branch

    def _is_there(self, branch: AllowedOutcome, commits: int) -> bool:
        if not branch.commits[0] <= commits <= branch.commits[1]:
            return False
        if self.snapshot is None or not branch.table.exists:
            return self.snapshot is None and not branch.table.exists
        try:
            rows = self.reader.rows(self.snapshot)
        except LogError:
            return False
        wanted = bind_generated_values(branch.table, rows)
        return (
            comparable_schema(rows.schema) == comparable_schema(wanted.schema)
            and bag(rows.schema, rows.rows) == wanted.bag
        )
