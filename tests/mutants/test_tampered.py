"""Rules of operations that the honest engine does not perform are heard in the traces of a step, kept and broken."""

from __future__ import annotations

import pytest

from conformance.checks import run_checks
from tests.mutants.tampered import TAMPERED, observe


@pytest.mark.parametrize("requirement", TAMPERED)
def test_a_step_that_breaks_the_rule_is_heard(requirement, tmp_path):
    found = run_checks(observe(requirement, tmp_path, lie=True))
    assert requirement in {violation.requirement for violation in found.violations}, found


@pytest.mark.parametrize("requirement", TAMPERED)
def test_a_step_that_keeps_it_is_not(requirement, tmp_path):
    found = run_checks(observe(requirement, tmp_path, lie=False))
    assert found.violations == ()
    assert found.evidence[requirement] > 0
