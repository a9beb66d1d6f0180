"""Rules about the files of a log and the actions in them, about statistics, deletion vectors and checkpoints."""

from __future__ import annotations

from delta_models.requirements.base import Requirement, Strength

FILES = "Add File and Remove File"
METADATA = "Change Metadata"
PROTOCOL = "Protocol Evolution"
STATS = "Per-file Statistics"
VECTORS = "Deletion Vectors"
CHECKPOINTS = "Checkpoints"
HINT = "Last Checkpoint File Schema"

_CHECKS = {
    "log": "log",
    "schema": "log",
    "dv": "log",
    "stats": "statistics",
    "cdc": "log",
    "checkpoint": "checkpoint",
    "checksum": "checkpoint",
    "rows": "log",
}
# Seen in the listing and not in a commit, so judged together with the checkpoints.
_OF_THE_FOLDER = {
    "log.versions-contiguous",
    "log.commit-never-changes",
    "log.oldest-version-has-checkpoint",
    "log.compaction-readable",
    "log.compaction-equals-replay",
}


def _rule(identity: str, sentence: str, section: str, strength: Strength = "must") -> Requirement:
    check = "checkpoint" if identity in _OF_THE_FOLDER else _CHECKS[identity.partition(".")[0]]
    return Requirement(identity, sentence, section, strength, "writer", (check,))


