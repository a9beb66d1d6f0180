"""The suites whose evidence forecasts tell, by name. Without `forecast` itself, which loads what draws histories."""

from __future__ import annotations

LOCKSTEP, SHARED, EXAMPLES = "lockstep", "shared", "examples"
FORESEEN_SUITES = (LOCKSTEP, SHARED, EXAMPLES)
