"""Rules about checkpoints, the hint to the newest one, and version checksums."""

from __future__ import annotations

from delta_models.requirements.base import Requirement, rules_of

CHECKPOINTS = "Checkpoints"
HINT = "Last Checkpoint File Schema"
_rule = rules_of("checkpoint")

REQUIREMENTS: tuple[Requirement, ...] = (
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
        "checksum.well-formed",
        "A version checksum is an object with the required fields.",
        "Version Checksum File Schema",
    ),
    _rule(
        "checksum.agrees-with-state",
        "A version checksum agrees with the state of its version.",
        "Version Checksum File",
    ),
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
    _rule(
        "checkpoint.metadata-version",
        "checkpointMetadata names the version of its checkpoint.",
        "Checkpoint Metadata",
    ),
    _rule("checkpoint.sidecars-hold-file-actions", "A sidecar holds adds and removes only.", "Sidecar Files"),
    _rule(
        "checkpoint.keeps-parsed-stats",
        "A checkpoint keeps statistics as columns where delta.checkpoint.writeStatsAsStruct is true.",
        CHECKPOINTS,
    ),
    _rule(
        "checkpoint.keeps-parsed-partition-values",
        "A checkpoint has partition values as columns where delta.checkpoint.writeStatsAsStruct is true.",
        CHECKPOINTS,
    ),
    _rule(
        "checkpoint.omits-json-stats",
        "A checkpoint leaves statistics as JSON out where delta.checkpoint.writeStatsAsJson is false.",
        CHECKPOINTS,
        "should",
    ),
    _rule(
        "checkpoint.omits-parsed-stats",
        "A checkpoint leaves statistics as columns out where delta.checkpoint.writeStatsAsStruct is not true.",
        CHECKPOINTS,
        "should",
    ),
    _rule("checkpoint.hint-size", "_last_checkpoint says how many actions a V1 checkpoint holds.", HINT),
    _rule("checkpoint.hint-bytes", "_last_checkpoint says how many bytes a V1 checkpoint has.", HINT),
    _rule("checksum.never-changes", "A version checksum is never written again.", "Version Checksum File"),
    _rule("checkpoint.hint-keys-once", "_last_checkpoint names no key twice.", "JSON checksum"),
    _rule(
        "checkpoint.feature-lists",
        "The protocol in a checkpoint has lists of features where its versions have some, and nulls elsewhere.",
        "Checkpoint Schema",
    ),
    _rule(
        "checkpoint.parsed-stats-agree",
        "Statistics as columns say in a checkpoint what the file's statistics as JSON say.",
        CHECKPOINTS,
    ),
    _rule(
        "checkpoint.variant-bounds-are-variants",
        "Bounds of a variant are variants where statistics are columns of a checkpoint, shredded or not.",
        "Statistics for Variant Columns",
    ),
    _rule(
        "checkpoint.parsed-partition-values-agree",
        "Partition values as columns are in a checkpoint those of the file.",
        CHECKPOINTS,
    ),
    _rule(
        "checkpoint.keeps-removal-times",
        "A tombstone in a checkpoint has the time at which its file was removed.",
        CHECKPOINTS,
    ),
    _rule(
        "checkpoint.data-pages",
        "Checkpoints have data pages of the form that delta.parquet.format.version asks for, else of the first.",
        "Table Properties",
        "should",
    ),
    _rule("checkpoint.keeps-tags", "A checkpoint keeps the tags of files.", CHECKPOINTS),
    _rule(
        "checkpoint.keeps-clustering-provider",
        "A checkpoint keeps the names of those who clustered files.",
        CHECKPOINTS,
    ),
    _rule(
        "checkpoint.sidecars-in-their-folder",
        "Sidecars lie in _delta_log/_sidecars.",
        "Sidecar File Information",
    ),
)
