"""The result of one question: passed, failed or out of scope, with the reason."""

from __future__ import annotations

from dataclasses import dataclass

PASSED, FAILED, OUT_OF_SCOPE = "passed", "failed", "out of scope"
RESULTS = (PASSED, FAILED, OUT_OF_SCOPE)


@dataclass(frozen=True, slots=True)
class CaseResult:
    """A result and its reason, which may be empty if the question passed."""

    result: str
    why: str = ""


def passed(why: str = "") -> CaseResult:
    """The answer is right."""
    return CaseResult(PASSED, why)


def failed(why: str) -> CaseResult:
    """The answer is wrong."""
    return CaseResult(FAILED, why)


def out_of_scope(why: str) -> CaseResult:
    """The question was not asked, or its answer can't be judged."""
    return CaseResult(OUT_OF_SCOPE, why)
