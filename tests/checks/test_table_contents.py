"""CHAR and VARCHAR: an engine may cut or store blanks at the end, and the check accepts the one that it did."""

from __future__ import annotations

from delta_adapters.reference import Reference
from delta_models import operations as ops
from delta_models.schema import LONG, Struct, struct
from delta_models.table.char_varchar import char_field
from delta_models.values import Rows
from tests.mutants.outcomes import SHORT
from tests.mutants.stage import play
from tests.mutants.wrappers import WrongOperation

BLANKS = (ops.Create(SHORT), ops.Append(Rows(SHORT, ((1, "ab   "),))), ops.Append(Rows(SHORT, ((2, "abc"),))))


WIDE = Struct((*struct(("id", LONG)).fields, char_field("text", 3)))
FILLED = (ops.Create(WIDE), ops.Append(Rows(WIDE, ((1, "a"), (2, ""), (3, "abc")))))


class CutsBlanks(WrongOperation):
    """Stores three code points of each text."""

    def perform_wrongly(self, operation, snapshot, tag):
        return self.write_rows(snapshot, *((number, text[:3]) for number, text in operation.rows.rows))


class StoresBlanks(WrongOperation):
    """Stores texts as they are."""

    def perform_wrongly(self, operation, snapshot, tag):
        return self.write_rows(snapshot, *operation.rows.rows)


def test_blanks_may_be_cut(tmp_path):
    played = play(CutsBlanks(), tmp_path / "table", BLANKS)
    assert played.broken == set(), played.describe()


def test_stored_blanks_violate_the_length_and_nothing_else(tmp_path):
    played = play(StoresBlanks(), tmp_path / "table", BLANKS)
    assert played.broken == {"outcome.too-long-refused"}, played.describe()
    assert len(played.result) == len(BLANKS)


class FillsInFront(WrongOperation):
    """Puts the blanks that a text lacks in front of it."""

    def perform_wrongly(self, operation, snapshot, tag):
        return self.write_rows(snapshot, *((number, text.rjust(3)) for number, text in operation.rows.rows))


def test_a_char_may_be_stored_with_or_without_its_blanks(tmp_path):
    for name, engine in (("as it is", StoresBlanks()), ("filled up", Reference())):
        played = play(engine, tmp_path / name, FILLED)
        assert played.broken == set(), played.describe()
        assert len(played.result) == len(FILLED)


def test_blanks_in_front_are_another_text(tmp_path):
    assert "contents.append" in play(FillsInFront(), tmp_path / "table", FILLED).broken
