"""The reserve of a run: which of the plan's further chunks to play for evidence that did not come.

The coordinator uses it. What it gives depends on the evidence alone, so a run with the same
evidence plays the same chunks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from conformance.engine_pool import runs_on_jvm
from conformance.events.types import EngineReady, Event, Evidence, EvidenceThreshold, FindingFound
from conformance.histories import Chunk
from conformance.planning.plan import Plan
from conformance.planning.tally import EvidenceTally
from conformance.planning.top_up import ReservedChunk, focus_of
from delta_adapters.engine_id import EngineId
from delta_adapters.registry import EngineSpec

_Kind = tuple[str, str, bool, str]  # suite, focus, on a JVM, the one engine that it is for

IN_VAIN = 2  # chunks in a row that brought a threshold nothing; then it gets no more


@dataclass(slots=True)
class _Need:
    """A threshold that an engine has not reached: what it had when the last chunk was given for it."""

    best: tuple[int, int]
    in_vain: int = 0


class Reserve:
    """The chunks of a plan's reserve, and the evidence that says which of them to play."""

    def __init__(self, plan: Plan, specs: Sequence[EngineSpec]) -> None:
        self._core = plan.core
        self._on_jvm = {key: runs_on_jvm(spec) for spec in specs for key in (spec.name, str(spec))}
        self._alone = {reserved.engine for reserved in plan.reserve if reserved.engine}
        self._chunks: dict[_Kind, list[Chunk]] = {}
        for reserved in plan.reserve:
            self._chunks.setdefault(_kind_of(reserved), []).append(reserved.chunk)
        self._tally = EvidenceTally()
        self._engines: dict[str, str] = {}  # the names of the engines that run, by identity
        self._needs: dict[tuple[EvidenceThreshold, str], _Need] = {}

    def take(self, event: Event) -> None:
        """Take an event of the run into account."""
        match event:
            case EngineReady():
                name = EngineId.parse(event.engine).name
                self._engines[event.engine] = name
                self._on_jvm[name] = self._on_jvm.get(event.spec or name, False)
            case Evidence():
                self._tally.add(event)
            case FindingFound():
                self._tally.add_finding(event)

    def missing(self) -> Mapping[tuple[EvidenceThreshold, str], tuple[int, int]]:
        """The thresholds that an engine has not reached, with the checks and histories that it has."""
        return {
            (threshold, engine): self._tally.best(threshold, engine)
            for threshold in self._core
            for engine, name in self._engines.items()
            if name == threshold.engine and not self._tally.reaches(threshold, engine)
        }

    def next_chunks(self) -> list[Chunk]:
        """The chunks to play for what is missing now: one for each kind that is wanted; none if there is no use."""
        kinds: dict[_Kind, None] = {}
        for (threshold, engine), best in self.missing().items():
            name = self._engines[engine]
            only = name if name in self._alone else ""
            kind = (*focus_of(threshold), self._on_jvm.get(name, False), only)
            if self._chunks.get(kind) and self._is_of_use(threshold, engine, best):
                kinds[kind] = None
        return [self._chunks[kind].pop(0) for kind in kinds]

    def words(self) -> str:
        """What is missing, in words."""
        return "; ".join(
            f"{threshold.requirement} for {engine} has {checks} of {threshold.checks} checks in {histories} of"
            f" {threshold.histories} histories"
            for (threshold, engine), (checks, histories) in self.missing().items()
        )

    def _is_of_use(self, threshold: EvidenceThreshold, engine: str, best: tuple[int, int]) -> bool:
        need = self._needs.get((threshold, engine))
        if need is None:
            self._needs[threshold, engine] = _Need(best)
            return True
        need.in_vain = need.in_vain + 1 if need.best == best else 0
        need.best = best
        return need.in_vain < IN_VAIN


def _kind_of(reserved: ReservedChunk) -> _Kind:
    return reserved.chunk.suite, reserved.focus, bool(reserved.chunk.heavy), reserved.engine
