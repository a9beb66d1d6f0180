"""The parts of a covering profile: how much each plays, what it must cover, and with which operations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from conformance.generation.operations import MAKERS
from conformance.planning.cells import BESIDE, CRASH, FEATURE, PAIR, RACE, TYPE

COVERS = (FEATURE, TYPE, PAIR, CRASH, RACE, BESIDE)
SUITES = ("lockstep", "shared", "crashes", "races")
LENGTH = 24  # steps of a history, unless the part says otherwise


class BadPart(ValueError):
    """A part of a profile can't be planned. The message names it and the fault."""


@dataclass(frozen=True, slots=True)
class Part:
    """One part of a covering profile.

    It plays `steps` steps of histories of `length` steps. It must cover the cells of the kinds in `covers` for the
    `operations`. `letters` are what histories are drawn from, with weights. On shared tables `partner` is the other
    engine.
    """

    name: str
    suite: str
    steps: int
    covers: tuple[str, ...]
    operations: tuple[str, ...]
    letters: tuple[tuple[str, int], ...] = ()
    length: int = LENGTH
    partner: str = ""


def parse_parts(forms: Mapping[str, Any]) -> tuple[Part, ...]:
    """Read the parts of a profile from its TOML. Raises BadPart."""
    return tuple(_part(name, form) for name, form in forms.items())


def _part(name: str, form: Mapping[str, Any]) -> Part:
    known = {field.name for field in fields(Part)} - {"name"}
    if unknown := sorted(set(form) - known):
        raise BadPart(f"part {name}: unknown {', '.join(unknown)}; it may have {', '.join(sorted(known))}")
    if missing := sorted({"suite", "steps", "covers", "operations"} - set(form)):
        raise BadPart(f"part {name}: {', '.join(missing)} must be said")
    if form["suite"] not in SUITES:
        raise BadPart(f"part {name}: no suite {form['suite']!r}; there are {', '.join(SUITES)}")
    if bad := [kind for kind in form["covers"] if kind not in COVERS]:
        raise BadPart(f"part {name}: no cells {', '.join(bad)}; there are {', '.join(COVERS)}")
    letters = dict(form.get("letters", {}))
    if bad := [letter for letter in letters if letter not in MAKERS]:
        raise BadPart(f"part {name}: no letters {', '.join(bad)}; there are {', '.join(sorted(MAKERS))}")
    if not letters and form["suite"] != "races":
        raise BadPart(f"part {name}: its letters must be said")
    for key in ("steps", "length"):
        value = form.get(key, 1)
        if not isinstance(value, int) or isinstance(value, bool) or value < 1:
            raise BadPart(f"part {name}: {key} is {value!r}; a number from 1 on was expected")
    return Part(
        name,
        form["suite"],
        form["steps"],
        tuple(form["covers"]),
        tuple(form["operations"]),
        tuple(letters.items()),
        form.get("length", LENGTH),
        form.get("partner", ""),
    )
