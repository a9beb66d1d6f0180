"""The liars about races as a run of the profile `ci` hears them."""

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

HERE = Path(__file__).parents[2] / "mutants" / "race_mutants.py"
# Those that issue 6 names about races, and one more, with the rule that each is to be heard by.
NAMED = {
    "ChecksNoConflict": "race.no-write-skew",
    "ConflictsOnEverything": "race.conflicts-as-documented",
    "ChecksThenRenames": "race.all-acknowledged",
    "VacuumsWhatItDoesNotKnow": "race.vacuum-spares-new-files",
    "RefusesAndCommits": "race.told-truly",
}
HONEST = "Honest"


def heard_in_ci(name: str, seed: int, folder: Path, until: str | None = None) -> tuple[set[str], int]:
    """The rules that a liar of this name breaks in the races of `ci`, and in how many orders it was played: in all, or
    as long as one rule is whole."""
    told: list[Event] = []

    def is_over() -> bool:
        return any(isinstance(each, FindingFound) and each.requirement == until for each in told)

    spec = parse_engine(f"{HERE}:{name}")
    instrumented_engines = InstrumentedEngines({str(spec): spec}, folder / "arena", told.append)
    try:
        with EnginePool([spec], folder / "hosts", told.append) as hosts:
            context = SuiteContext(hosts, FindingRecorder(folder), told.append, is_over, instrumented_engines)
            for chunk in make_plan(load_profile("ci"), seed, engines=["reference"], suites=["races"]).chunks:
                if not is_over():
                    play_chunk(context, chunk, folder / "work")
    finally:
        instrumented_engines.close()
    assert [each.detail for each in told if isinstance(each, HarnessFault)] == []
    played = sum(each.schedules for each in told if isinstance(each, HistoryEnded))
    return {each.requirement for each in told if isinstance(each, FindingFound)}, played
