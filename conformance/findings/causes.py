"""Which known deviation a finding is, if any: by its key, and by what occurred in its history."""

from __future__ import annotations

from conformance.findings.fingerprint import Key
from conformance.history import History
from delta_adapters.deviations import known, set_off
from delta_models.operations import Reopen
from delta_models.table import NotModelled, World


def known_deviation(key: Key, version: str | None = None, history: History | None = None) -> str | None:
    """The name of the entry that a finding belongs to, None if it is news.

    Without a version any version counts, without its history whatever the key fits.
    """
    triggers = None if history is None else triggers_of(history)
    entry = known(key.fingerprint, key.engine, version, form=key.to_json(), triggers=triggers)
    return None if entry is None else entry.name


def triggers_of(history: History) -> frozenset[str]:
    """What occurred in a history of that which is known to trip engines, by the names of the triggers."""
    found: frozenset[str] = frozenset()
    world = World()
    for step in history.steps:
        found |= set_off(world.table, step.operation)
        try:
            world = world.after(step.operation)
        except NotModelled:  # a fault, or a race: the table keeps its columns
            world = world.after(Reopen())
    return found
