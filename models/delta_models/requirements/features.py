"""Rules about row tracking and compatibility with Iceberg, as the log and the files show them."""

from __future__ import annotations

from delta_models.requirements.base import Requirement, rules_of

TRACKING = "Row Tracking"
V1 = "Iceberg Compatibility V1"
V2 = "Iceberg Compatibility V2"
MANAGED = "Writer Requirements for Catalog-managed tables"
_rule = rules_of("log")

REQUIREMENTS: tuple[Requirement, ...] = (
    _rule("tracking.needs-feature", "Row tracking is enabled only with the feature rowTracking.", TRACKING),
    _rule(
        "tracking.columns-named",
        "With row tracking the properties name two columns for ids and versions that the table does not have.",
        TRACKING,
    ),
    _rule(
        "tracking.enabled-whole",
        "Row tracking is enabled over files that all have row ids already.",
        TRACKING,
    ),
    _rule(
        "tracking.removes-keep-ids",
        "A remove has the baseRowId and the defaultRowCommitVersion of the file that it removes.",
        TRACKING,
    ),
    _rule(
        "tracking.fresh-commit-version",
        "A new file has the version of its commit as defaultRowCommitVersion.",
        TRACKING,
    ),
    _rule(
        "tracking.suspended", "New files get no row ids while row tracking is suspended.", TRACKING, "should"
    ),
    _rule(
        "tracking.enabled-or-suspended",
        "Row tracking is not enabled and suspended at once.",
        TRACKING,
        "should",
    ),
    _rule(
        "tracking.preserved-told",
        "A commit that moves no row says in its tags that the ids of rows are preserved.",
        TRACKING,
        "should",
    ),
    _rule("iceberg.column-mapping", "A table that is compatible with Iceberg maps its columns.", V1),
    _rule(
        "iceberg.no-deletion-vectors",
        "A table that is compatible with Iceberg has no deletion vectors: V1 not their feature, V2 not their property.",
        V1,
    ),
    _rule("iceberg.num-records", "Each file of a table that is compatible with Iceberg has numRecords.", V1),
    _rule(
        "iceberg.partition-columns-in-files",
        "The files of a table that is compatible with Iceberg hold its partition columns.",
        V1,
    ),
    _rule(
        "iceberg.types",
        "A table that is compatible with Iceberg has no column of a type that Iceberg lacks.",
        V1,
    ),
    _rule(
        "iceberg.partition-names-stay",
        "A partitioned table that is compatible with Iceberg is not partitioned by other columns later.",
        V1,
    ),
    _rule(
        "iceberg.type-changes",
        "A table that is compatible with Iceberg widens types only as Iceberg does.",
        V1,
    ),
    _rule("iceberg.one-version", "icebergCompatV1 and icebergCompatV2 are not active at once.", V2),
    _rule("iceberg.nested-ids", "With icebergCompatV2 elements, keys and values have ids of their own.", V2),
    _rule(
        "iceberg.nested-ids-in-files",
        "With icebergCompatV2 elements, keys and values have in a data file the ids that the schema gives them.",
        V2,
    ),
    _rule("iceberg.timestamps-as-int64", "With icebergCompatV2 files hold timestamps as int64.", V2),
    _rule(
        "catalog.transaction-id",
        "Each commit of a table that a catalog manages has a txnId in its commitInfo.",
        MANAGED,
    ),
    _rule(
        "catalog.in-commit-timestamps",
        "A table that a catalog manages has in-commit timestamps enabled.",
        MANAGED,
    ),
    _rule(
        "iceberg.partition-columns-last",
        "With icebergCompatV1 the partition columns in a file come after the others.",
        V1,
    ),
)
