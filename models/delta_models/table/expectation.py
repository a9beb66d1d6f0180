"""How an operation may end: the allowed outcomes, each with its number of commits and the table that follows.

An operation has several legal ends where the rules leave it free: an empty append may add a version or not. What every
branch leaves out is forbidden.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from delta_models.outcomes import Committed, NoChange, Outcome, Rejected
from delta_models.table.state import Table
from delta_models.values import Rows

ANY_NUMBER = 2**31


@dataclass(frozen=True, slots=True)
class AllowedOutcome:
    """One legal end: the outcome, how many versions it adds (least, most), and the table afterwards.

    `requirement` names the rule that makes this end legal and says what the rows are. `breaks` names a rule of class
    *should* or *reference* that an engine ending here does not keep; legal all the same.
    """

    outcome: Outcome
    commits: tuple[int, int]
    table: Table
    requirement: str
    breaks: str | None = None

    def fits(self, outcome: Outcome, commits: int) -> bool:
        """Whether an engine ended here. The words of a refusal do not count, its kind does."""
        if type(outcome) is not type(self.outcome):
            return False
        if (
            isinstance(outcome, Rejected)
            and isinstance(self.outcome, Rejected)
            and outcome.kind != self.outcome.kind
        ):
            return False
        return self.commits[0] <= commits <= self.commits[1]


@dataclass(frozen=True, slots=True)
class Expectation:
    """Every legal end of one operation; the first branch is the ordinary one."""

    allowed_outcomes: tuple[AllowedOutcome, ...]

    @property
    def ordinary(self) -> AllowedOutcome:
        """What the operation does unless something is in its way."""
        return self.allowed_outcomes[0]

    def fitting_outcomes(self, outcome: Outcome, commits: int) -> tuple[AllowedOutcome, ...]:
        """The allowed outcomes that an engine may have reached; none if what it did is forbidden.

        `Unsupported` and `Unknown` fit nothing.
        """
        return tuple(allowed for allowed in self.allowed_outcomes if allowed.fits(outcome, commits))


@dataclass(frozen=True, slots=True)
class ReadExpectation:
    """What a read returns, and the kinds of refusal that are allowed instead; `rows` None: it must be refused."""

    rows: Rows | None
    refusals: tuple[str, ...] = ()


def expect_change(table: Table, requirement: str, commits: tuple[int, int] = (1, 1)) -> Expectation:
    """The table becomes another, in one commit."""
    return Expectation((AllowedOutcome(Committed(), commits, table, requirement),))


def expect_no_change(table: Table, requirement: str, most: int = 1) -> Expectation:
    """Nothing to do: said so, or committed without effect, in up to `most` commits."""
    return Expectation(
        (
            AllowedOutcome(NoChange(), (0, 0), table, requirement),
            AllowedOutcome(Committed(), (0, most), table, requirement),
        )
    )


def expect_rewrite(before: Table, after: Table, requirement: str) -> Expectation:
    """Rows were picked and given new values: one commit, or none where each new value is the old one."""
    if before.same_contents(after):
        return Expectation(
            (
                AllowedOutcome(Committed(), (0, 1), after, requirement),
                AllowedOutcome(NoChange(), (0, 0), after, requirement),
            )
        )
    return expect_change(after, requirement)


def expect_refusal(table: Table, kinds: str | Iterable[str], requirement: str) -> Expectation:
    """The operation must be refused, for one of these reasons, and the table stays."""
    kinds = (kinds,) if isinstance(kinds, str) else kinds
    return Expectation(tuple(AllowedOutcome(Rejected(kind), (0, 0), table, requirement) for kind in kinds))


def allow_refusal(
    expectation: Expectation, table: Table, kinds: Iterable[str], requirement: str
) -> Expectation:
    """The same ends, and refusals for these reasons as well."""
    return Expectation(
        (*expectation.allowed_outcomes, *expect_refusal(table, kinds, requirement).allowed_outcomes)
    )
