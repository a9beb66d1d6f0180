"""Why a script cannot decide by a rule of the log: a table of the rules that are left to a person, by reason."""

from __future__ import annotations

ROW_IDS = (
    "it is about the ids and versions of rows, which files give by their place or in columns of other names"
)
VARIANTS = "it is about how variants are encoded, which takes a reader of its own"
COLUMNS = "it is about a column over several versions, or about columns within columns"
LAYOUT = "it is about the inside of Parquet files: types, pages, ids of fields, whether they fit the schema"
ICEBERG = "it is about properties of a table that Iceberg reads, or that a catalog manages"
CLUSTERING = "it is about what a metadata domain says, which may come from another version"
STATE = "it compares all that a checkpoint, a checksum or a compaction says with the state of its version"
PROPERTIES = "it is about what a property or an expression means"

UNDECIDED: dict[str, str] = {
    rule: reason
    for reason, rules in {
        ROW_IDS: (
            "log.row-ids-fresh", "log.row-id-high-water-mark", "rows.changed-rows-have-new-version",
            "rows.commit-versions-stay", "rows.copied-ids-stay", "rows.ids-stay", "rows.ids-unique",
            "rows.ids-unlike-fresh", "rows.updated-ids-stay", "tracking.columns-named", "tracking.fresh-commit-version",
        ),
        VARIANTS: (
            "checkpoint.variant-bounds-are-variants", "log.variant-shredding-needs-feature", "log.variant-unshredded",
            "schema.variant-clusters-nothing", "schema.variant-defaults-to-null", "schema.variant-not-generated",
            "stats.variant-bounds-by-path", "stats.variant-bounds-encoded", "stats.variant-bounds-need-shredding",
            "stats.variant-bounds-one-type", "stats.variant-bounds-primitive", "stats.variant-bounds-types-agree",
            "stats.variant-max-values", "stats.variant-min-values", "stats.variant-null-count",
            "stats.variant-tight-bounds",
        ),
        COLUMNS: (
            "log.schema-readable", "schema.column-ids-not-reused", "schema.nested-not-null-holds",
            "schema.partitioning-fits-files", "schema.physical-names-not-reused", "schema.type-change-allowed",
            "schema.type-change-recorded", "schema.type-changes-kept", "schema.type-widening-dropped-whole",
            "stats.max-string-not-below", "stats.physical-names",
        ),
        LAYOUT: (
            "cdc.readable", "checkpoint.data-pages", "log.added-file-readable", "log.data-pages",
            "log.page-format-legal", "log.timestamps-adjusted", "log.void-not-in-files", "schema.files-have-field-ids",
        ),
        ICEBERG: (
            "catalog.in-commit-timestamps", "iceberg.nested-ids", "iceberg.nested-ids-in-files",
            "iceberg.no-deletion-vectors", "iceberg.partition-columns-in-files", "iceberg.partition-columns-last",
            "iceberg.partition-names-stay", "iceberg.timestamps-as-int64", "iceberg.type-changes", "iceberg.types",
        ),
        CLUSTERING: (
            "checksum.domains", "log.clustering-domain", "log.removed-domain-keeps-configuration",
            "stats.clustering-columns", "stats.new-clustering-columns",
        ),
        STATE: (
            "checkpoint.actions-well-formed", "checkpoint.hint-add-files", "checkpoint.hint-checksum",
            "checkpoint.hint-keys-once", "checkpoint.hint-size", "checkpoint.keeps-clustering-provider",
            "checkpoint.keeps-removal-times", "checkpoint.keeps-tags", "checkpoint.keeps-tombstones",
            "checkpoint.no-parts-with-v2", "checkpoint.parsed-partition-values-agree", "checkpoint.parsed-stats-agree",
            "checkpoint.sidecars-hold-file-actions", "checkpoint.sidecars-in-their-folder", "checksum.histograms",
            "log.cleanup-keeps-checkpoint-commit", "log.compaction-readable",
        ),
        PROPERTIES: (
            "log.constraint-columns-known", "log.feature-needs-reader-version", "log.in-commit-timestamp-after-files",
        ),
    }.items()
    for rule in rules
}  # fmt: skip


def person_needed(requirement: str) -> str:
    """Why a person must judge, in words for the end of a script."""
    why = UNDECIDED.get(requirement)
    judge = "the newest commit is above; a person must judge it by the sentence at the top of this file"
    return f"{judge}: {why}" if why else judge
