"""Profiles: how much of each suite a run plays, and the core by which it is judged.

A profile is data, committed next to this module in `profiles/NAME.toml`. It says how many chunks each suite has, and in
how many of their histories engines on a JVM take part. Its core is a list of evidence thresholds: a requirement, an
engine, and the evidence that the run must have.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from importlib import resources
from typing import Any

from conformance.events.types import EvidenceThreshold
from conformance.histories import HISTORIES, STEPS
from conformance.planning.parts import BadPart, Part, parse_parts

SHRINKING = 60.0


class PlanError(ValueError):
    """The options or a profile can't be planned. The message names the option and the reason."""


@dataclass(frozen=True, slots=True)
class TablePlan:
    """How many histories a suite draws for one table profile (`conformance.generation.table_profiles`).

    They come beside the suite's plain histories. Engines on a JVM take part in `heavy` histories of each chunk.
    """

    histories: int
    heavy: int = 0


@dataclass(frozen=True, slots=True)
class SuitePlan:
    """How much of one suite a profile wants.

    Engines on a JVM take part in `heavy_histories` histories of each of the first `heavy_chunks` chunks. `tables` are
    further histories by their table profile; their chunks are numbered after the plain ones.
    """

    name: str
    chunks: int
    histories: int = HISTORIES
    steps: int = STEPS
    heavy_histories: int = HISTORIES // 2
    heavy_chunks: int | None = None
    tables: Mapping[str, TablePlan] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Profile:
    """How much of each suite a run plays, and the core that it is judged by.

    `seed` is that of runs that are given none; without it each run draws a seed of its own. `shrinking` is the time in
    seconds that a run without a budget has for making its findings small. A covering profile has `parts` in place of
    suites: their histories are written out for each engine by what it claims.
    """

    name: str
    suites: tuple[SuitePlan, ...]
    core: tuple[EvidenceThreshold, ...]
    budget: float | None = None
    seed: int | None = None
    shrinking: float = SHRINKING
    parts: tuple[Part, ...] = ()

    def suite(self, name: str) -> SuitePlan | None:
        """The plan of one suite; None if the profile has no such suite."""
        return next((suite for suite in self.suites if suite.name == name), None)


def profile_names() -> tuple[str, ...]:
    """The names of the committed profiles."""
    folder = resources.files("conformance.planning") / "profiles"
    return tuple(
        sorted(path.name.removesuffix(".toml") for path in folder.iterdir() if path.name.endswith(".toml"))
    )


def load_profile(name: str) -> Profile:
    """Load a committed profile by its name. Raises PlanError."""
    if name not in profile_names():
        message = f"no profile {name!r}; there are {', '.join(profile_names())}"
        raise PlanError(message)
    text = (resources.files("conformance.planning") / "profiles" / f"{name}.toml").read_text("utf-8")
    return parse_profile(name, tomllib.loads(text))


def parse_profile(name: str, form: Mapping[str, Any]) -> Profile:
    """Read a profile from its TOML. Raises PlanError for an unknown key, since a typo would silently test less."""
    unknown = set(form) - {"suites", "core", "budget", "seed", "shrinking", "parts"}
    if unknown:
        message = f"profile {name}: unknown {', '.join(sorted(unknown))}"
        raise PlanError(message)
    try:
        parts = parse_parts(form.get("parts", {}))
        suites = tuple(
            _suite(suite, counts)
            for suite, counts in (form.get("suites", {}) if parts else form["suites"]).items()
        )
        core = tuple(threshold for group in form.get("core", ()) for threshold in _thresholds(group))
    except (KeyError, TypeError, BadPart) as error:
        message = f"profile {name}: {error}"
        raise PlanError(message) from error
    planned = {suite.name for suite in suites}
    unplanned = {threshold.suite for threshold in core if threshold.suite} - planned
    if unplanned:
        message = (
            f"profile {name}: its core names suites that it does not plan: {', '.join(sorted(unplanned))}"
        )
        raise PlanError(message)
    seed = form.get("seed")
    if seed is not None and (not isinstance(seed, int) or isinstance(seed, bool) or seed < 0):
        message = f"profile {name}: its seed is {seed!r}; a number from 0 on was expected"
        raise PlanError(message)
    return Profile(
        name, suites, core, form.get("budget"), seed, float(form.get("shrinking", SHRINKING)), parts
    )


def _suite(name: str, parts: Mapping[str, Any]) -> SuitePlan:
    tables = {table: TablePlan(**counts) for table, counts in parts.get("tables", {}).items()}
    return SuitePlan(name=name, **{**parts, "tables": tables})


def _thresholds(group: Mapping[str, Any]) -> Iterator[EvidenceThreshold]:
    counts = {key: value for key, value in group.items() if key in {"checks", "histories"}}
    unknown = set(group) - {"requirements", "engines", "suite", "checks", "histories"}
    if unknown:
        message = f"its core has unknown {', '.join(sorted(unknown))}"
        raise TypeError(message)
    for requirement in group["requirements"]:
        for engine in group["engines"]:
            yield EvidenceThreshold(requirement, engine, group.get("suite", ""), **counts)
