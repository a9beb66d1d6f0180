"""Delta types and their serialization format."""

import pytest

from delta_models.schema import (
    BINARY,
    LONG,
    STRING,
    Array,
    DecimalType,
    Field,
    Map,
    SchemaError,
    Struct,
    parse,
    parse_schema,
    schema_string,
    struct,
    to_json,
)

NESTED = struct(
    ("id", LONG),
    Field("price", DecimalType(38, 18), nullable=False),
    Field("tags", Map(STRING, Array(struct(("x", BINARY)), contains_null=False), value_contains_null=False)),
    Field("renamed", STRING).with_metadata({"delta.columnMapping.id": 4, "comment": "ü"}),
)


def test_a_nested_schema_survives_its_schema_string():
    assert parse_schema(schema_string(NESTED)) == NESTED


def test_a_field_is_written_as_the_protocol_says():
    assert to_json(struct(("id", LONG))) == {
        "type": "struct",
        "fields": [{"name": "id", "type": "long", "nullable": True, "metadata": {}}],
    }


def test_metadata_differs_by_content_and_not_by_the_order_of_its_keys():
    first = Field("a", LONG).with_metadata({"x": 1, "y": 2})
    assert first == Field("a", LONG).with_metadata({"y": 2, "x": 1})
    assert first != Field("a", LONG).with_metadata({"y": 2, "x": 3})


def test_columns_are_found_without_regard_to_case():
    assert NESTED["PRICE"].name == "price"


def test_a_missing_column_is_named_together_with_those_that_exist():
    with pytest.raises(KeyError, match=r"no column 'nope'; there are 'id', 'price'"):
        NESTED["nope"]


@pytest.mark.parametrize(
    "form", ("int", "decimal(10)", "decimal(a,b)", {"type": "array"}, {"type": "struct"}, None, 7, {})
)
def test_what_is_no_delta_type_is_refused(form):
    with pytest.raises(SchemaError):
        parse(form)


@pytest.mark.parametrize("text", ("{", '"long"', '{"type":"struct","fields":[{"type":"long"}]}'))
def test_what_is_no_schema_is_refused(text):
    with pytest.raises(SchemaError):
        parse_schema(text)


def test_an_empty_struct_is_a_schema():
    assert parse_schema(schema_string(Struct())) == Struct()
