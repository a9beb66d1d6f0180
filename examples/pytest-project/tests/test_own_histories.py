"""Histories of a team's own, judged by the model: after each step all that a run of the harness checks."""

from __future__ import annotations

import pytest

from conformance.pytest_suites.own_histories import HistoryTable
from delta_models.expressions import Column, Compare, Literal
from delta_models.operations import Append, Create, Delete, Overwrite, Read
from delta_models.outcomes import Committed, Rejected
from delta_models.schema import LONG, STRING, struct
from delta_models.values import Rows

ORDERS = struct(("id", LONG), ("state", STRING))


def orders(*rows: tuple[int, str | None]) -> Rows:
    """Rows of the table of orders."""
    return Rows(ORDERS, rows)


@pytest.fixture
def table(conformance_table: HistoryTable) -> HistoryTable:
    """A table of orders, with two of them."""
    conformance_table.play(Create(ORDERS))
    conformance_table.play(Append(orders((1, "open"), (2, "paid"))))
    return conformance_table


def test_a_delete_takes_what_it_names_and_nothing_else(table: HistoryTable) -> None:
    """A delete takes one of the two orders."""
    outcome = table.play(Delete(Compare("=", Column(("state",)), Literal(STRING, "paid"))))
    assert isinstance(outcome, Committed)
    assert table.rows == ((1, "open"),)


def test_an_overwrite_leaves_its_own_rows_alone(table: HistoryTable) -> None:
    """An overwrite takes both orders, and puts one in their place."""
    table.play(Overwrite(orders((3, None))))
    table.play(Read())  # a cold read, which the model judges too
    assert table.rows == ((3, None),)


def test_rows_that_do_not_fit_are_refused(table: HistoryTable) -> None:
    """A text is no number, so the engine refuses the append, and the table is as before."""
    misfit = Rows(struct(("id", STRING), ("state", STRING)), (("one", "open"),))
    assert isinstance(table.play(Append(misfit)), Rejected)
    assert len(table.rows) == 2
