"""The catalogue is complete: each requirement has a check, and a mutant or a damaged log that violates it."""

from __future__ import annotations

from collections import Counter

import pytest

from conformance.checks import CHECKS, run_checks
from conformance.checks.names import JUDGED_ELSEWHERE
from conformance.observations.observation import Observation
from delta_models.log import Commit, LogError, LogReader, Snapshot
from delta_models.operations import Append
from delta_models.outcomes import Committed
from delta_models.requirements import BY_ID, CATALOGUE
from delta_models.schema import struct
from delta_models.table import AllowedOutcome, Expectation, Table
from delta_models.values import Rows
from tests.models.log.conftest import LogTable
from tests.mutants.registry import damages, describe_mutants

OBSERVABLE = [rule for rule in CATALOGUE if rule.unobservable is None and rule.strength != "lenient"]


def test_ids_are_unique_and_each_has_one_sentence():
    assert [
        name for name, count in Counter(requirement.id for requirement in CATALOGUE).items() if count > 1
    ] == []
    for requirement in CATALOGUE:
        assert requirement.sentence.endswith("."), requirement.id
        assert requirement.section, requirement.id


def test_every_check_judges_requirements_of_the_catalogue_only():
    for check in CHECKS:
        assert set(check.judges) <= set(BY_ID), check.name


@pytest.mark.parametrize("requirement", [rule.id for rule in OBSERVABLE])
def test_every_observable_requirement_has_a_check_that_judges_it(requirement):
    judges = {check.name: check.judges for check in CHECKS}
    named = BY_ID[requirement].checks
    assert named
    for name in named:
        assert name in JUDGED_ELSEWHERE or requirement in judges[name], name


@pytest.mark.parametrize("requirement", [rule.id for rule in OBSERVABLE if rule.checks != ("worked",)])
def test_every_observable_requirement_has_a_mutant_or_a_damaged_log(requirement):
    assert describe_mutants(requirement), f"neither a mutant nor a damaged log violates {requirement}"


@pytest.mark.parametrize("requirement", sorted(damages()))
def test_the_checks_catch_a_damaged_log(requirement, tmp_path):
    table = LogTable(tmp_path / "table")
    damages()[requirement](table)
    report = run_checks(observation_of(table))
    assert requirement in {violation.requirement for violation in report.violations}, report
    assert report.evidence[requirement] > 0
    assert report.faults == ()


def test_a_state_whose_schema_cannot_be_read_has_not_loaded(tmp_path):
    table = LogTable(tmp_path / "table")
    damages()["log.schema-readable"](table)
    details = [
        violation.detail
        for violation in run_checks(observation_of(table)).violations
        if violation.requirement == "log.loads"
    ]
    assert "the table's schema cannot be read: not a Delta type: {}" in details


def observation_of(table: LogTable) -> Observation:
    """Return the observation of one step that made the whole table, or all after its oldest commit if that is not 0.

    The model has no expectation of it.
    """
    reader = LogReader(table.folder)  # the table's own remembers what was there before the damage
    before: Snapshot | None = None
    after: Snapshot | None = None
    error: LogError | None = None
    commits: tuple[Commit, ...] = ()
    oldest = min(reader.listing().commits)
    try:
        after = reader.snapshot()
        before = reader.snapshot(oldest) if oldest else None
        commits = reader.commits(oldest + 1 if oldest else 0)
    except LogError as raised:
        error = raised
    anything = Expectation((AllowedOutcome(Committed(), (0, len(commits)), Table(), "contents.append"),))
    return Observation(
        "damaged@1", 0, Append(Rows(struct(), ())), table.folder, anything, Committed(), None, Table(), table.reader,
        before, after, commits, (), error,
    )  # fmt: skip
