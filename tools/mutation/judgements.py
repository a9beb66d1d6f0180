"""What people say of mutants that survived: whether anybody could see the change, in two independent judgements.

A mutant does not count if two judges call it *equivalent* or *performance-only*, each with a reason.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

EQUIVALENT, PERFORMANCE, COUNTS = "equivalent", "performance-only", "counts"
VERDICTS = (EQUIVALENT, PERFORMANCE, COUNTS)
JUDGES = 2
MOST = 0.25  # of a set, that need not count
KEYS = ("mutant", "by", "verdict", "reason")


class BadJudgement(ValueError):
    """The file of judgements is wrong. The message says what is there and what was expected."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """What one judge says of one mutant."""

    mutant: str
    by: str
    verdict: str
    reason: str


def read_judgements(path: Path) -> dict[str, tuple[Judgement, ...]]:
    """Read the judgements of each mutant. Raises BadJudgement."""
    if not path.exists():
        return {}
    try:
        form = tomllib.loads(path.read_text("utf-8"))
    except ValueError as problem:
        raise BadJudgement(f"the judgements {path} can't be read: {problem}") from problem
    judgements: dict[str, tuple[Judgement, ...]] = {}
    for number, body in enumerate(form.get("judgement", ()), 1):
        judgement = _judgement(body, f"judgement {number} of {path}")
        others = judgements.get(judgement.mutant, ())
        if any(other.by == judgement.by for other in others):
            raise BadJudgement(
                f"judgement {number} of {path} is the second one of {judgement.by} on {judgement.mutant}; "
                "two judges are needed, each by itself"
            )
        judgements[judgement.mutant] = (*others, judgement)
    return judgements


def need_not_count(mutant: str, judgements: Mapping[str, tuple[Judgement, ...]]) -> bool:
    """Whether enough judges say that no user could see a mutant, and none that one could."""
    own = judgements.get(mutant, ())
    return len(own) >= JUDGES and all(judgement.verdict != COUNTS for judgement in own)


def _judgement(body: Any, where: str) -> Judgement:
    if not isinstance(body, dict) or sorted(body) != sorted(KEYS):
        found = ", ".join(body) if isinstance(body, dict) else repr(body)
        raise BadJudgement(f"{where} has {found}; it must have {', '.join(KEYS)}, and nothing else")
    if body["verdict"] not in VERDICTS:
        raise BadJudgement(f"{where} has the verdict {body['verdict']!r}; it must be {', '.join(VERDICTS)}")
    empty = [key for key in KEYS if not isinstance(body[key], str) or not body[key].strip()]
    if empty:
        raise BadJudgement(f"{where} has no text for {', '.join(empty)}")
    return Judgement(**body)
