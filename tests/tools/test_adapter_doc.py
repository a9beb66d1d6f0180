"""`docs/writing-an-adapter.md` lists what the code takes: operations, claims, and what each claim brings."""

from __future__ import annotations

import dataclasses
import subprocess
import sys
from pathlib import Path

import pytest

from conformance.generation import RandomChoices
from conformance.generation.operations import draw_operation
from conformance.generation.table_profiles import PROFILES
from conformance.generation.table_shapes import draw_shape
from conformance.planning.claims import known_engines
from delta_adapters.capabilities import ANY, OPTIONS, BadCapabilities, Capabilities, options_of
from delta_adapters.registry import KNOWN
from delta_models.table import ModelHistory
from delta_models.wire_names import ALPHABET, name_of

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "writing-an-adapter.md").read_text("utf-8")


def test_its_lists_are_up_to_date():
    tool = [sys.executable, str(ROOT / "tools" / "adapter_doc.py"), "--check"]
    done = subprocess.run(tool, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_it_has_every_operation_that_an_engine_of_the_project_claims_with_its_fields():
    listed = PAGE.partition("<!-- operations:")[2].partition("<!-- end of operations")[0]
    rows = {line.split("`")[1]: line for line in listed.splitlines() if line.startswith("| `")}
    for engine in known_engines(KNOWN):
        for name in engine.capabilities.operations:
            assert all(f"`{field.name}`" in rows[name] for field in dataclasses.fields(ALPHABET[name])), name


def test_each_option_that_an_engine_of_the_project_claims_is_one_of_the_list():
    for engine in known_engines(KNOWN):
        for name, options in engine.capabilities.operations.items():
            assert options - {ANY} <= set(OPTIONS.get(name, ())), (engine.name, name)


@pytest.mark.parametrize("table", sorted(PROFILES))
def test_each_option_that_is_drawn_is_one_of_the_list(table):
    for number in range(6):
        choices = RandomChoices(number)
        shape, history = draw_shape(choices, PROFILES[table]), ModelHistory()
        for _ in range(15):
            operation = draw_operation(choices, history, shape)
            assert options_of(operation) <= set(OPTIONS.get(name_of(operation), ())), operation
            history = history.after(operation)


@pytest.mark.parametrize(
    ("operations", "words"),
    (
        ({"Delte": {}}, r"an operation Delte \(is Delete meant\?\)"),
        ({"Read": {"options": ["wher"]}}, r"Read with wher \(its options: version, time, where, columns\)"),
    ),
)
def test_a_claim_of_what_does_not_exist_is_refused(operations, words):
    document = {
        "format": 1, "operations": operations, "types": {"data": ["long"], "partition": []},
        "features": {"read": [], "write": []}, "storages": ["local"],
        "guarantees": {"commits-of-several-processes-on-local-files": False},
    }  # fmt: skip
    with pytest.raises(BadCapabilities, match=words):
        Capabilities.validated(document)
