"""The register of mutants: which requirement each violates, and the history that shows it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from delta_adapters.reference import Reference
from delta_models.operations import Operation

MutantClass = TypeVar("MutantClass", bound=type[Reference])
Story = Sequence[Operation | tuple[Operation, str]]


@dataclass(frozen=True, slots=True)
class Trip:
    """A requirement, the mutant that violates it, and the operations in which it does."""

    requirement: str
    mutant: type[Reference]
    story: Story

    @property
    def name(self) -> str:
        """The name that tests and the documentation give it."""
        return f"{self.requirement}-{self.mutant.__name__}"

    @property
    def sentence(self) -> str:
        """What the mutant does wrong, in one sentence."""
        return _first_line(self.mutant)


TRIPS: list[Trip] = []


def trips(requirement: str, story: Story) -> Callable[[Any], Any]:
    """Register a mutant that violates a requirement in a story in which its honest twin violates nothing."""

    def register(mutant: MutantClass) -> MutantClass:
        TRIPS.append(Trip(requirement, mutant, story))
        return mutant

    return register


def damages() -> dict[str, Callable[[Any], object]]:
    """Return the functions that damage a log, by the rule that each violates."""
    from tests.damaged_logs.damages import DAMAGES  # noqa: PLC0415
    from tests.models.log import test_validity  # noqa: F401, PLC0415 - registers them; its tests are not wanted here

    return dict(DAMAGES)


def describe_mutants(requirement: str) -> list[str]:
    """Return a sentence for each mutant, tampered step and damaged log that violates a requirement."""
    # These modules import this one.
    from tests.mutants import all_mutants, crash_mutants, race_mutants  # noqa: F401, PLC0415
    from tests.mutants.tampered import TAMPERED  # noqa: PLC0415

    sentences = sorted(trip.sentence for trip in TRIPS if trip.requirement == requirement)
    sentences += [
        _first_line(race_mutants.MUTANTS[name])
        for name, rule, _ in race_mutants.CAUGHT_AT
        if rule == requirement
    ]
    sentences += [
        _first_line(crash_mutants.MUTANTS[name])
        for name, rule in crash_mutants.CAUGHT_AT.items()
        if rule == requirement
    ]
    if requirement in TAMPERED:
        sentences.append("The traces of a step that breaks it.")
    if requirement in damages():
        sentences.append("A log that is damaged so.")
    return sentences


def _first_line(mutant: type[Reference]) -> str:
    return (mutant.__doc__ or "").strip().splitlines()[0]
