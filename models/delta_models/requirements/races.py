"""Rules about concurrent writers of one table, and about readers beside them."""

from __future__ import annotations

from delta_models.requirements.base import Requirement, Role, Strength

GUIDE = "docs/faults.md"
ENTRIES = "Delta Log Entries"


def _race(
    name: str, sentence: str, section: str, strength: Strength = "must", role: Role = "writer"
) -> Requirement:
    return Requirement(name, sentence, section, strength, role, ("races",))


REQUIREMENTS: tuple[Requirement, ...] = (
    _race(
        "race.all-acknowledged",
        "Every commit that a writer was told of is in the log: none takes the place of another.",
        ENTRIES,
    ),
    _race(
        "race.no-lost-update",
        "The effect of every operation that committed is there: none undoes another that it did not see.",
        GUIDE,
    ),
    _race(
        "race.no-doubled-rows",
        "No row is there more often than some order of the writers would have it.",
        GUIDE,
    ),
    _race("race.no-resurrected-rows", "No row is there that each order of the writers takes away.", GUIDE),
    _race(
        "race.no-write-skew",
        "The rows are those of some order of the writers, each of which saw what those before it did.",
        GUIDE,
    ),
    _race(
        "race.serializable",
        "The versions of a Serializable table are, one after another, states of some order of the writers.",
        GUIDE,
    ),
    _race("race.told-truly", "A writer that was refused has left nothing in the table.", GUIDE),
    _race(
        "race.vacuum-spares-new-files",
        "A vacuum beside other writers deletes nothing that they are about to commit.",
        GUIDE,
    ),
    _race(
        "race.no-dirty-read",
        "A reader beside writers sees a state that was committed, whole.",
        GUIDE,
        role="reader",
    ),
    _race(
        "race.conflicts-as-documented",
        "Operations that cannot conflict by Delta Lake's documentation both succeed.",
        "delta-spark 4.4.0: concurrency control",
        "reference",
    ),
    _race(
        "race.appends-read-nothing",
        "An append, which reads nothing, is not refused because another writer removed or rewrote rows.",
        "delta-spark 4.4.0: conflict checking",
        "reference",
    ),
)
