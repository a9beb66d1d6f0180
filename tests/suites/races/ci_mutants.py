"""Play mutants in the races of the profile `ci`."""

from __future__ import annotations

from pathlib import Path

from conformance.events.types import Event, FindingFound, HistoryEnded
from conformance.planning.plan import make_plan
from conformance.planning.profile import load_profile
from delta_adapters.registry import parse_engine
from tests.suites.chunks import play_chunks

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
    chunks = make_plan(load_profile("ci"), seed, engines=["reference"], suites=["races"]).chunks
    spec = parse_engine(f"{RACE_MUTANTS}:{name}")
    events = play_chunks([spec], chunks, folder, is_over=lambda events: until in violated_rules(events))
    schedules = sum(event.schedules for event in events if isinstance(event, HistoryEnded))
    return violated_rules(events), schedules


def violated_rules(events: list[Event]) -> set[str]:
    """Return the requirements of all findings."""
    return {event.requirement for event in events if isinstance(event, FindingFound)}
