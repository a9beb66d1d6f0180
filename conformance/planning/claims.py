"""The engines as the planner knows them: by what they claim, never by what they answer."""

from __future__ import annotations

import functools
import json
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

from conformance.engine_pool import runs_on_jvm
from delta_adapters.capabilities import Capabilities
from delta_adapters.environments import EnvironmentProblem
from delta_adapters.host_errors import HostError
from delta_adapters.registry import KNOWN, EngineSpec, prepare
from delta_adapters.smoke import time_limit


@dataclass(frozen=True, slots=True)
class PlannedEngine:
    """An engine of a run. `key` is how the command line names it, `name` what it calls itself, without the version."""

    key: str
    name: str
    on_jvm: bool
    capabilities: Capabilities


def planned_engines(specs: Iterable[EngineSpec]) -> Iterator[PlannedEngine]:
    """Yield the engines whose claims are known before they run.

    Those of the project's own adapters stand in files. Any other engine is started once, and asked. One that does not
    answer is left out: the run will start it again, and report what is wrong with it.
    """
    for spec in specs:
        if spec.name in KNOWN:
            yield PlannedEngine(str(spec), spec.name, runs_on_jvm(spec), _claims(spec.name))
        elif (asked := _ask(spec)) is not None:
            yield asked


def known_engines(names: Iterable[str]) -> Iterator[PlannedEngine]:
    """Yield those engines of these names that the project has adapters for."""
    return planned_engines(EngineSpec(name, KNOWN[name].adapter) for name in names if name in KNOWN)


@functools.cache
def _claims(name: str) -> Capabilities:
    """What an adapter of the project claims. Tests hold its document to the schema, so that no run has to."""
    return Capabilities.of(_document(name))


def _document(name: str) -> Mapping[str, Any]:
    """The capability document of an engine, without an import of its adapter, which would load the engine."""
    if name == "reference":
        from delta_adapters.reference.capabilities import CAPABILITIES  # noqa: PLC0415 - it loads that engine

        return CAPABILITIES
    folder = KNOWN[name].adapter.partition(":")[0].removeprefix("delta_adapters.")
    path = resources.files("delta_adapters").joinpath(folder, "capabilities.json")
    document: dict[str, Any] = json.loads(path.read_text("utf-8"))
    return document


@functools.cache
def _ask(spec: EngineSpec) -> PlannedEngine | None:
    """What an engine says of itself; None if it says nothing that can be used."""
    if not prepare(spec):
        return None
    from delta_adapters.host_client import HostClient  # noqa: PLC0415 - loads pyarrow, which few plans need

    with tempfile.TemporaryDirectory(prefix="conformance-claims-") as work:
        try:
            with HostClient.start(spec, Path(work)) as host:
                host.ready(time_limit(spec))
                return PlannedEngine(
                    str(spec), host.identity.name, host.capabilities.heavy, host.capabilities
                )
        except (EnvironmentProblem, HostError, OSError):
            return None
