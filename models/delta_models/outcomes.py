"""How an operation ended, as an engine reports it.

An outcome is more than success or failure. `Unknown` means that the engine cannot say whether the table changed: then
the harness reads the log to find out.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Committed:
    """The operation succeeded, and its effect is durable."""


@dataclass(frozen=True, slots=True)
class NoChange:
    """The operation succeeded without anything to do: it added no version."""


@dataclass(frozen=True, slots=True)
class Rejected:
    """The engine refused the operation, and the table is as before.

    `kind` is one of REJECTIONS. `message` is the engine's own text.
    """

    kind: str
    message: str = ""


@dataclass(frozen=True, slots=True)
class Unsupported:
    """The engine does not have the operation, or does not have these options of it."""

    reason: str


@dataclass(frozen=True, slots=True)
class Unknown:
    """The engine reported a failure, or nothing at all. The table may or may not have changed."""

    reason: str


Outcome = Committed | NoChange | Rejected | Unsupported | Unknown

REJECTIONS = {
    "constraint": "a row breaks NOT NULL, a CHECK constraint or an invariant",
    "schema": "rows, columns or types do not fit the table's schema",
    "ambiguous-match": "several source rows of a merge match one target row",
    "append-only": "the table allows no deletes and updates",
    "rows-changed": "a reader that follows new rows alone met a commit that took rows away",
    "conflict.append": "a concurrent writer added rows that the operation should have seen",
    "conflict.delete-read": "a concurrent writer removed a file that the operation read",
    "conflict.delete-delete": "a concurrent writer removed a file that the operation removes",
    "conflict.metadata": "a concurrent writer changed the table's metadata",
    "conflict.protocol": "a concurrent writer changed the table's protocol",
    "conflict.transaction": "a concurrent writer used the same transaction id or metadata domain",
    "conflict.other": "a concurrent writer came first",
    "missing-version": "the version or time asked for does not exist or is no longer kept",
    "missing-table": "there is no table",
    "table-exists": "there is a table already",
    "missing-file": "a file that the log names is not there",
    "corrupt-log": "the log can't be understood",
    "bad-argument": "the operation's arguments make no sense for this table",
    "retention": "the retention asked for is shorter than what is safe",
    "overflow": "a value does not fit its type",
    "unsupported-feature": "the table needs a feature that the engine does not support",
    "io": "the storage failed before anything was published",
    "unclassified": "the adapter could not tell why; charged to the adapter",
}
