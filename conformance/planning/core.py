"""The core of a profile: the evidence that a run must have of each engine, by what the engine claims."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from conformance.events.types import EvidenceThreshold
from conformance.planning.claims import PlannedEngine
from conformance.planning.needs import missing_claims
from delta_models.requirements import BY_ID

HEAVY, LIGHT = "heavy", "light"
KEYS = frozenset({"requirements", "suite", "checks", "histories", "on", "engines"})


@dataclass(frozen=True, slots=True)
class CoreRule:
    """How much evidence of a requirement a profile wants, of every engine that claims what the requirement needs.

    `on` restricts it to the engines whose steps are `heavy`, or to the `light` ones, and `engines` to some by their
    names; empty is all.
    """

    requirement: str
    suite: str = ""
    checks: int = 20
    histories: int = 5
    on: str = ""
    engines: tuple[str, ...] = ()

    def is_for(self, engine: PlannedEngine) -> bool:
        """Whether an engine is of those that the rule names, whatever it claims."""
        return (not self.on or (self.on == HEAVY) is engine.on_jvm) and (
            not self.engines or engine.name in self.engines
        )

    def threshold_for(self, engine: PlannedEngine) -> EvidenceThreshold:
        """What the rule wants of an engine."""
        return EvidenceThreshold(self.requirement, engine.name, self.suite, self.checks, self.histories)


def core_rules(group: Mapping[str, Any]) -> Iterator[CoreRule]:
    """Read a `[[core]]` table of a profile. Raises KeyError, TypeError or ValueError with the fault."""
    unknown = set(group) - KEYS
    if unknown:
        message = f"its core has unknown {', '.join(sorted(unknown))}; it may have {', '.join(sorted(KEYS))}"
        raise ValueError(message)
    if (on := group.get("on", "")) not in {"", HEAVY, LIGHT}:
        message = f"its core is for engines that are {on!r}; {HEAVY!r} or {LIGHT!r} was expected"
        raise ValueError(message)
    counts = {key: group[key] for key in ("checks", "histories") if key in group}
    if wrong := [
        f"{key} = {value!r}" for key, value in counts.items() if type(value) is not int or value < 1
    ]:
        message = f"its core has {', '.join(wrong)}; a number from 1 on was expected"
        raise ValueError(message)
    for requirement in group["requirements"]:
        yield CoreRule(
            requirement,
            group.get("suite", ""),
            on=on,
            engines=tuple(group.get("engines", ())),
            **counts,
        )


def unknown_requirements(core: Sequence[CoreRule]) -> list[str]:
    """The requirements of a core that do not exist."""
    return list(dict.fromkeys(rule.requirement for rule in core if rule.requirement not in BY_ID))


def core_of(
    core: Sequence[CoreRule], engines: Sequence[PlannedEngine], suites: Sequence[str]
) -> tuple[EvidenceThreshold, ...]:
    """The thresholds of a run: for each rule on its suites, those engines that claim what the requirement needs."""
    return tuple(
        dict.fromkeys(
            rule.threshold_for(engine)
            for rule in core
            if rule.suite in {"", *suites}
            for engine in engines
            if rule.is_for(engine) and not any(missing_claims(rule.requirement, engine.capabilities))
        )
    )


def asked_of_nobody(core: Sequence[CoreRule], engines: Sequence[PlannedEngine]) -> dict[str, str]:
    """The requirements of a core that no engine claims what they need for, each with what is missing.

    Rules for engines of a kind that does not take part are left out.
    """
    asked = {threshold.requirement for threshold in core_of(core, engines, [rule.suite for rule in core])}
    lacking: dict[str, str] = {}
    for rule in core:
        own = [engine for engine in engines if rule.is_for(engine)]
        if own and rule.requirement not in asked:
            missing = (
                need for engine in own for need in missing_claims(rule.requirement, engine.capabilities)
            )
            lacking[rule.requirement] = ", ".join(dict.fromkeys(missing))
    return lacking
