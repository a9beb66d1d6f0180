"""A fingerprint depends on the requirement, the engine and the kind of step, not on what differs between runs."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from typing import Any

import pytest

from conformance.findings import FindingKey, key_of
from delta_models import operations as ops
from delta_models.outcomes import Rejected
from delta_models.requirements import Violation
from tests.findings.samples import finding
from tests.mutants import stories
from tests.mutants.tampered import observe

KEY = finding().key


def test_it_is_eight_hexadecimal_digits():
    assert len(KEY.fingerprint) == 8
    assert int(KEY.fingerprint, 16) >= 0


def test_it_is_the_same_in_another_process():
    code = f"from conformance.findings import FindingKey; print({KEY!r}.fingerprint)"
    environment = {"PYTHONHASHSEED": "77", "PATH": "/usr/bin"}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment
    )
    assert done.stdout.strip() == KEY.fingerprint


@pytest.mark.parametrize("part", ("requirement", "engine", "operation", "outcome"))
def test_every_word_of_the_key_counts(part):
    changes: Any = {part: "other"}
    assert replace(KEY, **changes).fingerprint != KEY.fingerprint


@pytest.mark.parametrize("part", ("options", "features", "types"))
def test_every_list_of_the_key_counts(part):
    changes: Any = {part: ("other",)}
    assert replace(KEY, **changes).fingerprint != KEY.fingerprint


def test_neither_version_nor_words_nor_data_count(tmp_path):
    observation = observe("contents.cluster", tmp_path, broken=True)
    first = key_of(observation, Violation("contents.append", "one row", "version 1"))
    other = replace(observation, engine="reference@2.0", step=9)
    assert key_of(other, Violation("contents.append", "another row", "version 7")) == first


def test_the_kind_of_a_refusal_counts_and_its_words_do_not(tmp_path):
    observation = observe("contents.cluster", tmp_path, broken=True)
    keys = [
        key_of(replace(observation, outcome=outcome), Violation("outcome.allowed", ""))
        for outcome in (Rejected("schema", "a"), Rejected("schema", "b"), Rejected("io", "a"))
    ]
    assert keys[0] == keys[1] != keys[2]


def test_a_wrong_answer_is_keyed_by_its_read_not_by_the_step_before(tmp_path):
    observation = observe("contents.cluster", tmp_path, broken=True)
    violation = Violation("read.filter", "", read=ops.Read(where=stories.SMALL))
    key = key_of(observation, violation)
    assert (key.operation, key.options, key.types) == ("Read", ("where",), ("long",))
    assert key == key_of(replace(observation, operation=ops.Vacuum()), violation)


def test_columns_that_a_violation_names_give_its_types(tmp_path):
    observation = observe("contents.cluster", tmp_path, broken=True)
    assert key_of(observation, Violation("stats.num-records", "", columns=("price", "NAME"))).types == (
        "double",
        "string",
    )


def test_a_key_survives_its_json():
    fields: Any = {
        name: tuple(value) if isinstance(value, list) else value for name, value in KEY.to_json().items()
    }
    assert FindingKey(**fields) == KEY
