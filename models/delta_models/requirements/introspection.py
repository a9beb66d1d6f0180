"""Rules about what an engine reports of a table beside its rows: the change feed, the history, the details."""

from __future__ import annotations

from delta_models.requirements.base import Requirement, Strength

FEED = "Reader Requirements for AddCDCFile"
MAPPED = "Column Mapping"
SPARK_FEED = "delta-spark 4.4.0: change data feed"
SPARK_HISTORY = "delta-spark 4.4.0: DESCRIBE HISTORY"
SPARK_METRICS = "delta-spark 4.4.0: operation metrics"
SPARK_DETAIL = "delta-spark 4.4.0: DESCRIBE DETAIL"


def _introspection(name: str, sentence: str, section: str, strength: Strength = "must") -> Requirement:
    return Requirement(name, sentence, section, strength, "reader", ("told",))


def _counts(name: str, sentence: str) -> Requirement:
    return Requirement(f"metrics.{name}", sentence, SPARK_METRICS, "reference", "writer", ("metrics",))


REQUIREMENTS: tuple[Requirement, ...] = (
    _introspection("changes.told", "The change feed of versions that all recorded it can be read.", FEED),
    _introspection(
        "changes.columns",
        "The change feed has the table's columns, the kind of change and the version, each of its type.",
        FEED,
    ),
    _introspection(
        "changes.rows",
        "The change feed tells the changed rows that the log records, each with its kind and version: those of the cdc "
        "files where a version has some, else those of the files that it adds and removes.",
        FEED,
    ),
    _introspection(
        "changes.commit-timestamps",
        "The change feed has the time of each row's commit: its in-commit timestamp where these are enabled, else the "
        "time of its file.",
        FEED,
        "should",
    ),
    _introspection(
        "changes.across-new-columns",
        "The change feed of versions between which columns were added tells nulls in these for the rows from before.",
        SPARK_FEED,
        "reference",
    ),
    _introspection(
        "changes.across-other-columns",
        "The change feed of versions between which columns were renamed, dropped, moved or widened is refused, or "
        "tells each row by the columns' physical names and in their newest types.",
        MAPPED,
    ),
    _introspection(
        "changes.refused-where-not-recorded",
        "The change feed of a version that did not record it is refused.",
        SPARK_FEED,
        "reference",
    ),
    _introspection("history.told", "The history of a table is told.", SPARK_HISTORY, "reference"),
    _introspection(
        "history.versions",
        "The history has each version that the log holds, once, the newest first.",
        SPARK_HISTORY,
        "reference",
    ),
    _introspection(
        "history.operations",
        "The history gives each version the operation that its commit names.",
        SPARK_HISTORY,
        "reference",
    ),
    _introspection(
        "history.timestamps",
        "Where in-commit timestamps are enabled, the history gives each version its own, and those from before the "
        "time of their files.",
        "Recommendations for Readers of Tables with In-Commit Timestamps",
        "should",
    ),
    _introspection(
        "history.metrics",
        "The history gives each version the metrics that its commit holds, and no others.",
        SPARK_HISTORY,
        "reference",
    ),
    _counts("rows-written", "A write's count of rows is that of the rows in the files that it adds."),
    _counts("rows-deleted", "A delete's count of rows is that of the rows that are gone."),
    _counts("rows-updated", "An update's count of rows is that of the rows that its predicate picks."),
    _counts(
        "rows-merged",
        "A merge's counts of inserted, updated and deleted rows are those on which its clauses act, each row once.",
    ),
    _counts(
        "rows-copied",
        "The count of copied rows is that of the rows in new files that were neither changed nor new.",
    ),
    _counts(
        "files",
        "Counts of files are those that came and went. Not judged: where a file stays with another vector, new "
        "files where none came or more were asked for than there are rows, and overwrites of a part.",
    ),
    _introspection("detail.told", "What there is to say of a table is told.", SPARK_DETAIL, "reference"),
    _introspection(
        "detail.true",
        "What is said of a table's files, partition columns, properties and protocol is what the log says.",
        SPARK_DETAIL,
        "reference",
    ),
)
