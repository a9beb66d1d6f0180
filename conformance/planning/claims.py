"""The engines as the planner knows them: by what they claim, never by what they answer."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib import resources
from typing import Any

from conformance.engine_pool import runs_on_jvm
from delta_adapters.capabilities import Capabilities
from delta_adapters.registry import KNOWN, EngineSpec


@dataclass(frozen=True, slots=True)
class PlannedEngine:
    """An engine of a run. `key` is how the command line names it, `name` the same without the version."""

    key: str
    name: str
    on_jvm: bool
    capabilities: Capabilities


def planned_engines(specs: Iterable[EngineSpec]) -> Iterator[PlannedEngine]:
    """Yield the engines whose claims are known before they run: those with an adapter of the project."""
    for spec in specs:
        document = _document(spec)
        if document is not None:
            yield PlannedEngine(
                str(spec), spec.name, runs_on_jvm(spec), Capabilities.validated(document, spec.name)
            )


def _document(spec: EngineSpec) -> dict[str, Any] | None:
    """The capability document of an engine, without an import of its adapter, which would load the engine."""
    if spec.name not in KNOWN:
        return None
    if spec.name == "reference":
        from delta_adapters.reference.capabilities import CAPABILITIES  # noqa: PLC0415 - it loads that engine

        return CAPABILITIES
    folder = KNOWN[spec.name].adapter.partition(":")[0].removeprefix("delta_adapters.")
    path = resources.files("delta_adapters").joinpath(folder, "capabilities.json")
    document: dict[str, Any] = json.loads(path.read_text("utf-8"))
    return document
