"""Column names in assignments resolve as Spark resolves them."""

from __future__ import annotations

import pytest
from pyspark.sql.types import LongType, StringType, StructField, StructType

from pyspark_delta.commands.assignments import _resolve, parse_name
from pyspark_delta.exceptions import InvalidArgument

SCHEMA = StructType(
    [
        StructField("id", LongType()),
        StructField("a.b", LongType()),
        StructField("S", StructType([StructField("x", StringType()), StructField("y`z", StringType())])),
    ]
)


@pytest.mark.parametrize(
    ("text", "parts"),
    (
        ("id", ("id",)),
        ("s.x", ("s", "x")),
        ("`a.b`", ("a.b",)),
        ("t.`a.b`.c", ("t", "a.b", "c")),
        ("`y``z`", ("y`z",)),
        (" id ", ("id",)),
    ),
)
def test_dots_separate_parts_except_between_backticks(text, parts):
    assert parse_name(text) == parts


@pytest.mark.parametrize("text", ("", "a..b", "a.", "`a", "`a`b", "``"))
def test_what_is_no_name_is_refused(text):
    with pytest.raises(InvalidArgument):
        parse_name(text)


@pytest.mark.parametrize(
    ("parts", "alias", "path"),
    (
        (("ID",), None, ("id",)),
        (("s", "X"), None, ("S", "x")),
        (("t", "s", "x"), "T", ("S", "x")),
        (("a.b",), None, ("a.b",)),
        (("t", "id"), None, None),
        (("s", "nope"), None, None),
        (("id", "x"), None, None),
    ),
)
def test_names_are_found_whatever_their_case_and_with_or_without_the_alias(parts, alias, path):
    assert _resolve(parts, SCHEMA, alias, case_sensitive=False) == path


def test_where_case_counts_other_spellings_are_other_names():
    assert _resolve(("ID",), SCHEMA, None, case_sensitive=True) is None
    assert _resolve(("id",), SCHEMA, None, case_sensitive=True) == ("id",)
