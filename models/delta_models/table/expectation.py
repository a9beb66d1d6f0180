"""How an operation may end: its allowed outcomes, each with a number of commits and the table afterwards.

An operation has several allowed outcomes where the rules leave a choice: an empty append may add a version or not. All
other outcomes are forbidden.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from delta_models.outcomes import Committed, NoChange, Outcome, Rejected
from delta_models.schema import Struct
from delta_models.table.state import Table
from delta_models.values import Rows, bag

ANY_NUMBER = 2**31


@dataclass(frozen=True, slots=True)
class AllowedOutcome:
    """One legal outcome, the versions that it adds (least, most), and the table afterwards.

    `requirement` names the rule that allows this outcome and says what the rows are. `breaks` names a rule of class
    *should* or *reference* that an engine breaks by this outcome, which is legal all the same.
    """

    outcome: Outcome
    commits: tuple[int, int]
    table: Table
    requirement: str
    breaks: str | None = None

    def fits(self, outcome: Outcome, commits: int) -> bool:
        """Whether an engine may have reached this outcome. Refusals fit by their kind, whatever their message."""
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
    """The allowed outcomes of one operation; the first is the ordinary one."""

    allowed_outcomes: tuple[AllowedOutcome, ...]

    @property
    def ordinary(self) -> AllowedOutcome:
        """The outcome that the operation has unless something prevents it."""
        return self.allowed_outcomes[0]

    def or_else(self, *others: AllowedOutcome) -> Expectation:
        """Return the same outcomes, and the others as well."""
        return Expectation((*self.allowed_outcomes, *others))

    def fitting_outcomes(self, outcome: Outcome, commits: int) -> tuple[AllowedOutcome, ...]:
        """The allowed outcomes that an engine may have reached; none if what it did is forbidden.

        `Unsupported` and `Unknown` fit nothing.
        """
        return tuple(allowed for allowed in self.allowed_outcomes if allowed.fits(outcome, commits))


@dataclass(frozen=True, slots=True)
class ReadExpectation:
    """The rows that a read must return, and the kinds of refusal that are allowed instead.

    Without `rows` the read must be refused.
    """

    rows: Rows | None
    refusals: tuple[str, ...] = ()


def expect_change(table: Table, requirement: str, commits: tuple[int, int] = (1, 1)) -> Expectation:
    """Expect that the table becomes the given one, in one commit."""
    return Expectation((AllowedOutcome(Committed(), commits, table, requirement),))


def expect_no_change(table: Table, requirement: str, most: int = 1) -> Expectation:
    """Expect nothing to do: the engine reports so, or makes up to `most` commits without effect."""
    return Expectation(
        (
            AllowedOutcome(NoChange(), (0, 0), table, requirement),
            AllowedOutcome(Committed(), (0, most), table, requirement),
        )
    )


def expect_rewrite(before: Table, after: Table, requirement: str) -> Expectation:
    """Expect new values in some rows: one commit, or perhaps none if each new value equals the old one."""
    if before.same_contents(after):
        return Expectation(
            (
                AllowedOutcome(Committed(), (0, 1), after, requirement),
                AllowedOutcome(NoChange(), (0, 0), after, requirement),
            )
        )
    return expect_change(after, requirement)


def expect_refusal(table: Table, kinds: str | Iterable[str], requirement: str) -> Expectation:
    """Expect a refusal of one of these kinds; the table stays as it is."""
    kinds = (kinds,) if isinstance(kinds, str) else kinds
    return Expectation(tuple(AllowedOutcome(Rejected(kind), (0, 0), table, requirement) for kind in kinds))


def allow_refusal(
    expectation: Expectation, table: Table, kinds: Iterable[str], requirement: str
) -> Expectation:
    """Return the same outcomes, and refusals of these kinds as well."""
    return expectation.or_else(*expect_refusal(table, kinds, requirement).allowed_outcomes)


def refuse_in_append_only(table: Table, expectation: Expectation) -> Expectation:
    """Return the refusal of an operation that may take rows away, if the table is append-only.

    The protocol forbids to change or remove data, not to ask for it. So an operation that leaves all rows where they
    are may also be done.
    """
    if not is_append_only(table):
        return expectation
    harmless = (
        allowed
        for allowed in expectation.allowed_outcomes
        if not isinstance(allowed.outcome, Rejected) and _keeps_rows(table, allowed.table)
    )
    return refuse_for_append_only(table, expectation).or_else(*harmless)


def refuse_for_append_only(table: Table, expectation: Expectation) -> Expectation:
    """Return the refusal of an operation that an append-only table forbids.

    If there is another reason to refuse it, that one may be told instead.
    """
    refusal = expect_refusal(table, "append-only", "outcome.append-only")
    if not isinstance(expectation.ordinary.outcome, Rejected):
        return refusal
    return refusal.or_else(
        *(allowed for allowed in expectation.allowed_outcomes if isinstance(allowed.outcome, Rejected))
    )


def refuse_losses_in_append_only(table: Table, expectation: Expectation) -> Expectation:
    """Return the refusal of a new definition or an older state that takes rows of an append-only table away.

    What takes none away is done, or refused, since the files of the rows may change. The property that counts is the
    table's before the operation. Columns may come and go: the values in the others stay.
    """
    if not is_append_only(table) or not isinstance(expectation.ordinary.outcome, Committed | NoChange):
        return expectation
    refusal = expect_refusal(table, "append-only", "outcome.append-only")
    if not _keeps_values(table, expectation.ordinary.table):
        return refusal
    return expectation.or_else(*refusal.allowed_outcomes)


def is_append_only(table: Table) -> bool:
    """Whether rows of the table must stay."""
    return table.property("delta.appendOnly").lower() == "true"


def _keeps_rows(before: Table, after: Table) -> bool:
    """Whether each row is still there."""
    if not before.rows:
        return True
    same = before.schema == after.schema
    return same and not bag(before.schema, before.rows) - bag(after.schema, after.rows)


def _keeps_values(before: Table, after: Table) -> bool:
    """Whether each row is still there, with its values in the columns of both tables."""
    then = {field.name: (place, field) for place, field in enumerate(after.schema)}
    common = [
        (place, then[field.name][0], field)
        for place, field in enumerate(before.schema)
        if field.name in then and then[field.name][1].type == field.type
    ]
    schema = Struct(tuple(field for _, _, field in common))
    old = (tuple(row[place] for place, _, _ in common) for row in before.rows)
    new = (tuple(row[place] for _, place, _ in common) for row in after.rows)
    return not bag(schema, old) - bag(schema, new)
