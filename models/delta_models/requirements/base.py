"""What a requirement and a violation of one are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import repeat
from typing import Literal, Protocol, TypeVar

from delta_models.operations import Read

Strength = Literal["must", "should", "reference", "lenient"]
Role = Literal["writer", "reader"]


@dataclass(frozen=True, slots=True)
class Requirement:
    """One rule that a conforming engine keeps.

    `id` is stable and dotted (`log.remove-names-live-file`). `section` is the protocol's section or the document in
    which the rule stands. `strength` is its class: *must* and *should* are in the protocol, *reference* is what
    delta-spark does where the protocol is silent, *lenient* is free. `role` is the side that a violation is charged to
    by default. `checks` names the checks that judge it, or `unobservable` says why no check can.
    """

    id: str
    sentence: str
    section: str
    strength: Strength
    role: Role
    checks: tuple[str, ...] = ()
    unobservable: str | None = None


@dataclass(frozen=True, slots=True)
class Violation:
    """A requirement that does not hold.

    `detail` says what was observed, `where` names the file, action or row, and `columns` the columns concerned. `read`
    is the query with the wrong answer, if the violation is about an answer.
    """

    requirement: str
    detail: str
    where: str = ""
    columns: tuple[str, ...] = ()
    read: Read | None = None


@dataclass(frozen=True, slots=True)
class Checked:
    """One time that a rule was judged: `violation` says what is wrong, None that the rule held."""

    requirement: str
    violation: Violation | None = None


Verdict = tuple[str, str | None]  # a requirement, and what is wrong; None: it holds
V = TypeVar("V", Verdict, tuple[str, str | None, tuple[str, ...]])


def checked(
    requirement: str,
    wrong: str | None = None,
    where: str = "",
    columns: tuple[str, ...] = (),
    read: Read | None = None,
) -> Checked:
    """One judgement of a rule; `wrong` is None where it holds."""
    if wrong is None:
        return _held(requirement)
    return Checked(requirement, Violation(requirement, wrong, where, columns, read))


@cache
def _held(requirement: str) -> Checked:
    return Checked(requirement)


def as_one(requirement: str, wrong: Iterable[str]) -> Iterator[Verdict]:
    """One verdict where nothing is wrong, else one for each thing that is."""
    holds = True
    for detail in wrong:
        holds = False
        yield requirement, detail
    if holds:
        yield requirement, None


def of_many(requirement: str, right: int, wrong: str | None = None) -> Iterator[Verdict]:
    """A verdict for each of the things that are right, and one for all that are wrong."""
    yield from repeat((requirement, None), right)
    if wrong is not None:
        yield requirement, wrong


def once_each(verdicts: Iterable[V]) -> Iterator[V]:
    """All verdicts on one thing that say what is wrong, and one of each rule that holds throughout."""
    holding: dict[str, V] = {}
    broken: set[str] = set()
    for verdict in verdicts:
        if verdict[1] is None:
            holding[verdict[0]] = verdict
        else:
            broken.add(verdict[0])
            yield verdict
    for requirement, verdict in holding.items():
        if requirement not in broken:
            yield verdict


class Rule(Protocol):
    """Returns a requirement; one check judges all requirements of a rule function."""

    def __call__(
        self, identity: str, sentence: str, section: str, strength: Strength = "must", /
    ) -> Requirement:
        """Return the requirement."""


def rules_of(check: str, role: Role = "writer") -> Rule:
    """Return a function that creates requirements of one check and one role."""

    def rule(identity: str, sentence: str, section: str, strength: Strength = "must", /) -> Requirement:
        return Requirement(identity, sentence, section, strength, role, (check,))

    return rule
