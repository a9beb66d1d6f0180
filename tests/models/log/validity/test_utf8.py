"""Texts that are not UTF-8: the reader keeps them, a rule reports them, and engines handle them."""

from __future__ import annotations

import pytest

from delta_adapters.arrow_rows import to_arrow
from delta_adapters.delta_rs import DeltaRs
from delta_adapters.reference import Reference
from delta_models.expressions import Column, Compare, IsNotNull, Literal
from delta_models.log import LogReader
from delta_models.log.parquet import arrow_to_rows
from delta_models.log.validity import data_breaches
from delta_models.log.validity.utf8 import foreign_texts, holds_texts
from delta_models.operations import Delete, Read
from delta_models.outcomes import Committed, Rejected
from delta_models.schema import LONG, STRING, Array, Map, struct
from delta_models.values import Rows

SCHEMA = struct(("id", LONG), ("text", STRING))
# A byte that begins nothing, a lone surrogate, a character spelt longer than needed, and half of one.
FOREIGN = ("a\udcff", "\udced\udca0\udc80", "\udcc0\udc80", "\udce6\udc97")
ROWS = (*enumerate(FOREIGN), (8, "日本😀\ud7ff\ue000"), (9, None))
FIRST = Compare("=", Column(("id",)), Literal(LONG, 0))


@pytest.fixture
def folder(table):
    fields = [
        {"name": field.name, "type": str(field.type), "nullable": True, "metadata": {}} for field in SCHEMA
    ]
    protocol = {"minReaderVersion": 1, "minWriterVersion": 2}
    table.create(protocol, fields=fields, partitionColumns=[], configuration={})
    table.write(table.file("a.parquet", to_arrow(Rows(SCHEMA, ROWS))))
    return table.folder


def test_they_are_read_byte_by_byte(folder):
    reader = LogReader(folder)
    assert reader.rows(reader.snapshot()).rows == ROWS
    assert ROWS[0][1].encode("utf-8", "surrogateescape") == b"a\xff"


def test_their_column_is_named(folder):
    reader = LogReader(folder)
    (commit,) = reader.commits(1, 1)
    (violation,) = data_breaches(reader, reader.snapshot(), commit)
    assert (violation.requirement, violation.columns) == ("log.texts-are-utf8", ("text",))


@pytest.mark.parametrize("text", ("", "日本", "😀", "\ud7ff", "\ue000", "\U0010ffff", "\x00", None))
def test_other_texts_are_utf8(text):
    assert list(foreign_texts(SCHEMA, ((1, text),))) == []


@pytest.mark.parametrize(
    ("of", "value"),
    (
        (struct(("x", STRING)), ("\udcff",)),
        (Array(STRING), (None, "\udcff")),
        (Map(STRING, LONG), (("\udcff", 1),)),
        (Map(LONG, Array(STRING)), ((1, ("\udcff",)),)),
    ),
    ids=str,
)
def test_they_are_found_inside_other_values(of, value):
    schema = struct(("id", LONG), ("inside", of))
    assert holds_texts(of)
    assert list(foreign_texts(schema, ((1, None), (2, value)))) == [("inside", "\udcff")]


def test_numbers_hold_no_texts():
    assert not holds_texts(Map(LONG, Array(LONG)))


def test_the_honest_engine_answers_with_their_bytes_and_rewrites_them_as_they_are(folder):
    engine = Reference()
    engine.open(str(folder))
    assert arrow_to_rows(engine.read(Read()).table, SCHEMA).rows == ROWS
    assert engine.execute(Delete(FIRST), "") == Committed()
    reader = LogReader(folder)
    assert sorted(reader.rows(reader.snapshot()).rows) == sorted(ROWS[1:])


def test_deltalake_answers_with_their_bytes_and_refuses_to_work_on_them(folder):
    engine = DeltaRs()
    engine.open(str(folder))
    assert arrow_to_rows(engine.read(Read()).table, SCHEMA).rows == ROWS
    for refused in (engine.read(Read(where=IsNotNull(Column(("text",))))), engine.execute(Delete(FIRST), "")):
        assert isinstance(refused, Rejected)
        assert "UTF-8" in refused.message
