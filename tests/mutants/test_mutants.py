"""The checks catch each mutant at its requirement. In the same story its honest twin violates nothing."""

from __future__ import annotations

import pytest

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
