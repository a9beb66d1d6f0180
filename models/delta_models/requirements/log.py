"""Rules about the files of a log, the actions in them, the protocol and table features."""

from __future__ import annotations

from delta_models.requirements.base import Requirement, rules_of

PROPERTIES = "Table Properties"
FILES = "Add File and Remove File"
METADATA = "Change Metadata"
PROTOCOL = "Protocol Evolution"
_rule = rules_of("log")
_folder = rules_of("checkpoint")  # seen in the listing and not in a commit, so judged with the checkpoints

REQUIREMENTS: tuple[Requirement, ...] = (
    # Commits
    _rule("log.commit-is-json-lines", "Every line of a commit is one JSON object.", "Delta Log Entries"),
    _rule("log.one-action-a-line", "A line of a commit holds one action.", "Delta Log Entries"),
    _rule("log.required-field", "Every action has the fields that the protocol requires.", "Actions"),
    _rule("log.field-type", "Every field of an action has the type that the protocol gives it.", "Actions"),
    _folder(
        "log.versions-contiguous",
        "The versions of the commits follow each other without a gap.",
        "Delta Log Entries",
    ),
    _folder(
        "log.commit-never-changes", "A commit file is never written again.", "Creation of New Log Entries"
    ),
    _folder(
        "log.oldest-version-has-checkpoint",
        "Where older commits are gone, a checkpoint covers them.",
        "Metadata Cleanup",
    ),
    _rule("log.first-commit-has-protocol", "The first version of a table has a protocol action.", PROTOCOL),
    _rule("log.first-commit-has-metadata", "The first version of a table has a metaData action.", METADATA),
    _rule("log.one-metadata-a-commit", "A version has at most one metaData action.", METADATA),
    _rule("log.one-protocol-a-commit", "A version has at most one protocol action.", PROTOCOL),
    _rule(
        "log.one-transaction-an-application",
        "A version has at most one txn action of an application.",
        "Action Reconciliation",
    ),
    _rule(
        "log.one-action-a-domain",
        "A version has at most one domainMetadata action of a domain.",
        "Domain Metadata",
    ),
    _rule(
        "log.no-checkpoint-actions",
        "checkpointMetadata and sidecar stand in V2 checkpoints only.",
        "Sidecar File Information",
    ),
    # Files
    _rule(
        "log.path-is-uri",
        "The path of a file is a URI as RFC 2396 has it: US-ASCII, and all but its own characters percent-encoded.",
        FILES,
    ),
    _rule("log.path-added-once", "A version adds a path at most once, whatever its deletion vector.", FILES),
    _rule(
        "log.path-removed-once", "A version removes a path at most once, whatever its deletion vector.", FILES
    ),
    _rule("log.no-add-and-remove-of-one-file", "A version does not add and remove one logical file.", FILES),
    _rule("log.remove-names-live-file", "A removed file was live.", "Action Reconciliation"),
    _rule(
        "log.remove-carries-vector", "A remove names the deletion vector with which its file is live.", FILES
    ),
    _rule(
        "log.add-replaces-live-file",
        "A path that is live with another deletion vector is added only if that is removed.",
        FILES,
    ),
    _rule("log.remove-extended-metadata", "extendedFileMetadata promises partitionValues and size.", FILES),
    _rule("log.cdc-no-data-change", "A cdc action has dataChange false.", "Add CDC File"),
    _rule(
        "log.partition-values-complete",
        "An add has a value for every partition column and for no other.",
        FILES,
    ),
    _rule(
        "log.partition-value-readable",
        "A partition value is written as its column's type demands.",
        "Partition Value Serialization",
    ),
    _rule(
        "log.partition-value-agrees-with-file",
        "A partition column that a data file holds as well agrees with the log.",
        "Data Files",
    ),
    _rule("log.append-only", "An append-only table never loses rows.", "Append-only Tables"),
    _rule("log.added-file-exists", "An added file is there when its commit is.", "Requirements for Writers"),
    _rule("log.added-file-size", "An added file has the size that its action says.", FILES),
    _rule(
        "log.added-file-readable",
        "An added file is a Parquet file that fits the table's schema.",
        "Consistency Between Table Metadata and Data Files",
    ),
    # Protocol and metadata
    _rule(
        "log.reader-features-iff-version-3",
        "readerFeatures is there exactly if minReaderVersion is 3.",
        PROTOCOL,
    ),
    _rule(
        "log.writer-features-iff-version-7",
        "writerFeatures is there exactly if minWriterVersion is 7.",
        PROTOCOL,
    ),
    _rule("log.reader-3-needs-writer-7", "Reader version 3 comes with writer version 7.", "Table Features"),
    _rule(
        "log.reader-features-are-writer-features",
        "A feature of readers is listed for writers as well.",
        "Table Features",
    ),
    _rule(
        "log.reader-writer-feature-in-both-lists",
        "A feature of readers and writers is listed for both.",
        "Table Features",
    ),
    _rule(
        "log.writer-feature-in-writer-list-only",
        "A feature of writers alone is not listed for readers.",
        "Table Features",
    ),
    _rule(
        "log.schema-readable",
        "schemaString is a schema in Delta's serialization.",
        "Schema Serialization Format",
    ),
    _rule(
        "log.column-names-unique",
        "Names of columns differ in more than their case.",
        "Schema Serialization Format",
    ),
    _rule("log.partition-columns-in-schema", "Every partition column is a column of the schema.", METADATA),
    _rule(
        "log.partition-columns-atomic",
        "No struct, array or map partitions a table.",
        "Partition Value Serialization",
        "reference",
    ),
    _rule("log.format-is-parquet", "The format of a table is Parquet.", "Format Specification"),
    _rule(
        "log.type-needs-feature", "A type that needs a table feature is used only with it.", "Table Features"
    ),
    _rule(
        "log.domain-needs-feature",
        "Metadata domains are written only with the feature domainMetadata.",
        "Domain Metadata",
    ),
    _rule(
        "log.row-tracking-fields",
        "With row tracking every add has baseRowId and defaultRowCommitVersion.",
        "Row Tracking",
    ),
    _rule(
        "log.in-commit-timestamp-needs-feature",
        "In-commit timestamps are enabled only with their feature.",
        "In-Commit Timestamps",
    ),
    _rule(
        "log.in-commit-timestamp-first",
        "With in-commit timestamps commitInfo is the first action.",
        "In-Commit Timestamps",
    ),
    _rule(
        "log.in-commit-timestamp-present",
        "With in-commit timestamps commitInfo has one.",
        "In-Commit Timestamps",
    ),
    _rule(
        "log.in-commit-timestamp-increases",
        "An in-commit timestamp is later than the previous one.",
        "In-Commit Timestamps",
    ),
    _folder(
        "log.compaction-readable", "A log compaction can be read as a commit can.", "Log Compaction Files"
    ),
    _folder(
        "log.compaction-equals-replay",
        "A log compaction gives the state that its commits give, tombstones included.",
        "Log Compaction Files",
    ),
    # Features
    _rule(
        "log.feature-dependencies",
        "A feature is listed together with those that it depends on.",
        "Table Features",
    ),
    _rule(
        "log.in-commit-timestamp-enablement",
        "In-commit timestamps that are enabled later say from which version and time on.",
        "In-Commit Timestamps",
    ),
    _rule("log.row-ids-fresh", "New files have row ids that no other file has or had.", "Row Tracking"),
    _rule(
        "log.row-ids-stay",
        "A file that is committed again keeps its baseRowId and defaultRowCommitVersion.",
        "Row Tracking",
    ),
    _rule(
        "log.row-id-high-water-mark",
        "The domain delta.rowTracking holds the highest row id given so far.",
        "Row Tracking",
    ),
    _rule(
        "log.clustering-domain",
        "The domain delta.clustering names the clustering columns.",
        "Clustered Table",
    ),
    _rule(
        "log.clustered-not-partitioned", "A table is not both clustered and partitioned.", "Clustered Table"
    ),
    _rule(
        "log.removed-domain-keeps-configuration",
        "A domain is removed with the configuration that it had.",
        "Domain Metadata",
        "should",
    ),
    _rule(
        "log.data-files-not-overwritten",
        "A path that is added again stands for the same file: names are used once.",
        "Data Files",
    ),
    _rule(
        "log.added-file-columns-known",
        "A new data file has no column that the table does not have.",
        "Consistency Between Table Metadata and Data Files",
    ),
    _rule(
        "log.constraint-needs-feature",
        "CHECK constraints are in the metadata only with their feature.",
        "CHECK Constraints",
    ),
    _rule(
        "log.variant-shredding-needs-feature",
        "Shredding of variants is enabled only with its feature.",
        "Variant Shredding",
    ),
    _rule(
        "log.variant-unshredded",
        "Variants are shredded only where delta.enableVariantShredding is true.",
        "Variant Shredding",
    ),
    # Names and folders
    _folder(
        "log.file-names-padded",
        "The versions in the names of commits, checkpoints, checksums and compactions have 20 digits.",
        "Delta Log Entries",
    ),
    _rule(
        "log.data-file-not-hidden",
        "No folder in which a data file lies begins with an underscore, but those that a partition column names.",
        "Data Files",
    ),
    _folder(
        "log.compaction-range",
        "A log compaction ends with a later version than it begins with.",
        "Log Compaction Files",
    ),
    _folder(
        "log.compaction-no-provenance",
        "A log compaction holds no commitInfo and no cdc.",
        "Log Compaction Files",
    ),
    _folder(
        "log.cleanup-keeps-checkpoint-commit",
        "Where older commits are gone, the commit of the oldest checkpoint is there.",
        "Metadata Cleanup",
        "should",
    ),
    # Removes
    _rule("log.remove-has-timestamp", "A remove says when it was made.", FILES, "should"),
    _rule("log.remove-size", "The size in a remove is that of the file that it removes.", FILES),
    _rule(
        "log.remove-partition-values",
        "The partition values in a remove are those of the file that it removes.",
        FILES,
    ),
    # What protocol, time and files owe each other
    _rule(
        "log.feature-needs-reader-version",
        "A feature of readers needs a reader version that knows it: 3, or 2 for column mapping.",
        "Table Features",
    ),
    _rule(
        "log.in-commit-timestamp-after-files",
        "The commit that enables in-commit timestamps has one later than the commit file before it.",
        "In-Commit Timestamps",
    ),
    _rule(
        "log.in-commit-timestamp-enablement-stays",
        "While in-commit timestamps are enabled, the properties go on saying since when.",
        "In-Commit Timestamps",
    ),
    _rule(
        "log.timestamps-adjusted",
        "Data files hold timestamps adjusted to UTC, and those without a time zone not adjusted.",
        "Primitive Types",
    ),
    _rule(
        "log.constraint-columns-known",
        "The columns that a CHECK constraint names are columns of the schema.",
        "CHECK Constraints",
    ),
    _rule(
        "log.data-pages",
        "New data files have data pages of the form that delta.parquet.format.version asks for, else of the first.",
        PROPERTIES,
        "should",
    ),
    _rule(
        "log.page-format-legal",
        "delta.parquet.format.version is 1.0.0 or 2.MINOR.PATCH: another value is refused.",
        PROPERTIES,
        "should",
    ),
    _rule("log.texts-are-utf8", "The texts in a new data file are UTF-8.", "Primitive Types"),
)
