"""An engine that cuts blanks, or stores them, is judged by what it did and not by the first thing allowed."""

from __future__ import annotations

from delta_models import operations as ops
from delta_models.values import Rows
from tests.liars.ends import SHORT
from tests.liars.stage import play
from tests.liars.wrappers import OnOne

BLANKS = (ops.Create(SHORT), ops.Append(Rows(SHORT, ((1, "ab   "),))), ops.Append(Rows(SHORT, ((2, "abc"),))))


class CutsBlanks(OnOne):
    """Stores three code points of each text."""

    def crook(self, operation, snapshot, tag):
        return self.write_rows(snapshot, *((number, text[:3]) for number, text in operation.rows.rows))


class StoresBlanks(OnOne):
    """Stores texts as they are."""

    def crook(self, operation, snapshot, tag):
        return self.write_rows(snapshot, *operation.rows.rows)


def test_blanks_may_be_cut(tmp_path):
    played = play(CutsBlanks(), tmp_path / "table", BLANKS)
    assert played.broken == set(), played.told()


def test_blanks_that_are_stored_break_the_length_and_nothing_else(tmp_path):
    played = play(StoresBlanks(), tmp_path / "table", BLANKS)
    assert played.broken == {"outcome.too-long-refused"}, played.told()
    assert len(played.judged) == len(BLANKS)
