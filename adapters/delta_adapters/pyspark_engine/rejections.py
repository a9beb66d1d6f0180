"""Why the engine refused: by the classes of its own exceptions, and where Spark refused for it, by what Spark says."""

from __future__ import annotations

from delta_adapters.delta_spark.rejections import UNCLASSIFIED, rejection_of
from delta_models.outcomes import Outcome, Rejected, Unknown
from pyspark_delta import exceptions as engine

# From the most telling class to the least: the first that the error is an instance of counts.
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
    """What an exception of the engine means; raises EngineGone if the JVM is no more."""
    if isinstance(error, engine.CommitOutcomeUnknown):
        return Unknown(str(error))
    found: BaseException | None = error
    while found is not None:
        for kind, name in KINDS:
            if isinstance(found, kind):
                return Rejected(name, str(error))
        found = found.__cause__
    told = rejection_of(error)
    if told.kind == UNCLASSIFIED and isinstance(error, OSError):
        return Rejected("io", told.message)
    if told.kind == UNCLASSIFIED and isinstance(error, TypeError | ValueError):
        return Rejected("bad-argument", told.message)
    return told
