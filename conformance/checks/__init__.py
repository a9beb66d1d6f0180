"""The checks: each module is one oracle, a function that judges an `Observation` and executes nothing.

- `registry` lists the checks in order and selects those that apply.
- `runner` runs them, in one phase or in two, and returns a `CheckReport`.
- `recorder` collects what they yield: violations and evidence. `names` holds their names on disk.
- `log_oracle`, `formatting` and `attribution` serve them all.
- Each other module is a check: the generator `check(observation, recorder)`, which yields its judgements, and the
  constant `CHECK`.
"""

from __future__ import annotations

from conformance.checks.recorder import Check
from conformance.checks.registry import CHECKS
from conformance.checks.runner import CheckReport, PendingChecks, run_checks, run_log_checks

__all__ = ["CHECKS", "Check", "CheckReport", "PendingChecks", "run_checks", "run_log_checks"]
