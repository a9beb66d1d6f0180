"""All exceptions that this engine raises on purpose, each with a cause and a cure.

They have the names of `delta.exceptions` and derive from PySpark's classes, so code that catches delta-spark's
exceptions also catches these.
"""

from __future__ import annotations

from collections.abc import Iterable

from pyspark.errors import AnalysisException, IllegalArgumentException, PySparkException

__all__ = [
    "AmbiguousMerge",
    "AppendOnlyTable",
    "CommitOutcomeUnknown",
    "ConcurrentAppendException",
    "ConcurrentDeleteDeleteException",
    "ConcurrentDeleteReadException",
    "ConcurrentTransactionException",
    "ConcurrentWriteException",
    "ConstraintViolated",
    "CorruptCheckpoint",
    "CorruptDeletionVector",
    "CorruptLog",
    "DeltaAnalysisError",
    "DeltaConcurrentModificationException",
    "DeltaError",
    "EmptyLog",
    "InvalidArgument",
    "LogGap",
    "MetadataChangedException",
    "MissingDataFile",
    "NotADeltaTable",
    "ProtocolChangedException",
    "RetentionTooShort",
    "SchemaMismatch",
    "StorageFailure",
    "TableExists",
    "TimestampNotFound",
    "UnsupportedTableFeature",
    "VersionNotFound",
]


class DeltaError(PySparkException):  # type: ignore[misc]
    """Base class: `cause` says what is wrong, `cure` what to do about it."""

    usual_cure = "Look at the cause; nothing of the table was changed."

    def __init__(self, cause: str, cure: str | None = None) -> None:
        self.cause = cause
        self.cure = cure or self.usual_cure
        super().__init__(message=f"{cause}\n  What to do: {self.cure}")
        self.args = (cause, self.cure)  # for pickling

    def getMessage(self) -> str:
        """Cause and cure."""
        return str(self)


class StorageFailure(DeltaError):
    """The storage failed: full disk, folder not writable, I/O error. The table is unchanged."""

    usual_cure = "Mend the storage (space, permissions, mount) and do it again; the table is unchanged."


class DeltaAnalysisError(DeltaError, AnalysisException):  # type: ignore[misc]
    """The request does not fit the table."""

    usual_cure = "Change what is asked for; nothing of the table was changed."


class InvalidArgument(DeltaAnalysisError, IllegalArgumentException):  # type: ignore[misc]
    """An argument has a value that makes no sense."""


class AmbiguousMerge(DeltaAnalysisError):
    """Several source rows match one row of the table, and a clause would act on it for each."""

    usual_cure = (
        "Let the source have one row for each row of the table, or tell them apart in the merge's condition."
    )


class RetentionTooShort(InvalidArgument):
    """The requested retention would delete files that others may still need."""

    usual_cure = "Ask for a longer retention."


class TableExists(DeltaAnalysisError):
    """There already is a table at that path."""

    usual_cure = "Use another place, or a call that may meet a table (append, overwrite, createIfNotExists)."


class NotADeltaTable(DeltaAnalysisError):
    """There is no table at this path."""

    usual_cure = "Check the path; a table is a folder with a folder `_delta_log` in it."


class EmptyLog(NotADeltaTable):
    """The `_delta_log` has no commit."""

    usual_cure = "Create the table (a writer may have died before its first commit), or check the path."


class LogGap(DeltaError):
    """A commit is missing that is needed to reconstruct the table."""

    usual_cure = (
        "Restore the missing files of `_delta_log` from a backup. Nothing can be read or written before that, "
        "because nobody knows what the missing commits removed."
    )


class CorruptLog(DeltaError):
    """A commit, or the state that results from the commits, violates the protocol."""

    usual_cure = (
        "Restore the named file from a backup, or restore the table to a version before it in another folder."
    )


class CorruptCheckpoint(DeltaError):
    """A checkpoint can't be read, and the commits that it replaces are gone."""

    usual_cure = "Restore the checkpoint, an older one, or the commits that it stands for, from a backup."


class MissingDataFile(DeltaError):
    """A file that the log names does not exist."""

    usual_cure = (
        "Restore the file from a backup, or take it out of the table: delete its rows, restore before it."
    )


class CorruptDeletionVector(DeltaError):
    """The bytes of a deletion vector do not match their checksum or format."""

    usual_cure = "Restore the file from a backup, or restore the table to a version before it."


class UnsupportedTableFeature(DeltaError):
    """The table needs a feature that this engine does not support; `features` names it."""

    usual_cure = (
        "Use an engine that supports it (delta-spark does), or drop the feature from the table there."
    )

    def __init__(self, cause: str, cure: str | None = None, *, features: Iterable[str] = ()) -> None:
        super().__init__(cause, cure)
        self.features = tuple(sorted(features))


class VersionNotFound(DeltaAnalysisError):
    """The table does not have this version, or no longer has it."""

    usual_cure = "Ask for a version that `history()` shows."


class TimestampNotFound(DeltaAnalysisError):
    """The table had no version at this time, or no longer has it."""

    usual_cure = "Ask for a time between the first and the last that `history()` shows."


class SchemaMismatch(DeltaAnalysisError):
    """The data does not fit the table's schema; `differences` lists every difference."""

    usual_cure = "Change the data, or let the write change the table (merge_schema, overwrite_schema)."

    def __init__(self, cause: str, cure: str | None = None, *, differences: Iterable[str] = ()) -> None:
        self.differences = tuple(differences)
        listed = "".join(f"\n  - {difference}" for difference in self.differences)
        super().__init__(cause + listed, cure)


class ConstraintViolated(DeltaError):
    """A row breaks NOT NULL, a CHECK constraint or an invariant of the table."""

    usual_cure = "Change or leave out the rows that break it, or drop the constraint; nothing was written."


class AppendOnlyTable(DeltaError):
    """Rows can't be removed, because `delta.appendOnly` is true."""

    usual_cure = "Append only, or set the property `delta.appendOnly` to false."


class CommitOutcomeUnknown(DeltaError):
    """The storage gave no clear answer and could not be queried, so the commit may or may not exist."""

    usual_cure = "Look at the table's history once the storage answers, before doing it again."


class DeltaConcurrentModificationException(DeltaError):
    """Another writer committed something on which this write depends."""

    usual_cure = "Do it again, from what the other writer committed. The table has only the other's change."


class ConcurrentWriteException(DeltaConcurrentModificationException):
    """Other writers were faster in every allowed try."""


class MetadataChangedException(DeltaConcurrentModificationException):
    """Another writer changed the schema, partitioning or properties."""


class ProtocolChangedException(DeltaConcurrentModificationException):
    """Another writer changed the table's protocol, or created the table first."""


class ConcurrentAppendException(DeltaConcurrentModificationException):
    """Another writer added files where this one read."""


class ConcurrentDeleteReadException(DeltaConcurrentModificationException):
    """Another writer removed a file that this one read."""


class ConcurrentDeleteDeleteException(DeltaConcurrentModificationException):
    """Another writer removed a file that this one removes too."""


class ConcurrentTransactionException(DeltaConcurrentModificationException):
    """Another writer committed under the same transaction id or metadata domain."""
