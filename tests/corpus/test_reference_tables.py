"""The reference tables of others: every one is right, or named one by one."""

from __future__ import annotations

import time
from collections import Counter

import pytest

from conformance.corpus.cases import find
from conformance.corpus.exclusions import load_exclusions
from conformance.corpus.oracle import Oracle
from conformance.corpus.runner import ask
from tests.corpora import corpus

MOST_NAMED = {"acceptance": 17, "kernel-golden": 5, "connectors-golden": 5, "dat": 0}


def answers(name):
    oracle = Oracle()
    return [ask(oracle, each) for each in find([corpus(name)])]


def check(name, lines, count):
    assert [(line.question.case, line.verdict.why) for line in lines if line.verdict.result == "failed"] == []
    outside = sum(line.verdict.result == "out of scope" for line in lines)
    assert outside <= MOST_NAMED[name]
    assert len(lines) == count


def test_dat_is_right_with_its_metadata():
    check("dat", answers("dat"), 29)


@pytest.mark.slow
def test_acceptance_is_right_but_for_what_is_named_within_three_minutes_of_one_core():
    began = time.process_time()
    lines = answers("acceptance")
    assert time.process_time() - began < 180
    check("acceptance", lines, 1733)
    assert Counter(line.question.kind for line in lines) == {
        "read": 971, "snapshot": 707, "cdf": 31, "domain_metadata": 10, "snapshotConstruction": 11, "txn": 3,
    }  # fmt: skip
    assert sum("error" in line.question.form for line in lines) == 31


@pytest.mark.slow
@pytest.mark.parametrize(("name", "count"), (("kernel-golden", 98), ("connectors-golden", 108)))
def test_golden_tables_are_right_or_refused_for_a_reason_that_shows(name, count):
    check(name, answers(name), count)


@pytest.mark.slow
def test_what_is_named_is_there_and_wrong():
    oracle = Oracle()
    reasons = load_exclusions().reasons
    asked = {(each.corpus, each.case, each.spec): each for each in find([corpus("acceptance")])}
    for key, why in reasons.items():
        assert oracle.judge(asked[key]).result == "failed", f"{key} is right by now: {why}"
