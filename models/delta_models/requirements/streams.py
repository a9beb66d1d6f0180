"""Rules about streams: streaming readers of a table, and streams that write into one.

A stream stores its progress in a folder of its own, which Structured Streaming calls its checkpoint. These rules call
it the stream's progress, because it has nothing to do with the checkpoints of the table's log.
"""

from __future__ import annotations

from delta_models.requirements.base import Requirement, Role, Strength

GUIDE = "docs/faults.md"
ADD = "Add File and Remove File"
SOURCE = "delta-spark 4.4.0: a table as a streaming source"


def _stream(
    name: str, sentence: str, section: str, strength: Strength = "must", role: Role = "reader"
) -> Requirement:
    return Requirement(f"stream.{name}", sentence, section, strength, role, ("streams",))


REQUIREMENTS: tuple[Requirement, ...] = (
    _stream(
        "each-row-once",
        "A reader that follows a table gets no row more often than it came, whatever was started again in between.",
        GUIDE,
    ),
    _stream(
        "none-lost",
        "A reader that follows a table has got, by each of its looks, all that had come by then.",
        GUIDE,
    ),
    _stream(
        "only-committed",
        "A reader that follows a table gets no row that was never in it: nothing of a commit that failed.",
        GUIDE,
    ),
    _stream(
        "upkeep-brings-nothing",
        "Files that were added without a change of data bring a reader that follows the table nothing.",
        ADD,
    ),
    _stream(
        "follows",
        "A reader that follows a table is answered, in the table's columns, as long as nothing is in its way.",
        SOURCE,
        "reference",
    ),
    _stream(
        "changes-refused",
        "A reader that follows rows alone is refused, not answered as if nothing were, once a commit took some away.",
        SOURCE,
        "reference",
    ),
    _stream(
        "changes-skipped",
        "A reader that passes over changes gets nothing of a commit that took rows away.",
        SOURCE,
        "reference",
    ),
    _stream(
        "written-once",
        "A stream writes nothing twice into a table, wherever it was cut and started again: between the table's commit "
        "and that of its own progress too.",
        "Transaction Identifiers",
        role="writer",
    ),
    _stream(
        "all-written",
        "A stream that was cut and is started again writes all that had arrived.",
        GUIDE,
        role="writer",
    ),
)
