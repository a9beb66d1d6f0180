"""Perform one of each common operation on a tiny table, so that the JVM loads the classes that are then archived.

python -m delta_adapters.delta_spark.class_archive_warmup FOLDER
"""

from __future__ import annotations

import sys
from pathlib import Path

from delta_adapters.contract import Answer
from delta_adapters.delta_spark.adapter import DeltaSpark
from delta_models.expressions import Column, Compare, Literal
from delta_models.operations import (
    Append,
    AtVersion,
    Create,
    Delete,
    Merge,
    MergeClause,
    Optimize,
    Overwrite,
    Read,
    Restore,
    Update,
    Vacuum,
)
from delta_models.outcomes import Committed
from delta_models.schema import LONG, STRING, struct
from delta_models.values import Rows
from delta_models.wire_names import name_of

SCHEMA = struct(("id", LONG), ("letter", STRING), ("part", STRING))
FIRST = Compare("=", Column(("id",)), Literal(LONG, 1))
SAME = Compare("=", Column(("target", "id")), Column(("source", "id")))
UPSERT = (
    MergeClause("matched", "update", everything=True),
    MergeClause("not-matched", "insert", everything=True),
)


def _rows(*values: tuple[int, str, str]) -> Rows:
    return Rows(SCHEMA, values)


OPERATIONS = (
    Create(SCHEMA, ("part",), (("delta.checkpointInterval", "3"),)),
    Append(_rows((1, "a", "x"), (2, "b", "y"), (3, "c", "x")), files=2),
    Update((("letter", Literal(STRING, "u")),), FIRST),
    Delete(FIRST),
    Merge(_rows((2, "m", "y"), (4, "n", "x")), SAME, UPSERT),
    Overwrite(_rows((5, "e", "y")), where=Compare("=", Column(("part",)), Literal(STRING, "y"))),
    Append(_rows((6, "f", "x"))),
    Optimize(),
    Restore(AtVersion(1)),
    Vacuum(0),
)


def main(folder: Path) -> int:
    """Return 0 if every operation and every read succeeded, else 1."""
    adapter = DeltaSpark()
    adapter.start(folder / "work")
    adapter.open(str(folder / "table"))
    for operation in OPERATIONS:
        outcome = adapter.execute(operation, "training")
        if outcome != Committed():
            print(f"{name_of(operation)} came to {outcome}", file=sys.stderr)  # noqa: T201 - its parent's log
            return 1
        for read in (Read(), Read(where=FIRST), Read(AtVersion(0))):
            answer = adapter.read(read)
            if not isinstance(answer, Answer):
                print(f"a read came to {answer}", file=sys.stderr)  # noqa: T201 - its parent's log
                return 1
    adapter.stop()
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
