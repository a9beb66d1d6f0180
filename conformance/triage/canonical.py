"""The identity of a finding: a fingerprint of its minimal history in a canonical form, and of the requirement.

The canonical form has names by order: columns c0, c1 .., slots A, B ... What a history comes from is left out. Names
that are not plain stay as they are: the shrinker gives plain names wherever the failure allows, so what is left of
others matters.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable
from dataclasses import replace

from conformance.findings.fingerprint import DIGITS
from conformance.generation import SLOTS
from conformance.histories import History
from conformance.triage.reductions.columns import columns_in, renamed
from delta_models.requirements import BY_ID, CATALOGUE

_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
_STRENGTHS = ("must", "should", "reference", "lenient")
_ORDER = {requirement.id: number for number, requirement in enumerate(CATALOGUE)}


def canonical(history: History) -> History:
    """The history in its canonical form, which means the same: one for all histories that differ in names."""
    plain = [name for name in columns_in(history) if _PLAIN.fullmatch(name)]
    taken = {name.casefold() for name in columns_in(history)} - {name.casefold() for name in plain}
    free = (name for name in map("c{}".format, range(len(plain) + len(taken))) if name not in taken)
    names = {name.casefold(): new for name, new in zip(plain, free, strict=False)}
    history = renamed(history, names)
    used = dict.fromkeys(slot for step in history.steps for slot in (step.by or step.slot,) if slot)
    slots = dict(zip(used, SLOTS, strict=False))
    steps = tuple(
        replace(step, slot=slots.get(step.by or step.slot or ""), by=None) for step in history.steps
    )
    return History(history.suite, "", 0, 0, steps, history.explicit_reads)


def fingerprint_of(engine_name: str, requirement: str, history: History) -> str:
    """The fingerprint of a minimal history that violates a requirement: the same in every process and on every machine.

    The engine counts by its name alone, so that a finding is the same in another version.
    """
    steps = canonical(history).to_json()["steps"]
    return _digest({"engine": engine_name, "requirement": requirement, "steps": steps})


def cause_fingerprint(engine_name: str, cause_id: str) -> str:
    """The fingerprint of a finding that a cause explains."""
    return _digest({"engine": engine_name, "cause": cause_id})


def principal(requirements: Iterable[str]) -> tuple[str, ...]:
    """Requirements in the order in which they stand for a finding: *must* first, then as the catalogue has them."""
    return tuple(sorted(set(requirements), key=_rank))


def _rank(requirement: str) -> tuple[int, int]:
    return _STRENGTHS.index(BY_ID[requirement].strength), _ORDER[requirement]


def _digest(form: object) -> str:
    text = json.dumps(form, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()[:DIGITS]