REQUIREMENTS: tuple[Requirement, ...] = (
    # Commits
    _rule("log.commit-is-json-lines", "Every line of a commit is one JSON object.", "Delta Log Entries"),
    _rule("log.one-action-a-line", "A line of a commit holds one action.", "Delta Log Entries"),
    _rule("log.required-field", "Every action has the fields that the protocol requires.", "Actions"),
    _rule("log.field-type", "Every field of an action has the type that the protocol gives it.", "Actions"),
    _rule(
        "log.versions-contiguous",
        "The versions of the commits follow each other without a gap.",
        "Delta Log Entries",
    ),
    _rule("log.commit-never-changes", "A commit file is never written again.", "Creation of New Log Entries"),
    _rule(
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
    _rule(
        "schema.column-mapping-complete",
        "With column mapping every field has an id and a physical name.",
        "Column Mapping",
    ),
    _rule("schema.column-ids-unique", "Column ids are unique.", "Column Mapping"),
    _rule("schema.physical-names-unique", "Physical names are unique.", "Column Mapping"),
    _rule("schema.max-column-id", "maxColumnId is at least the highest id in the schema.", "Column Mapping"),
    # Deletion vectors
    _rule(
        "dv.descriptor-well-formed",
        "A deletion vector's descriptor makes sense.",
        "Deletion Vector Descriptor Schema",
    ),
    _rule("dv.needs-feature", "A deletion vector is written only with the feature deletionVectors.", VECTORS),
    _rule(
        "dv.needs-property",
        "A new deletion vector is written only if delta.enableDeletionVectors is true.",
        VECTORS,
    ),
    _rule(
        "dv.num-records-present", "The statistics of a file with a deletion vector have numRecords.", STATS
    ),
    _rule("dv.file-exists", "The file of a deletion vector is there.", VECTORS),
    _rule(
        "dv.well-formed",
        "The bytes of a deletion vector are as specified: framing, checksum, bitmap.",
        "Deletion Vector Format",
    ),
    _rule(
        "dv.cardinality",
        "A deletion vector holds as many rows as its descriptor says.",
        "Deletion Vector Descriptor Schema",
    ),
    _rule("dv.rows-in-file", "A deletion vector names rows that its file has.", VECTORS),
    # Statistics
    _rule(
        "stats.well-formed",
        "Statistics are a JSON object whose values have the types of their columns.",
        STATS,
    ),
    _rule("stats.num-records", "numRecords is the number of rows in the file.", STATS),
    _rule("stats.null-count", "nullCount is the number of nulls, or with wide bounds not misleading.", STATS),
    _rule("stats.min-values", "No value is smaller than the minimum in the statistics.", STATS),
    _rule(
        "stats.max-values",
        "No value is larger than the maximum in the statistics (strings and timestamps may be cut).",
        STATS,
    ),
    _rule("stats.tight-bounds", "Tight bounds are values of the file.", STATS),
    _rule(
        "stats.max-string-not-below",
        "A maximum that was cut is not below the longer strings.",
        STATS,
        "reference",
    ),
    _rule(
        "stats.max-covers-nan",
        "The maximum of a column that holds NaN is NaN, or there is none.",
        STATS,
        "reference",
    ),
    # Checkpoints
    _rule("checkpoint.after-commit", "A checkpoint is written after its commit.", CHECKPOINTS),
    _rule("checkpoint.readable", "A checkpoint with all its parts and sidecars can be read.", CHECKPOINTS),
    _rule(
        "checkpoint.actions-well-formed",
        "Actions in a checkpoint have their required fields and types.",
        "Checkpoint Schema",
    ),
    _rule(
        "checkpoint.equals-replay", "A checkpoint holds the state that replay of the log gives.", CHECKPOINTS
    ),
    _rule("checkpoint.no-provenance", "A checkpoint holds no commitInfo and no cdc.", CHECKPOINTS),
    _rule("checkpoint.one-protocol", "A checkpoint holds one protocol.", CHECKPOINTS),
    _rule("checkpoint.one-metadata", "A checkpoint holds one metaData.", CHECKPOINTS),
    _rule("checkpoint.no-removed-domains", "A checkpoint holds no removed domain.", "Domain Metadata"),
    _rule("checkpoint.adds-once", "A checkpoint holds a file once.", CHECKPOINTS),
    _rule(
        "checkpoint.removes-without-stats",
        "Removes in a checkpoint have neither stats nor tags.",
        "Checkpoint Schema",
    ),
    _rule(
        "checkpoint.one-checkpoint-metadata", "A V2 checkpoint has exactly one checkpointMetadata.", "V2 Spec"
    ),
    _rule(
        "checkpoint.file-actions-in-one-place",
        "File actions are all in the top level or all in sidecars.",
        "V2 Spec",
    ),
    _rule("checkpoint.hint-well-formed", "_last_checkpoint is an object with version and size.", HINT),
    _rule(
        "checkpoint.hint-names-checkpoint",
        "_last_checkpoint names a complete checkpoint that is there.",
        HINT,
    ),
    _rule("checkpoint.hint-parts", "_last_checkpoint says how many parts the checkpoint has.", HINT),
    _rule(
        "checksum.well-formed",
        "A version checksum is an object with the required fields.",
        "Version Checksum File Schema",
    ),
    _rule(
        "checksum.agrees-with-state",
        "A version checksum agrees with the state of its version.",
        "Version Checksum File",
    ),
    _rule("log.compaction-readable", "A log compaction can be read as a commit can.", "Log Compaction Files"),
    _rule(
        "log.compaction-equals-replay",
        "A log compaction gives the state that its commits give, tombstones included.",
        "Log Compaction Files",
    ),
    _rule(
        "checkpoint.keeps-tombstones", "A checkpoint holds every tombstone that has not expired.", CHECKPOINTS
    ),
    _rule(
        "checkpoint.keeps-stats",
        "A checkpoint keeps statistics as JSON unless the table says otherwise.",
        CHECKPOINTS,
    ),
    _rule(
        "checkpoint.sidecar-size",
        "A sidecar has the size that the checkpoint says.",
        "Sidecar File Information",
    ),
    _rule("checkpoint.no-parts-with-v2", "With v2Checkpoint no checkpoint is written in parts.", CHECKPOINTS),
    _rule(
        "checkpoint.v2-needs-feature",
        "V2 checkpoints are written only with the feature v2Checkpoint.",
        CHECKPOINTS,
    ),
    _rule(
        "checkpoint.hint-checksum",
        "The checksum in _last_checkpoint is that of its canonical form.",
        "JSON checksum",
    ),
    _rule("checkpoint.hint-add-files", "_last_checkpoint says how many files the checkpoint holds.", HINT),
    _rule(
        "checksum.after-commit", "A version checksum is written after its commit.", "Version Checksum File"
    ),
    _rule(
        "checksum.metadata",
        "The metadata in a version checksum is that of its version.",
        "Version Checksum File",
    ),
    _rule(
        "checksum.protocol",
        "The protocol in a version checksum is that of its version.",
        "Version Checksum File",
    ),
    _rule(
        "checksum.in-commit-timestamp",
        "A version checksum has the in-commit timestamp exactly if they are enabled.",
        "Version Checksum File Schema",
    ),
    _rule(
        "checksum.transactions",
        "The transactions in a version checksum are those of its version.",
        "Version Checksum File Schema",
    ),
    _rule(
        "checksum.domains",
        "The domains in a version checksum are those of its version, without removed ones.",
        "Version Checksum File Schema",
    ),
    _rule(
        "checksum.all-files",
        "allFiles in a version checksum are the live files.",
        "Version Checksum File Schema",
    ),
    _rule(
        "checksum.histograms",
        "Histograms in a version checksum are those of the live files.",
        "Version Checksum File Schema",
    ),
    _rule(
        "checksum.deletion-vectors",
        "Counts of deletion vectors in a version checksum are those of its version.",
        "Version Checksum File Schema",
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
        "stats.clustering-columns",
        "Files of a clustered table have statistics of the clustering columns.",
        "Clustered Table",
    ),
    _rule(
        "log.iceberg-compatible",
        "With an active icebergCompat feature files have numRecords and no deletion vectors, and columns are mapped.",
        "Iceberg Compatibility V1",
    ),
    # Evolution
    _rule("schema.not-null-holds", "A column that is not nullable holds no null.", "Struct Field"),
    _rule(
        "schema.type-change-allowed",
        "Under files that stay a column changes its type only as type widening allows.",
        "Type Widening",
    ),
    _rule(
        "schema.type-change-recorded",
        "A widened type is recorded in delta.typeChanges of the nearest field.",
        "Type Change Metadata",
    ),
    _rule(
        "schema.partitioning-fits-files",
        "The partition columns change only if every file is rewritten.",
        METADATA,
    ),
    _rule("schema.max-column-id-never-falls", "maxColumnId never falls.", "Column Mapping"),
    _rule("schema.physical-names-stay", "A column keeps its physical name.", "Column Mapping"),
    _rule("schema.column-ids-stay", "A column keeps its id.", "Column Mapping"),
    _rule(
        "schema.mapping-mode-stays",
        "Under files that stay the mode of column mapping changes from none to name only.",
        "delta-spark 4.4.0: column mapping",
        "reference",
    ),
    # Rows
    _rule("rows.ids-unique", "No two rows of a version have one row id.", "Row Tracking"),
    _rule(
        "rows.ids-stay",
        "A row that a commit without a change of data moves keeps its row id.",
        "Row Tracking",
    ),
    _rule(
        "rows.updated-ids-stay",
        "The rows of a table have after an update the row ids that they had before.",
        "Row Tracking",
    ),
    _rule(
        "rows.commit-versions-stay",
        "A row that a commit without a change of data moves keeps its row commit version.",
        "Row Tracking",
    ),
    # Change data
    _rule("cdc.file-exists", "A change data file is there when its commit is.", "Add CDC File"),
    _rule("cdc.file-size", "A change data file has the size that its action says.", "Add CDC File"),
    _rule(
        "cdc.readable",
        "A change data file is a Parquet file that fits the table's schema.",
        "Change Data Files",
    ),
    _rule(
        "cdc.change-types",
        "Each changed row is an insert, a delete, or an image before or after an update.",
        "Change Data Files",
    ),
    _rule(
        "cdc.equals-difference",
        "The recorded changes are the difference of the two states.",
        "Change Data Files",
    ),
)

STRENGTHS: dict[str, Strength] = {each.id: each.strength for each in REQUIREMENTS}
