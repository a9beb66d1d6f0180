"""Rules about a table after its writer was killed, its storage failed, or the reply to a commit was lost.

The harness judges `crash.*` by reading the table itself after the fault, in another folder and without caches.
"""

from __future__ import annotations

from delta_models.requirements.base import Requirement, Strength

GUIDE = "docs/faults.md"
ENTRIES = "Delta Log Entries"
ADD = "Add File and Remove File"


def _crash(name: str, sentence: str, section: str, strength: Strength = "must") -> Requirement:
    return Requirement(name, sentence, section, strength, "writer", ("crashes",))


REQUIREMENTS: tuple[Requirement, ...] = (
    _crash(
        "crash.all-or-nothing",
        "An operation that is cut, or whose storage fails, leaves the table as it was before or as it is after it.",
        ENTRIES,
    ),
    _crash(
        "crash.data-before-commit",
        "Whatever a commit names is there, whole, by the time that the commit gets its name.",
        ADD,
    ),
    _crash(
        "crash.told-truly",
        "An operation that met a fault says that it is done only if it is, and that it was refused only if it is not.",
        GUIDE,
    ),
    _crash(
        "crash.once",
        "An operation whose commit was made, and reported as failed, is in the table no more than once.",
        GUIDE,
    ),
    _crash(
        "crash.keeps-committed",
        "A fault in one operation leaves the commits before it as they were.",
        ENTRIES,
    ),
    _crash(
        "crash.next-writer",
        "What a crash leaves over is in nobody's way: the next write to the table succeeds.",
        ENTRIES,
    ),
    _crash(
        "crash.left-overs-kept",
        "A vacuum leaves files alone that no commit names and that are younger than its retention: a writer that is "
        "still at work may be about to commit them.",
        GUIDE,
    ),
    _crash(
        "crash.left-overs-removed",
        "A vacuum removes files that no commit names once they are older than its retention.",
        "delta-spark 4.4.0: VACUUM",
        "reference",
    ),
)
