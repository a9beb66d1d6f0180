"""The checks catch each mutant at its requirement. In the same story its honest twin violates nothing."""

from __future__ import annotations

import pytest

from conformance.checks.registry import is_judged_without_reads
from delta_adapters.reference import Reference
from tests.mutants import all_mutants  # noqa: F401 - registers them
from tests.mutants.registry import TRIPS, Trip
from tests.mutants.stage import play


@pytest.mark.parametrize("trip", TRIPS, ids=lambda trip: trip.name)
def test_the_checks_catch_the_mutant(trip: Trip, tmp_path):
    played = play(trip.mutant(), tmp_path / "table", trip.story)
    assert trip.requirement in played.broken, f"{trip.sentence}\n{played.describe() or 'nothing was found'}"
    assert played.faults == []


@pytest.mark.parametrize("trip", TRIPS, ids=lambda trip: trip.name)
def test_the_honest_twin_violates_nothing(trip: Trip, tmp_path):
    twin = getattr(trip.mutant, "honest_twin", Reference)
    played = play(twin(), tmp_path / "table", trip.story)
    assert played.broken == set(), played.describe()
    assert played.faults == []
    assert played.evidence.get(trip.requirement, 0) > 0, f"{trip.requirement} was not judged at all"


WITHOUT_READS = [trip for trip in TRIPS if is_judged_without_reads(trip.requirement)]


@pytest.mark.parametrize("trip", WITHOUT_READS, ids=lambda trip: trip.name)
def test_what_needs_no_reads_is_caught_without_reads(trip: Trip, tmp_path):
    played = play(trip.mutant(), tmp_path / "table", trip.story, reads=False)
    assert trip.requirement in played.broken
    assert not any(result.observation.looks for result in played.result)


def test_what_engines_answer_to_reads_needs_reads():
    needs_reads = {trip.requirement for trip in TRIPS} - {trip.requirement for trip in WITHOUT_READS}
    assert {"read.filter", "write.states-stay", "metamorphic.filter-picks"} <= needs_reads
    assert not is_judged_without_reads("host.answers")
    assert is_judged_without_reads("contents.append")
