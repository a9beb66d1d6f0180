"""Profiles: how much of each suite a run plays, and the core by which it is judged.

A profile is data, committed next to this module in `profiles/NAME.toml`, or a user's own file. It says how many chunks
each suite has, and in how many of their histories engines on a JVM take part. Its core is a list of rules: a
requirement, and the evidence that the run must have of each engine that claims what the requirement needs
(`planning.core`).
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import Any

from conformance.histories import HISTORIES, STEPS
from conformance.options import PROFILES, SUITES, is_file
from conformance.planning.core import CoreRule, core_rules, unknown_requirements
from conformance.planning.parts import Part, parse_parts
from conformance.suites.examples import EXAMPLES

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
    further histories by their table profile; their chunks are numbered after the plain ones. In the suite of worked
    examples, `heavy_examples` names those in which engines on a JVM take part; None means as many as elsewhere.
    """

    name: str
    chunks: int
    histories: int = HISTORIES
    steps: int = STEPS
    heavy_histories: int = HISTORIES // 2
    heavy_chunks: int | None = None
    heavy_examples: tuple[str, ...] | None = None
    tables: Mapping[str, TablePlan] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Profile:
    """How much of each suite a run plays, and the core that it is judged by.

    `seed` is that of runs that are given none; without it each run draws a seed of its own. `shrinking` is the time in
    seconds that a run without a budget has for making its findings small. `draws` is the committed profile whose table
    profile the plain histories are drawn for: its own name, unless the profile is a user's own. A covering profile has
    `parts` in place of suites: their histories are written out for each engine by what it claims.
    """

    name: str
    suites: tuple[SuitePlan, ...]
    core: tuple[CoreRule, ...]
    budget: float | None = None
    seed: int | None = None
    shrinking: float = SHRINKING
    draws: str = ""
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
    """Load a committed profile by its name, or a user's own by the path of its file. Raises PlanError."""
    if is_file(name):
        return _load_file(Path(name))
    if name not in profile_names():
        message = (
            f"no profile {name!r}; there are {', '.join(profile_names())}, and files that end with .toml"
        )
        raise PlanError(message)
    text = (resources.files("conformance.planning") / "profiles" / f"{name}.toml").read_text("utf-8")
    return parse_profile(name, tomllib.loads(text))


def parse_profile(name: str, form: Mapping[str, Any]) -> Profile:
    """Read a profile from its TOML. Raises PlanError for an unknown key, since a typo would silently test less."""
    unknown = set(form) - {"suites", "core", "budget", "seed", "shrinking", "draws", "parts"}
    if unknown:
        message = f"profile {name}: unknown {', '.join(sorted(unknown))}"
        raise PlanError(message)
    try:
        parts = parse_parts(form.get("parts", {}))
        counted = form.get("suites", {}) if parts else form["suites"]
        suites = tuple(_suite(suite, counts) for suite, counts in counted.items())
        core = tuple(rule for group in form.get("core", ()) for rule in core_rules(group))
    except KeyError as error:
        message = f"profile {name}: {error} is missing"
        raise PlanError(message) from error
    except (TypeError, ValueError, AttributeError) as error:
        message = f"profile {name}: {error}"
        raise PlanError(message) from error
    planned = {suite.name for suite in suites}
    unplanned = {rule.suite for rule in core if rule.suite} - planned
    if unplanned:
        message = (
            f"profile {name}: its core names suites that it does not plan: {', '.join(sorted(unplanned))}"
        )
        raise PlanError(message)
    seed = form.get("seed")
    if seed is not None and (not isinstance(seed, int) or isinstance(seed, bool) or seed < 0):
        message = f"profile {name}: its seed is {seed!r}; a number from 0 on was expected"
        raise PlanError(message)
    shrinking, draws = float(form.get("shrinking", SHRINKING)), form.get("draws", "")
    return Profile(name, suites, core, form.get("budget"), seed, shrinking, draws, parts)


def _load_file(path: Path) -> Profile:
    """Load a user's own profile. Raises PlanError for what it could only find out while it plays."""
    try:
        form = tomllib.loads(path.read_text("utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        message = f"the profile {path} can't be read: {error}"
        raise PlanError(message) from error
    profile = parse_profile(str(path), {"draws": "ci", **form})
    if unknown := [suite.name for suite in profile.suites if suite.name not in SUITES]:
        message = f"profile {path}: no suite {', '.join(map(repr, unknown))}; there are {', '.join(SUITES)}"
        raise PlanError(message)
    if profile.draws not in PROFILES:
        message = f"profile {path}: it draws as {profile.draws!r}; one of {', '.join(PROFILES)} was expected"
        raise PlanError(message)
    if unknown := unknown_requirements(profile.core):
        message = (
            f"profile {path}: its core has no requirement {', '.join(map(repr, unknown))}; docs/requirements.md lists"
            " those that exist"
        )
        raise PlanError(message)
    return profile


def _suite(name: str, parts: Mapping[str, Any]) -> SuitePlan:
    tables = {table: TablePlan(**counts) for table, counts in parts.get("tables", {}).items()}
    named = parts.get("heavy_examples")
    if named is not None and (unknown := sorted(set(named) - set(EXAMPLES))):
        message = f"no example {', '.join(map(repr, unknown))}; there are {', '.join(EXAMPLES)}"
        raise TypeError(message)
    heavy_examples = None if named is None else tuple(named)
    return SuitePlan(name=name, **{**parts, "tables": tables, "heavy_examples": heavy_examples})
