"""Play mutants in the races of the profile `ci`."""

from __future__ import annotations

from pathlib import Path

from conformance.engine_pool import EnginePool
from conformance.events.types import Event, FindingFound, HarnessFault, HistoryEnded
from conformance.fault_injection.instrumented_engines import InstrumentedEngines
from conformance.findings.recorder import FindingRecorder
from conformance.planning.plan import make_plan
from conformance.planning.profile import load_profile
from conformance.runner.chunk import play_chunk
from conformance.suites.context import SuiteContext
from delta_adapters.registry import parse_engine

RACE_MUTANTS = Path(__file__).parents[2] / "mutants" / "race_mutants.py"
# The mutants that issue 6 names about races, and one more, with the rule that each must violate.
NAMED = {
    "ChecksNoConflict": "race.no-write-skew",
    "ConflictsOnEverything": "race.conflicts-as-documented",
    "ChecksThenRenames": "race.all-acknowledged",
    "VacuumsWhatItDoesNotKnow": "race.vacuum-spares-new-files",
    "RefusesAndCommits": "race.told-truly",
}
HONEST = "Honest"


def violated_in_ci(name: str, seed: int, folder: Path, until: str | None = None) -> tuple[set[str], int]:
    """Return the rules that a mutant violates in the races of `ci`, and the number of played orders.

    With `until`, the races end at the first violation of that rule.
    """
    events: list[Event] = []

    def is_over() -> bool:
        return any(isinstance(event, FindingFound) and event.requirement == until for event in events)

    spec = parse_engine(f"{RACE_MUTANTS}:{name}")
    instrumented_engines = InstrumentedEngines({str(spec): spec}, folder / "arena", events.append)
    try:
        with EnginePool([spec], folder / "hosts", events.append) as hosts:
            context = SuiteContext(
                hosts, FindingRecorder(folder), events.append, is_over, instrumented_engines
            )
            for chunk in make_plan(load_profile("ci"), seed, engines=["reference"], suites=["races"]).chunks:
                if not is_over():
                    play_chunk(context, chunk, folder / "work")
    finally:
        instrumented_engines.close()
    assert [event.detail for event in events if isinstance(event, HarnessFault)] == []
    schedules = sum(event.schedules for event in events if isinstance(event, HistoryEnded))
    return {event.requirement for event in events if isinstance(event, FindingFound)}, schedules
