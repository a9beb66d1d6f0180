"""Classify the refusals of the in-house engine by its exception classes, or by Spark's error if Spark refused."""

from __future__ import annotations

from delta_adapters.delta_spark.rejections import UNCLASSIFIED, rejection_of
from delta_models.outcomes import Outcome, Rejected, Unknown
from pyspark_delta import exceptions as engine

# From the most specific class to the least: the first that the error is an instance of counts.
KINDS: tuple[tuple[type[Exception], str], ...] = (
    (engine.AmbiguousMerge, "ambiguous-match"),
    (engine.AppendOnlyTable, "append-only"),
    (engine.ConcurrentAppendException, "conflict.append"),
    (engine.ConcurrentDeleteDeleteException, "conflict.delete-delete"),
    (engine.ConcurrentDeleteReadException, "conflict.delete-read"),
    (engine.ConcurrentTransactionException, "conflict.transaction"),
    (engine.MetadataChangedException, "conflict.metadata"),
    (engine.ProtocolChangedException, "conflict.protocol"),
    (engine.DeltaConcurrentModificationException, "conflict.other"),
    (engine.ConstraintViolated, "constraint"),
    (engine.CorruptCheckpoint, "corrupt-log"),
    (engine.CorruptDeletionVector, "corrupt-log"),
    (engine.CorruptLog, "corrupt-log"),
    (engine.LogGap, "corrupt-log"),
    (engine.MissingDataFile, "missing-file"),
    (engine.NotADeltaTable, "missing-table"),
    (engine.RetentionTooShort, "retention"),
    (engine.SchemaMismatch, "schema"),
    (engine.StorageFailure, "io"),
    (engine.TableExists, "table-exists"),
    (engine.TimestampNotFound, "missing-version"),
    (engine.UnsupportedTableFeature, "unsupported-feature"),
    (engine.VersionNotFound, "missing-version"),
    (engine.DeltaAnalysisError, "bad-argument"),
)


def outcome_of(error: Exception) -> Outcome:
    """Return the outcome that an exception of the engine means. Raises EngineGone if the JVM has ended."""
    if isinstance(error, engine.CommitOutcomeUnknown):
        return Unknown(str(error))
    cause: BaseException | None = error
    while cause is not None:
        for exception, kind in KINDS:
            if isinstance(cause, exception):
                return Rejected(kind, str(error))
        cause = cause.__cause__
    rejection = rejection_of(error)
    if rejection.kind == UNCLASSIFIED and isinstance(error, OSError):
        return Rejected("io", rejection.message)
    if rejection.kind == UNCLASSIFIED and isinstance(error, TypeError | ValueError):
        return Rejected("bad-argument", rejection.message)
    return rejection
