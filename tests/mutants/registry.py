"""Which liar trips which requirement, with the story in which it is caught."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from delta_adapters.reference import Reference
from delta_models.operations import Operation

Liar = TypeVar("Liar", bound=type[Reference])
Story = Sequence[Operation | tuple[Operation, str]]


@dataclass(frozen=True, slots=True)
class Trip:
    """A requirement, the liar that breaks it, and the operations in which it does."""

    requirement: str
    liar: type[Reference]
    story: Story

    @property
    def name(self) -> str:
        """What a test and the documentation call it."""
        return f"{self.requirement}-{self.liar.__name__}"

    @property
    def lie(self) -> str:
        """The lie in one sentence."""
        return (self.liar.__doc__ or "").strip().splitlines()[0]


TRIPS: list[Trip] = []


def trips(requirement: str, story: Story) -> Callable[[Any], Any]:
    """Say of a liar that it breaks a requirement in a story, in which the honest engine breaks nothing."""

    def register(liar: Liar) -> Liar:
        TRIPS.append(Trip(requirement, liar, story))
        return liar

    return register


def damages() -> dict[str, Callable[[Any], object]]:
    """The damaged logs of the model's own tests, by the rule that each breaks."""
    from tests.damaged_logs.damages import DAMAGES  # noqa: PLC0415
    from tests.models.log import test_validity  # noqa: F401, PLC0415 - registers them; its tests are not wanted here

    return dict(DAMAGES)


def trippers(requirement: str) -> list[str]:
    """What breaks a requirement: liars by their lie, damaged logs by what they are."""
    from tests.mutants import mutants  # noqa: F401, PLC0415 - registers them, and imports this module itself

    found = [trip.lie for trip in TRIPS if trip.requirement == requirement]
    from tests.mutants import race_mutants as racers  # noqa: PLC0415 - the same
    from tests.mutants.crash_mutants import CAUGHT_AT, LIARS  # noqa: PLC0415 - for whoever asks for all

    caught = [racers.LIARS[name] for name, rule, _ in racers.CAUGHT_AT if rule == requirement]
    caught += [LIARS[name] for name, rule in CAUGHT_AT.items() if rule == requirement]
    found += [(each.__doc__ or "").strip().splitlines()[0] for each in caught]
    from tests.mutants.tampered import TAMPERED  # noqa: PLC0415 - imports this module itself

    if requirement in TAMPERED:
        found.append("The traces of a step that breaks it.")
    if requirement in damages():
        found.append("A log that is damaged so.")
    return found
