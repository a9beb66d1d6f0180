"""What is said of one question: right, wrong, or not asked, and why."""

from __future__ import annotations

from dataclasses import dataclass

PASSED, FAILED, OUT_OF_SCOPE = "passed", "failed", "out of scope"
RESULTS = (PASSED, FAILED, OUT_OF_SCOPE)


@dataclass(frozen=True, slots=True)
class CaseResult:
    """A result and its reason; what passed as asked needs none."""

    result: str
    why: str = ""


def passed(why: str = "") -> CaseResult:
    """Right."""
    return CaseResult(PASSED, why)


def failed(why: str) -> CaseResult:
    """Wrong."""
    return CaseResult(FAILED, why)


def out_of_scope(why: str) -> CaseResult:
    """Not asked, or not to be judged."""
    return CaseResult(OUT_OF_SCOPE, why)
