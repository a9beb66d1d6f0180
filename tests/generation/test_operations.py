"""Everything that an engine claims is drawn by some profile."""

from __future__ import annotations

from collections import defaultdict
from importlib import resources
from typing import Any

import pytest

from conformance.generation import PROFILES, RandomChoices, draw_operation, draw_shape
from conformance.generation.feature_bundles import FEATURES
from conformance.generation.operations import MAKERS
from conformance.generation.races import TABLES
from conformance.planning.profile import load_profile, profile_names
from conformance.suites.crashes.scenarios import scenarios_of
from conformance.suites.races.suite import EVERY_ORDER
from delta_adapters.capabilities import ANY, options_of
from delta_adapters.delta_rs import DeltaRs
from delta_adapters.reference import Reference
from delta_models.table import ModelHistory
from delta_models.wire_names import ALPHABET, name_of

HISTORIES, STEPS = 30, 25
ELSEWHERE = {
    "Reopen": "the machine draws it, after a sixth of all steps",
    "SwitchActor": "on a shared table every step is drawn with its slot",
    "AdvanceClock": "the clock belongs to the turnstile",
    "Pour": "the suite of crashes has its own stories",
    "Interleave": "the suite of races has its own histories",
    **dict.fromkeys(
        ("KillAt", "FailAt", "LoseReplyAt", "TearAt", "DeadTableAt", "DamageFile"),
        "the suite of crashes has its own",
    ),
}
OPTIONS_ELSEWHERE = {
    ("Create", "cluster-by"): "clustering is chosen by Cluster",
    ("Replace", "cluster-by"): "the same",
    ("Overwrite", "by-position"): "by position is drawn for appends",
    ("Overwrite", "schema-merge"): "schemas grow by appends and merges",
    ("Overwrite", "transaction"): "transaction ids are drawn for appends",
    ("Overwrite", "files"): "several files are drawn for appends",
    ("AddColumn", "parent"): "drawn where a struct is, which is seldom",
    ("Detail", "version"): "asked about reference tables, in conformance/corpus/expected_states.py",
    ("Detail", "time"): "the same",
    ("DropFeature", "truncate-history"): "takes a day until it may succeed",
}

Drawn = dict[str, set[str]]


@pytest.fixture(scope="module")
def drawn() -> Drawn:
    """The options with which each operation occurs in the table profiles of `dev`."""
    options: Drawn = defaultdict(set)
    plan = load_profile("dev").suite("lockstep")
    assert plan is not None
    for name in ("dev", *plan.tables):
        for number in range(HISTORIES):
            choices, model_history = RandomChoices(number), ModelHistory()
            shape = draw_shape(choices, PROFILES[name])
            for _ in range(STEPS):
                operation = draw_operation(choices, model_history, shape)
                options[name_of(operation)] |= options_of(operation) | {""}
                model_history = model_history.after(operation)
    return options


def documents() -> dict[str, Any]:
    import json  # noqa: PLC0415 - for one document

    spark = resources.files("delta_adapters.delta_spark").joinpath("capabilities.json").read_text("utf-8")
    return {
        "reference": Reference().capabilities,
        "delta-rs": DeltaRs().capabilities,
        "delta-spark": json.loads(spark),
    }


def test_every_letter_of_the_alphabet_is_drawn_or_said_to_be_drawn_elsewhere(drawn):
    assert {name for name in ALPHABET if name not in drawn} == set(ELSEWHERE)


@pytest.mark.parametrize("engine", ("reference", "delta-rs", "delta-spark"))
def test_what_an_engine_claims_is_drawn(engine, drawn):
    claimed = documents()[engine]["operations"]
    never = {
        (name, option)
        for name, said in claimed.items()
        if name not in ELSEWHERE
        for option in ("", *said.get("options", ()))
        if option != ANY and option not in drawn[name]
    }
    assert never - set(OPTIONS_ELSEWHERE) == set()


@pytest.mark.parametrize("name", profile_names())
def test_a_profile_names_table_profiles_that_there_are(name):
    for suite in load_profile(name).suites:
        drawn = {table for table in suite.tables if not scenarios_of(table)}
        assert drawn <= {*PROFILES, *EVERY_ORDER, *TABLES}


def test_every_feature_stands_in_a_table_profile_and_names_operations_that_can_be_drawn():
    used = {
        name
        for profile in PROFILES.values()
        for name in (*profile.features, *(other for other, _ in profile.others))
    }
    assert used == set(FEATURES)
    for feature in FEATURES.values():
        assert {name for name, _ in feature.operations} <= set(MAKERS)
