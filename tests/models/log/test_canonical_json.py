"""The canonical form and checksum of a JSON document."""

from __future__ import annotations

import json

import pytest

from delta_models.log import canonical_json

EXAMPLE = (
    '{"k0":"\'v 0\'", "checksum": "adsaskfljadfkjadfkj", "k1":{"k2": 2, "k3": ["v3", [1, 2], '
    '{"k4": "v4", "k5": ["v5", "v6", "v7"]}]}}'
)


def test_the_example_of_the_protocol_has_its_canonical_form_and_checksum():
    assert canonical_json.canonical(EXAMPLE) == (
        '"k0"="%27v%200%27","k1"+"k2"=2,"k1"+"k3"+0="v3","k1"+"k3"+1+0=1,"k1"+"k3"+1+1=2,'
        '"k1"+"k3"+2+"k4"="v4","k1"+"k3"+2+"k5"+0="v5","k1"+"k3"+2+"k5"+1="v6","k1"+"k3"+2+"k5"+2="v7"'
    )
    assert canonical_json.checksum(EXAMPLE) == "6a92d155a59bf2eecbd4b4ec7fd1f875"


def test_numbers_and_literals_stand_as_they_are_written():
    text = '{"b": 1.50, "a": [true, null, -0, 1e5], "c": "\u00e4~"}'
    assert canonical_json.canonical(text) == '"a"+0=true,"a"+1=null,"a"+2=-0,"a"+3=1e5,"b"=1.50,"c"="%C3%A4~"'


def test_a_key_that_stands_twice_is_an_error():
    with pytest.raises(canonical_json.DuplicateKey):
        canonical_json.canonical('{"a": 1, "a": 1}')


def test_only_the_checksum_of_the_top_is_left_out():
    assert canonical_json.canonical(json.dumps({"checksum": 1, "x": {"checksum": 2}})) == '"x"+"checksum"=2'
