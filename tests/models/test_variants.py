"""Equal variants have one canonical form, whatever their encoding and shredding."""

from __future__ import annotations

import datetime as dt
import decimal
from typing import Any

import pyarrow as pa
import pytest

from delta_models import variants
from delta_models.log.parquet import column_values
from delta_models.schema import VARIANT
from delta_models.values import Decimal, Variant

TREES: tuple[Any, ...] = (
    None,
    True,
    False,
    0,
    -129,
    1 << 40,
    -(1 << 63),
    "",
    "ä" * 40,
    "x" * 63,
    Decimal(125, 2),
    Decimal(-(10**37), 5),
    variants.Scalar(variants.DOUBLE, b"\0" * 8),
    variants.Scalar(variants.BINARY, b"ab"),
    [],
    {},
    [1, [None, {"a": []}]],
    {"b": 1, "a": {"b": "x", "z": [1.0 > 0]}},
    list(range(300)),
    {f"key {number}": number for number in range(300)},
)


@pytest.mark.parametrize("tree", TREES, ids=repr)
def test_a_tree_survives_its_encoding(tree):
    assert variants.decode(variants.encode(tree)) == tree


def test_numbers_of_all_widths_are_one_number():
    wide = Variant(b"\x01\0\0", b"\x18" + (5).to_bytes(8, "little"))
    assert variants.canonical(wide) == Variant(b"\x01\0\0", b"\x0c\x05")


def test_unused_names_and_another_order_of_names_do_not_count():
    # The dictionary is (z, a); the object {a: true} names the second one.
    one = Variant(b"\x01\x02\0\1\2za", b"\x02\x01\x01\0\x01\x04")
    assert variants.decode(one) == {"a": True}
    assert variants.canonical(one) == variants.encode({"a": True})


def test_long_and_short_strings_are_one_string():
    assert variants.canonical(Variant(b"\x01\0\0", b"\x40\1\0\0\0x")) == variants.encode("x")


@pytest.mark.parametrize("value", (b"", b"\x18\1", b"\x02\5", b"\xfc", b"\x0dab"))
def test_what_is_no_variant_is_named(value):
    with pytest.raises(variants.MalformedVariant):
        variants.decode(Variant(b"\x01\0\0", value))


def group(**fields):
    return pa.struct([("metadata", pa.binary()), ("value", pa.binary()), *fields.items()])


def test_shredded_scalars_are_the_values_that_they_were():
    when = dt.datetime(2024, 2, 29, 12, tzinfo=dt.UTC)
    cases = (
        (pa.int64(), 5, 5),
        (pa.string(), "x", "x"),
        (pa.bool_(), True, True),
        (pa.decimal128(9, 2), decimal.Decimal("1.25"), Decimal(125, 2)),
        (pa.date32(), dt.date(1970, 1, 3), variants.Scalar(variants.DATE, b"\2\0\0\0")),
        (
            pa.timestamp("us", "UTC"),
            when,
            variants.Scalar(variants.TIMESTAMP, (1_709_208_000_000_000).to_bytes(8, "little")),
        ),
    )
    for arrow_type, stored, tree in cases:
        form = {"metadata": b"\x01\0\0", "value": None, "typed_value": stored}
        array = pa.array([form, None], group(typed_value=arrow_type))
        assert column_values(array, VARIANT) == [variants.encode(tree), None]


def test_what_does_not_fit_the_type_stands_beside_it():
    other = variants.encode("text")
    array = pa.array([{"metadata": other.metadata, "value": other.value}], group(typed_value=pa.int64()))
    assert column_values(array, VARIANT) == [other]


def test_a_partly_shredded_object_is_put_together():
    tree = {"a": 7, "b": "left", "c": [1, None, "x"]}
    whole = variants.encode(tree)
    rest = Variant(whole.metadata, variants.encode({"b": "left"}).value)
    names = variants.decode_names(whole.metadata)
    assert names == ["a", "b", "c"]
    # The rest names its field by the dictionary of the whole: b is the second name.
    rest = Variant(whole.metadata, rest.value[:2] + b"\1" + rest.value[3:])
    inner = pa.struct([("value", pa.binary()), ("typed_value", pa.int64())])
    items = pa.struct([("value", pa.binary()), ("typed_value", pa.list_(inner))])
    typed = pa.struct([("a", inner), ("c", items), ("gone", inner)])
    null, text = b"\0", variants.encode("x").value
    form = {
        "metadata": whole.metadata,
        "value": rest.value,
        "typed_value": {
            "a": {"typed_value": 7},
            "c": {"typed_value": [{"typed_value": 1}, {"value": null}, {"value": text}]},
            "gone": {},
        },
    }
    array = pa.array([form], group(typed_value=typed))
    assert column_values(array, VARIANT) == [whole]
