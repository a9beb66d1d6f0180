"""The checks: each module is one oracle, a function that judges an `Observation` and executes nothing.

- `registry` lists the checks in order and selects those that apply.
- `runner` runs them, in one phase or in two, and returns a `CheckReport`.
- `recorder` collects what they yield: violations and evidence. `names` holds their names on disk.
- `log_oracle`, `formatting` and `attribution` serve them all.
- Each other module is a check: the generator `check(observation, recorder)`, which yields its judgements, and the
  constant `CHECK`.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from conformance.checks.recorder import Check
    from conformance.checks.registry import CHECKS
    from conformance.checks.runner import CheckReport, PendingChecks, run_checks, run_log_checks
else:
    _HOMES = {
        "Check": "recorder",
        "CHECKS": "registry",
        **dict.fromkeys(("CheckReport", "PendingChecks", "run_checks", "run_log_checks"), "runner"),
    }

    def __getattr__(name: str) -> Any:
        """Load the checks at their first use: a coordinator formats what they found, and runs none."""
        if name not in _HOMES:
            message = f"module {__name__!r} has no attribute {name!r}"
            raise AttributeError(message)
        return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)


__all__ = ["CHECKS", "Check", "CheckReport", "PendingChecks", "run_checks", "run_log_checks"]
