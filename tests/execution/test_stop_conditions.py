"""After which violations a copy continues: those that disturb no later step."""

from __future__ import annotations

from conformance.execution.stop_conditions import ViolationDeduplicator
from delta_adapters.reference.files import Layout
from delta_models import operations as ops
from delta_models.requirements import Violation
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


class TestFilesThatStay:
    """A file of the log is wrong for as long as it is there. The engine that wrote it is charged, and once."""

    def test_only_the_engine_that_wrote_a_file_is_charged_with_it(self, tmp_path):
        checkpoint = tmp_path / "_delta_log" / "00000000000000000001.checkpoint.parquet"
        checkpoint.parent.mkdir()
        checkpoint.write_bytes(b"parsed")
        wrong = (Violation("checkpoint.omits-parsed-stats", "stats_parsed", checkpoint.name),)
        reported = ViolationDeduplicator(tmp_path)
        assert reported.select_new("delta-spark", wrong) == wrong
        assert reported.select_new("delta-rs", wrong) == ()
        assert reported.select_new("delta-spark", wrong) == ()

    def test_an_engine_that_writes_the_file_again_answers_for_its_own(self, tmp_path):
        hint = tmp_path / "_delta_log" / "_last_checkpoint"
        hint.parent.mkdir()
        hint.write_text("one")
        wrong = (Violation("checkpoint.hint-names-checkpoint", "there is none", hint.name),)
        reported = ViolationDeduplicator(tmp_path)
        assert reported.select_new("delta-spark", wrong) == wrong
        hint.write_text("another")
        assert reported.select_new("delta-rs", wrong) == wrong
        assert reported.select_new("delta-rs", wrong) == ()

    def test_what_is_no_file_of_the_log_is_told_of_each_engine(self, tmp_path):
        wrong = (Violation("write.schema", "another", "after Overwrite"),)
        reported = ViolationDeduplicator(tmp_path)
        assert reported.select_new("delta-spark", wrong) == wrong
        assert reported.select_new("delta-rs", wrong) == wrong
