"""The bounds of variants: their spelling, and the paths that they may have."""

from __future__ import annotations

import struct
import uuid

import pytest

from delta_models import variants
from delta_models.log.validity.variant_bounds import decode_bound, judge_bounds, kind_of, parse_path
from delta_models.values import Decimal
from delta_models.variants import Scalar
from tests.damaged_logs.damaged_variants import EXAMPLE, HIGH, LOW, encode_bound, write_parsed_bounds

BINARY, UUID, TIMESTAMP, TIMESTAMP_NANOS = 15, 20, 12, 18


@pytest.mark.parametrize(("form", "tree"), ((EXAMPLE["minValues"], LOW), (EXAMPLE["maxValues"], HIGH)))
def test_the_examples_of_the_protocol_have_the_value_first_and_a_shortened_block(form, tree):
    assert decode_bound(form) == tree
    assert decode_bound(encode_bound(tree)) == tree


@pytest.mark.parametrize(
    ("form", "tree"),
    (
        ("0rJle5HpNdvKCC=cU1JfbWhT8cTu=P0rrAa6C{&J00000001D+x(kIzBAh8kx8?]i", LOW),
        (
            "0rSrd6cwG7cU3y^wg7UdtpjcbtQKOut{JS4vj(1pu0wW7t(>9f009Yj2]:Y-000000000o0rr910000082<Nn%nSc0@@r30",
            {"$['a.b']['']": -2, r"$['c\\d']": 3, r"$['it\'s']": 1},
        ),
    ),
)
def test_delta_spark_has_the_metadata_first_and_fills_the_last_block(form, tree):
    assert decode_bound(form) == tree


def test_every_object_is_found_with_either_part_first():
    for tree in ({}, {"$": 1}, {f"$['{number}']": "x" * number for number in range(300)}):
        metadata, value = variants.encode(tree)
        for data in (metadata + value, value + metadata):
            assert variants.decode(variants.split(data + b"\0\0")) == tree


@pytest.mark.parametrize(
    "form", (7, None, {}, "", "0", "0S&u5", "0S&u\u00e9", "#####", EXAMPLE["minValues"][:30])
)
def test_what_is_no_variant_is_no_bound(form):
    with pytest.raises(ValueError, match=r"variant|Z85|it is"):
        decode_bound(form)


@pytest.mark.parametrize(
    ("text", "path"),
    (
        ("$", ()),
        ("$['a']", ("a",)),
        ("$['a'][10]['']", ("a", 10, "")),
        (r"$['it\'s']['\\']['\n\u001f']", ("it's", "\\", "\n\x1f")),
        ("$['\u00fc\U0001f600\"']", ('\u00fc\U0001f600"',)),
        ("a", None),
        ("$.a", None),
        ('$["a"]', None),
        ("$['a'", None),
        ("$['a']b", None),
        ("$[01]", None),
        ("$[-1]", None),
        (r"$['\u0041']", None),
        (r"$['\u001F']", None),
        (r"$['\u000a']", None),
        ("$['\n']", None),
        ("$[*]", None),
    ),
)
def test_a_path_is_normalized_or_no_path(text, path):
    assert parse_path(text) == path


def test_numbers_of_all_widths_are_of_one_type_and_dates_are_not():
    assert {kind_of(value) for value in (1, 2**40, Decimal(15, 1))} == {"exact number"}
    assert kind_of(True) == "boolean"
    assert kind_of(Scalar(TIMESTAMP, b"")) == kind_of(Scalar(TIMESTAMP_NANOS, b"")) == "timestamp"
    assert kind_of(Scalar(11, b"")) == "date"


def found(low, high, *trees, tight=True):
    present = [variants.encode(tree) for tree in trees]
    below, above = (None if each is None else encode_bound(each) for each in (low, high))
    return [rule for rule, wrong in judge_bounds(below, above, present, tight=tight) if wrong is not None]


def test_whole_and_decimal_numbers_are_compared_by_value():
    values = ({"a": 1}, {"a": Decimal(150, 2)}, {"a": 2**40})
    assert found({"$['a']": Decimal(10, 1)}, {"$['a']": 2**40}, *values) == []
    assert found({"$['a']": Decimal(11, 1)}, None, *values) == ["stats.variant-min-values"]
    assert found(None, {"$['a']": Decimal(15, 1)}, *values) == ["stats.variant-max-values"]


def test_nanoseconds_are_bounded_by_microseconds():
    nanos = Scalar(TIMESTAMP_NANOS, struct.pack("<q", 5_000_000_001))
    for micros, broken in ((5_000_000, []), (5_000_001, ["stats.variant-min-values"])):
        assert found({"$": Scalar(TIMESTAMP, struct.pack("<q", micros))}, None, nanos) == broken


@pytest.mark.parametrize("kind", (BINARY, UUID))
def test_what_has_no_order_is_held_to_its_type_only(kind):
    low, high = Scalar(kind, uuid.UUID(int=1).bytes), Scalar(kind, uuid.UUID(int=2).bytes)
    assert found({"$": high}, {"$": low}, low, high) == []
    assert found({"$": high}, None, 1) == ["stats.variant-bounds-one-type"]


def test_a_bound_over_objects_or_lists_is_of_another_type():
    assert found({"$['a']": 1}, None, {"a": {"b": 1}}) == ["stats.variant-bounds-one-type"]
    assert found({"$": 1}, None, [1, 2]) == ["stats.variant-bounds-one-type"]


def test_wide_bounds_may_be_no_value_and_still_bound():
    values = ({"a": 2}, {"a": 3})
    assert found({"$['a']": 1}, {"$['a']": 9}, *values, tight=False) == []
    assert found({"$['a']": 1}, {"$['a']": 9}, *values) == ["stats.variant-tight-bounds"] * 2
    assert found({"$['a']": 3}, {"$['a']": 9}, *values, tight=False) == ["stats.variant-min-values"]


def test_bounds_that_are_no_object_are_reported_and_not_checked_further():
    assert found([1], 7, {"a": 1}) == ["stats.variant-bounds-by-path"] * 2


def test_bounds_as_columns_say_what_those_as_text_say(table):
    write_parsed_bounds(table, **variants.encode(LOW | {"$['a']": "other"})._asdict())
    assert table.violations() == ["checkpoint.parsed-stats-agree"]
