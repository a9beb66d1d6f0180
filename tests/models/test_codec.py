"""The JSON form of operations, outcomes and expressions."""

import json

import pytest

from delta_models import codec
from delta_models.expressions import Column, Compare, In, Literal
from delta_models.operations import (
    AddColumn,
    Append,
    AtState,
    Create,
    Interleave,
    Merge,
    MergeClause,
    Read,
    Restore,
    Update,
)
from delta_models.outcomes import REJECTIONS, Committed, Rejected
from delta_models.schema import DOUBLE, LONG, STRING, Array, DecimalType, Field, struct
from delta_models.values import Decimal, Rows

ROWS = Rows(
    struct(("id", LONG), ("price", DecimalType(5, 2)), ("x", DOUBLE)),
    ((2**62, Decimal(-5, 2), -0.0), (None, None, None)),
)
SOURCE, TARGET = Column(("source", "id")), Column(("target", "id"))
EXAMPLES = (
    Create(struct(Field("id", LONG, nullable=False)), ("id",), (("delta.checkpointInterval", "3"),)),
    Append(ROWS, files=2, transaction=("app", 7)),
    Merge(
        ROWS,
        Compare("=", SOURCE, TARGET),
        (MergeClause("matched", "delete"), MergeClause("not-matched", "insert")),
    ),
    Update((("id", Literal(LONG, 2**53 + 1)),), In(Column(("id",)), (Literal(LONG, 1),))),
    AddColumn(Field("tags", Array(STRING), metadata_json='{"comment":"x"}')),
    Restore(AtState(3)),
    Read(AtState(0), columns=("id",)),
    Interleave((Append(ROWS), Restore(AtState(1))), (0, 1, 1, 0)),
    Rejected("schema", "no such column"),
    Committed(),
)


@pytest.mark.parametrize("value", EXAMPLES, ids=lambda example: type(example).__name__)
def test_a_value_survives_its_json_text(value):
    assert codec.decode(json.loads(json.dumps(codec.encode(value)))) == value


def test_defaults_are_left_out_so_that_a_class_may_grow():
    assert codec.encode(Restore(AtState(3))) == {"is": "Restore", "at": {"is": "AtState", "step": 3}}
    assert codec.encode(Read()) == {"is": "Read"}


def test_long_integers_and_decimals_keep_every_digit():
    form = codec.encode(ROWS)
    assert form["rows"] == [[str(2**62), "-0.05", "-0x0.0p+0"], [None, None, None]]


def test_rejections_are_classified_by_names_that_explain_themselves():
    assert all(REJECTIONS.values())
    assert "unclassified" in REJECTIONS


@pytest.mark.parametrize(
    ("form", "complaint"),
    (
        ({"is": "Explode"}, "unknown kind 'Explode'"),
        ({"op": "Append"}, "an object without 'is'"),
        ({"is": "Restore"}, "malformed Restore"),
        ({"is": "Restore", "at": {"is": "AtState", "step": 3}, "more": 1}, "malformed Restore"),
        ({"is": "Rows", "schema": "long", "rows": []}, "long is no schema"),
        ({"is": "Literal", "type": "frob", "value": 1}, "malformed Literal: unknown type 'frob'"),
        (
            {"is": "Field", "of": {"type": "struct", "fields": []}},
            "a field is written as a struct of one field",
        ),
    ),
)
def test_what_is_not_of_the_vocabulary_is_refused_with_its_name(form, complaint):
    with pytest.raises(codec.CodecError, match=complaint):
        codec.decode(form)


def test_what_is_no_part_of_the_vocabulary_is_not_written():
    with pytest.raises(codec.CodecError, match="object is not part of the vocabulary"):
        codec.encode(object())
