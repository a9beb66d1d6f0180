"""The causes whose minimal histories violate nothing any more: they explain nothing, and hide nothing either."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from conformance.triage.hosts import CannotRun
from conformance.triage.liveness import Liveness
from delta_adapters.deviations import Cause


@dataclass(frozen=True, slots=True)
class Examined:
    """A cause, and whether its minimal history still fails on some build; None if no build could be asked.

    `why` says what was seen instead.
    """

    cause: Cause
    live: bool | None
    why: str = ""


def examine_causes(
    causes: Sequence[Cause], liveness: Liveness, specs: Sequence[str] = ()
) -> Iterator[Examined]:
    """Play the minimal history of each cause on builds of its engine; by default on one that has shown it."""
    for cause in causes:
        yield _examined(cause, liveness, [spec for spec in specs if _is_of(spec, cause)] or [cause.spec])


def _examined(cause: Cause, liveness: Liveness, specs: Sequence[str]) -> Examined:
    seen: list[str] = []
    asked = False
    for spec in specs:
        try:
            shown = liveness.look(cause, spec)
        except CannotRun as problem:
            seen.append(f"{spec} can't run here: {problem}")
            continue
        if shown.live:
            return Examined(cause, live=True)
        asked = True
        others = f", {', '.join(shown.seen)} is violated instead" if shown.seen else ", nothing is violated"
        seen.append(f"on {spec} {cause.requirement} is not violated as predicted{others}")
    return Examined(cause, live=False if asked else None, why="; ".join(seen))


def _is_of(spec: str, cause: Cause) -> bool:
    return spec.partition("@")[0] == cause.engine
