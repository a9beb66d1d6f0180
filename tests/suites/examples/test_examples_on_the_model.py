"""The worked examples agree with the model, and contain no impossible statements."""

from __future__ import annotations

import time
from dataclasses import replace
from functools import cache
from itertools import chain

import pytest

from conformance.suites.examples import EXAMPLES, Example, Live, check_example_on_model
from delta_models.codec import decode, encode
from delta_models.operations import Read
from delta_models.schema import Struct

NAMES = sorted(EXAMPLES)


@cache
def example_called(name: str) -> Example:
    return EXAMPLES[name]()


@pytest.mark.parametrize("name", NAMES)
def test_the_model_agrees_with_every_step_and_takes_seconds_at_most(name: str) -> None:
    example = example_called(name)
    start = time.process_time()
    assert check_example_on_model(example) == []
    assert time.process_time() - start < 4
    assert example.name == name


@pytest.mark.parametrize("name", NAMES)
def test_live_files_were_added_by_steps_that_add_files(name: str) -> None:
    example = example_called(name)
    for number, step in enumerate(example.steps):
        for live in chain(*step.layouts(promises_vectors=False)):
            assert live.step <= number
            assert not isinstance(example.steps[live.step].operation, Read)
            assert live.step not in step.gone


def test_a_wrong_row_is_noticed() -> None:
    example = example_called("some-table")
    wrong_step = replace(example.steps[-1], rows=((11, "aa"),))
    problems = check_example_on_model(replace(example, steps=(*example.steps[:-1], wrong_step)))
    assert problems == ["some-table, step 3 (overwrite): the model has other rows: 2, not 1"]


def test_the_two_invoice_examples_differ_only_by_deletion_vectors() -> None:
    rewriting, vectors = example_called("invoices"), example_called("invoices-with-deletion-vectors")
    assert [step.says for step in rewriting.steps] == [step.says for step in vectors.steps]
    assert rewriting.steps[-1].live == (Live(4), Live(3), Live(5))
    assert vectors.steps[-1].live == (Live(1, hidden=1), Live(2, hidden=1), Live(3), Live(5))
    assert len(rewriting.steps[-1].rows or ()) == 99_457 - 1


def test_the_steps_of_an_example_have_a_json_form() -> None:
    for step in example_called("overwrite-then-vacuum").steps:
        assert decode(encode(step.operation)) == step.operation


def test_schemas_are_structs() -> None:
    assert all(isinstance(example_called(name).schema, Struct) for name in NAMES)
