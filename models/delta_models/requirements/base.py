"""What a requirement and a violation of one are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol

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
