"""The builds under test, by content: what tells two runs whether they tested the same thing."""

from __future__ import annotations

from collections.abc import Iterable

from delta_adapters.builds import build_hash
from delta_adapters.delta_spark.jars import JarsError
from delta_adapters.environments import EnvironmentProblem
from delta_adapters.registry import EngineSpec
from delta_adapters.spark.java import JavaError


def builds_of(specs: Iterable[EngineSpec]) -> dict[str, str]:
    """The hash of each engine's build, by its spec. One that can't be had is left out; its start says why."""
    builds = {}
    for spec in specs:
        try:
            builds[str(spec)] = build_hash(spec)
        except (EnvironmentProblem, JarsError, JavaError):
            continue
    return builds
