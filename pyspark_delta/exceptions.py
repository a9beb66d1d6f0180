"""Everything that this engine raises on purpose: one class for each way to be wrong, with cause and cure.

What a script catches of delta-spark it catches here too: the names of `delta.exceptions`, and PySpark's own classes.
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
    """The base of all: `cause` says what is wrong, `cure` what to do about it."""

    usual_cure = "Look at the cause; nothing of the table was changed."

    def __init__(self, cause: str, cure: str | None = None) -> None:
        self.cause = cause
        self.cure = cure or self.usual_cure
        super().__init__(message=f"{cause}\n  What to do: {self.cure}")
        self.args = (cause, self.cure)  # by which it is pickled

    def getMessage(self) -> str:
        """Cause and cure."""
        return str(self)


class StorageFailure(DeltaError):
    """The storage refused: a full disk, a folder that can't be written, an I/O error. The table is unchanged."""

    usual_cure = "Mend the storage (space, permissions, mount) and do it again; the table is unchanged."


class DeltaAnalysisError(DeltaError, AnalysisException):  # type: ignore[misc]
    """What was asked for does not fit the table."""

    usual_cure = "Change what is asked for; nothing of the table was changed."


class InvalidArgument(DeltaAnalysisError, IllegalArgumentException):  # type: ignore[misc]
    """An argument that has no meaning here."""


class AmbiguousMerge(DeltaAnalysisError):
    """Several source rows match one row of the table, and would change it."""

    usual_cure = (
        "Let the source have one row for each row of the table, or tell them apart in the merge's condition."
    )


class RetentionTooShort(InvalidArgument):
    """What is asked for would delete files that others may still need."""

    usual_cure = "Ask for a longer retention."


class TableExists(DeltaAnalysisError):
    """There is a table at that place already."""

    usual_cure = "Use another place, or a call that may meet a table (append, overwrite, createIfNotExists)."


class NotADeltaTable(DeltaAnalysisError):
    """There is no table at this path."""

    usual_cure = "Check the path; a table is a folder with a folder `_delta_log` in it."


class EmptyLog(NotADeltaTable):
    """There is a `_delta_log`, and no commit in it."""

    usual_cure = "Create the table (a writer may have died before its first commit), or check the path."


class LogGap(DeltaError):
    """A commit that is needed to know the table is missing."""

    usual_cure = (
        "Restore the missing files of `_delta_log` from a backup. Nothing can be read or written before that, "
        "because nobody knows what the missing commits removed."
    )


class CorruptLog(DeltaError):
    """A commit, or what follows from the commits, is not what the protocol allows."""

    usual_cure = (
        "Restore the named file from a backup, or restore the table to a version before it in another folder."
    )


class CorruptCheckpoint(DeltaError):
    """A checkpoint can't be read, and the commits that it stands for are gone."""

    usual_cure = "Restore the checkpoint, an older one, or the commits that it stands for, from a backup."


class MissingDataFile(DeltaError):
    """A file that the log names is not there."""

    usual_cure = (
        "Restore the file from a backup, or take it out of the table: delete its rows, restore before it."
    )


class CorruptDeletionVector(DeltaError):
    """The bytes of a deletion vector are not those that were written."""

    usual_cure = "Restore the file from a backup, or restore the table to a version before it."


class UnsupportedTableFeature(DeltaError):
    """The table needs something of its readers or writers that this engine can't do; `features` names it."""

    usual_cure = (
        "Use an engine that supports it (delta-spark does), or drop the feature from the table there."
    )

    def __init__(self, cause: str, cure: str | None = None, *, features: Iterable[str] = ()) -> None:
        super().__init__(cause, cure)
        self.features = tuple(sorted(features))


class VersionNotFound(DeltaAnalysisError):
    """The table has no such version, or no longer."""

    usual_cure = "Ask for a version that `history()` shows."


class TimestampNotFound(DeltaAnalysisError):
    """The table had no version at that time, or no longer."""

    usual_cure = "Ask for a time between the first and the last that `history()` shows."


class SchemaMismatch(DeltaAnalysisError):
    """Data that does not fit the table's schema; `differences` lists all of them."""

    usual_cure = "Change the data, or let the write change the table (merge_schema, overwrite_schema)."

    def __init__(self, cause: str, cure: str | None = None, *, differences: Iterable[str] = ()) -> None:
        self.differences = tuple(differences)
        listed = "".join(f"\n  - {difference}" for difference in self.differences)
        super().__init__(cause + listed, cure)


class ConstraintViolated(DeltaError):
    """A row breaks NOT NULL, a CHECK constraint or an invariant of the table."""

    usual_cure = "Change or leave out the rows that break it, or drop the constraint; nothing was written."


class AppendOnlyTable(DeltaError):
    """The table takes no removal of rows, because `delta.appendOnly` is true."""

    usual_cure = "Append only, or set the property `delta.appendOnly` to false."


class CommitOutcomeUnknown(DeltaError):
    """The storage gave no clear answer, and could not be asked whether the commit is there."""

    usual_cure = "Look at the table's history once the storage answers, before doing it again."


class DeltaConcurrentModificationException(DeltaError):
    """Another writer committed something that this one's result depends on."""

    usual_cure = "Do it again, from what the other writer committed. The table has only the other's change."


class ConcurrentWriteException(DeltaConcurrentModificationException):
    """Other writers were faster in every try that is allowed."""


class MetadataChangedException(DeltaConcurrentModificationException):
    """Another writer changed schema, partitioning or properties."""


class ProtocolChangedException(DeltaConcurrentModificationException):
    """Another writer changed the protocol of the table, or created the table first."""


class ConcurrentAppendException(DeltaConcurrentModificationException):
    """Another writer added files where this one had read."""


class ConcurrentDeleteReadException(DeltaConcurrentModificationException):
    """Another writer removed a file that this one had read."""


class ConcurrentDeleteDeleteException(DeltaConcurrentModificationException):
    """Another writer removed a file that this one removes too."""


class ConcurrentTransactionException(DeltaConcurrentModificationException):
    """Another writer committed under the same transaction id or metadata domain."""
