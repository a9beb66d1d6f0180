"""An engine on a JVM that the user named plays in every suite that was asked for."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from conformance.options import RunOptions
from conformance.planning.plan import make_plan, plan_run, with_asked_engines
from conformance.planning.profile import load_profile
from delta_adapters.registry import parse_engine


@cache
def plan(*engines: str, **options):
    return plan_run(RunOptions(Path(), engines=engines, **options))


def heavy(planned, suite):
    return sum(len(chunk.heavy) for chunk in planned.chunks if chunk.suite == suite)


@pytest.mark.parametrize("engine", ("pyspark", "delta-spark"))
def test_an_engine_on_a_jvm_has_a_bounded_share_of_crashes_and_races(engine):
    planned = plan(engine, "delta-rs", suites=("crashes", "races"))
    assert (heavy(planned, "crashes"), heavy(planned, "races")) == (1, 2)


def test_a_run_with_the_default_engines_plays_what_the_profile_says():
    assert heavy(plan(), "crashes") == heavy(plan(), "races") == 0


def test_engines_without_a_jvm_change_no_chunk():
    chunks = plan("delta-rs").chunks
    assert with_asked_engines(chunks, [parse_engine("delta-rs"), parse_engine("reference")]) == chunks


def test_a_suite_with_histories_for_a_jvm_keeps_them():
    chunks = make_plan(load_profile("nightly"), 1, engines=("delta-spark",)).chunks
    assert with_asked_engines(chunks, [parse_engine("delta-spark")]) == chunks


def test_the_seeds_and_the_numbers_of_the_chunks_stay():
    chunks = plan().chunks
    changed = with_asked_engines(chunks, [parse_engine("pyspark")])
    assert changed != chunks
    assert [replace(chunk, heavy=()) for chunk in changed] == [replace(chunk, heavy=()) for chunk in chunks]
