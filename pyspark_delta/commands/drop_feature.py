"""Remove a feature from a table's protocol, if it concerns writers only and the table does not use it.

Features that readers must know are refused. Older versions still need them, and an engine that does not know the
feature could clean up or checkpoint those versions wrongly. The feature against that, `checkpointProtection`, is only
proposed for the protocol.
"""

from __future__ import annotations

from pyspark.sql import SparkSession

from pyspark_delta import features
from pyspark_delta.commands.command_context import changing
from pyspark_delta.exceptions import DeltaAnalysisError, InvalidArgument, UnsupportedTableFeature
from pyspark_delta.log.actions import Protocol
from pyspark_delta.log.delta_log import DeltaLog
from pyspark_delta.log.snapshot import Snapshot

__all__ = ["drop_feature"]

_CONSTRAINT = "delta.constraints."


def drop_feature(spark: SparkSession, log: DeltaLog, name: str, *, truncate_history: bool = False) -> None:
    """Remove a writer feature from the table's protocol."""
    feature = next((known for known in features.known() if known.lower() == name.lower()), None)
    if feature is None:
        raise UnsupportedTableFeature(f"there is no feature {name} that this engine knows", features=(name,))
    with changing(spark, log) as change:
        snapshot = change.snapshot
        if not features.supports(snapshot.protocol, feature):
            raise DeltaAnalysisError(f"the table {log.path} has no feature {feature} to drop")
        users = _users(snapshot, feature)
        if users is None:
            raise UnsupportedTableFeature(
                f"dropping the feature {feature} is not supported",
                "Drop it with delta-spark, or copy the rows into a new table.",
                features=(feature,),
            )
        if truncate_history:
            raise InvalidArgument(
                f"the past of the table can't be cut off for {feature}, which concerns writers only",
                "Leave truncateHistory out.",
            )
        if users:
            raise DeltaAnalysisError(
                f"the feature {feature} can't be dropped while the table has {', '.join(users)}",
                "Take those out of the table first.",
            )
        wanted = _without(snapshot.protocol, feature)
        change.transaction.update_protocol(wanted)
        parameters = {"featureName": feature, "truncateHistory": "false"}
        change.commit([], "DROP FEATURE", parameters, {})


def _users(snapshot: Snapshot, feature: str) -> list[str] | None:
    """What in the table uses a feature; None for features that can't be dropped here."""
    if feature == "checkConstraints":
        names = (property_ for property_ in snapshot.properties if property_.startswith(_CONSTRAINT))
        return sorted(f"the constraint {name.removeprefix(_CONSTRAINT)}" for name in names)
    if feature == "domainMetadata":
        return sorted(f"the domain {name}" for name in snapshot.domains)
    return None


def _without(protocol: Protocol, feature: str) -> Protocol:
    """The lowest protocol that has the other features; versions alone if some versions imply exactly these."""
    rest = features.writer_features(protocol) - {feature}
    readers = features.reader_features(protocol)
    for writer in range(1, 7):
        for reader in range(1, 3):
            plain = Protocol(reader, writer)
            if (features.writer_features(plain), features.reader_features(plain)) == (rest, readers):
                return plain
    return Protocol(3 if readers else 1, 7, readers or None, rest)
