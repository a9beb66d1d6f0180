"""The registry of checks: their names are those of the catalogue, and each phase has its checks."""

from __future__ import annotations

import pytest

from conformance.checks.names import JUDGED_ELSEWHERE, CheckName
from conformance.checks.registry import CHECKS, FAULT_CHECKS, RACE_CHECKS, split_phases
from delta_models.requirements import CATALOGUE


def test_the_table_of_names_equals_the_names_of_the_catalogue():
    assert {name.value for name in CheckName} == {
        name for requirement in CATALOGUE for name in requirement.checks
    }


def test_every_name_is_that_of_one_registered_check():
    registered = {check.name for check in (*CHECKS, *FAULT_CHECKS, *RACE_CHECKS)}
    assert registered == set(CheckName) - JUDGED_ELSEWHERE


@pytest.mark.parametrize("checks", (CHECKS, FAULT_CHECKS, RACE_CHECKS))
def test_the_first_phase_needs_no_answer_of_an_engine(checks):
    log_checks, answer_checks = split_phases(checks)
    assert log_checks + answer_checks == checks
    assert CheckName.READS not in {check.name for check in log_checks}
    assert log_checks[0].name == CheckName.LOG_VALIDITY
