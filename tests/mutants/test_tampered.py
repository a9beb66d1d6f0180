"""The checks judge rules about operations that the honest engine does not support by tampered observations."""

from __future__ import annotations

import pytest

from conformance.checks import run_checks
from tests.mutants.tampered import TAMPERED, observe


@pytest.mark.parametrize("requirement", TAMPERED)
def test_the_checks_catch_a_step_that_violates_the_rule(requirement, tmp_path):
    report = run_checks(observe(requirement, tmp_path, broken=True))
    assert requirement in {violation.requirement for violation in report.violations}, report


@pytest.mark.parametrize("requirement", TAMPERED)
def test_a_step_that_keeps_the_rule_violates_nothing(requirement, tmp_path):
    report = run_checks(observe(requirement, tmp_path, broken=False))
    assert report.violations == ()
    assert report.evidence[requirement] > 0
