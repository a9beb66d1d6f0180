"""After which violations a copy continues: those that disturb no later step."""

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
    """Writes data files with a column that the table does not have."""

    def perform_wrongly(self, operation, snapshot, tag):
        layout = Layout(Struct((*snapshot.schema.fields, Field("__more", LONG))), ())
        held = [(*row, 0) for row in operation.rows.rows]
        return self.commit_forms(snapshot, *self.write(layout, held, 1, data_change=True))


def test_an_unknown_column_is_reported_and_the_copy_continues(tmp_path):
    result = play(WritesOneMore(), tmp_path / "table", STEPS)
    assert result.broken == {"log.added-file-columns-known"}, result.describe()
    assert len(result.result) == len(STEPS)
    assert len(result.result[-1].violations) == 1


class SpellsRaw(WrongOperation):
    """Writes paths into the log without URI encoding."""

    def perform_wrongly(self, operation, snapshot, tag):
        layout = Layout(snapshot.schema, ())
        (written,) = self.write(layout, operation.rows.rows, 1, data_change=True)
        named = written["add"]["path"].replace(".parquet", "é.parquet")
        (self.folder / written["add"]["path"]).rename(self.folder / named)
        return self.commit_forms(snapshot, {"add": {**written["add"], "path": named}})


def test_an_unencoded_path_is_reported_and_the_copy_continues(tmp_path):
    result = play(SpellsRaw(), tmp_path / "table", STEPS)
    assert result.broken == {"log.path-is-uri"}, result.describe()
    assert len(result.result) == len(STEPS)
