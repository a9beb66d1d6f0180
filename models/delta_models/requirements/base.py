"""What a requirement is, and what it means to breach one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol

from delta_models.operations import Read

Strength = Literal["must", "should", "reference", "lenient"]
Role = Literal["writer", "reader"]


@dataclass(frozen=True, slots=True)
class Requirement:
    """One rule.

    `id` is stable and dotted (`log.remove-names-live-file`), `section` names the protocol's section or the
    document of the rule, `strength` is its class: *must* and *should* stand in the protocol, *reference* is
    what delta-spark does where the protocol is silent, *lenient* is free. `role` is who is to blame by
    default. `unobservable` says why no test can see it; otherwise `checks` names the checks that judge it.
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
    """A requirement that did not hold: what was seen, where (a file, an action, a row), and which columns it concerns.

    `read` is the question that was answered wrongly, where it is about an answer."""

    requirement: str
    detail: str
    where: str = ""
    columns: tuple[str, ...] = ()
    read: Read | None = None


class Rule(Protocol):
    """Makes a requirement of what differs among those of one check."""

    def __call__(
        self, identity: str, sentence: str, section: str, strength: Strength = "must", /
    ) -> Requirement:
        """The requirement."""


def rules_of(check: str, role: Role = "writer") -> Rule:
    """Requirements that one check judges, all of one side."""

    def rule(identity: str, sentence: str, section: str, strength: Strength = "must", /) -> Requirement:
        return Requirement(identity, sentence, section, strength, role, (check,))

    return rule
