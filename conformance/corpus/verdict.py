"""What is said of one question: right, wrong, or not asked, and why."""

from __future__ import annotations

from dataclasses import dataclass

PASSED, FAILED, OUT_OF_SCOPE = "passed", "failed", "out of scope"
RESULTS = (PASSED, FAILED, OUT_OF_SCOPE)


@dataclass(frozen=True, slots=True)
class Verdict:
    """A result and its reason; what passed as asked needs none."""

    result: str
    why: str = ""


def passed(why: str = "") -> Verdict:
    """Right."""
    return Verdict(PASSED, why)


def failed(why: str) -> Verdict:
    """Wrong."""
    return Verdict(FAILED, why)


def out_of_scope(why: str) -> Verdict:
    """Not asked, or not to be judged."""
    return Verdict(OUT_OF_SCOPE, why)
