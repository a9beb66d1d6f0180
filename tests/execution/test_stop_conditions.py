"""After which breaches a copy is played on: those that are in nobody's way."""

from __future__ import annotations

from delta_adapters.reference.files import Layout
from delta_models import operations as ops
from delta_models.schema import LONG, Field, Struct, struct
from delta_models.values import Rows
from tests.mutants.stage import play
from tests.mutants.wrappers import WrongOperation

ONE = struct(("id", LONG))
STEPS = (ops.Create(ONE), ops.Append(Rows(ONE, ((1,),))), ops.Append(Rows(ONE, ((2,),))))


class WritesOneMore(WrongOperation):
    """Each data file has a column that is none of the table's."""

    def perform_wrongly(self, operation, snapshot, tag):
        layout = Layout(Struct((*snapshot.schema.fields, Field("__more", LONG))), ())
        held = [(*row, 0) for row in operation.rows.rows]
        return self.commit_forms(snapshot, *self.write(layout, held, 1, data_change=True))


def test_a_column_that_is_none_of_the_tables_is_told_and_the_copy_played_on(tmp_path):
    played = play(WritesOneMore(), tmp_path / "table", STEPS)
    assert played.broken == {"log.added-file-columns-known"}, played.describe()
    assert len(played.result) == len(STEPS)
    assert len(played.result[-1].violations) == 1


class SpellsRaw(WrongOperation):
    """Paths in the log have their characters as they are."""

    def perform_wrongly(self, operation, snapshot, tag):
        layout = Layout(snapshot.schema, ())
        (written,) = self.write(layout, operation.rows.rows, 1, data_change=True)
        named = written["add"]["path"].replace(".parquet", "é.parquet")
        (self.folder / written["add"]["path"]).rename(self.folder / named)
        return self.commit_forms(snapshot, {"add": {**written["add"], "path": named}})


def test_a_path_in_raw_characters_is_told_and_the_copy_played_on(tmp_path):
    played = play(SpellsRaw(), tmp_path / "table", STEPS)
    assert played.broken == {"log.path-is-uri"}, played.describe()
    assert len(played.result) == len(STEPS)
