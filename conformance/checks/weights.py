"""How often each rule of the log is really judged: once for each thing that could break it."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from typing import Any

from delta_models.log import (
    Add,
    Commit,
    CorruptLog,
    Listing,
    LogError,
    LogReader,
    Metadata,
    Snapshot,
    commit_timestamps,
)
from delta_models.log.column_mapping import log_name, mapping_mode
from delta_models.log.file_names import CheckpointName
from delta_models.log.row_ids import ENABLED, is_tracked
from delta_models.log.validity import checkpoint_struct_columns
from delta_models.log.validity.checkpoints import asked_forms
from delta_models.log.validity.column_history import lost_changes, new_columns
from delta_models.log.validity.data_files import is_filled
from delta_models.log.validity.features import CLUSTERING, MANAGED
from delta_models.log.validity.iceberg_compat import NESTED_IDS, active
from delta_models.log.validity.layout import new_files
from delta_models.log.validity.metadata import drops_widening, rules_asked
from delta_models.log.validity.protocol import is_on
from delta_models.log.validity.row_ids import is_update
from delta_models.log.validity.statistics import bounds_variants
from delta_models.log.validity.utf8 import holds_texts
from delta_models.schema import TIMESTAMP, TIMESTAMP_NTZ, VARIANT, Primitive

_EVERY_COMMIT = (
    "log.commit-is-json-lines", "log.one-action-a-line", "log.required-field", "log.field-type",
    "log.one-metadata-a-commit", "log.one-protocol-a-commit", "log.no-checkpoint-actions",
)  # fmt: skip
_EVERY_PROTOCOL = (
    "log.reader-features-iff-version-3", "log.writer-features-iff-version-7", "log.reader-3-needs-writer-7",
    "log.reader-features-are-writer-features", "log.reader-writer-feature-in-both-lists",
    "log.writer-feature-in-writer-list-only", "log.feature-needs-reader-version",
)  # fmt: skip
_EVERY_METADATA = (
    "log.page-format-legal",
    "log.schema-readable",
    "log.column-names-unique",
    "log.format-is-parquet",
)
_EVERY_MAPPING = (
    "schema.column-mapping-complete", "schema.column-ids-unique", "schema.physical-names-unique",
    "schema.max-column-id",
)  # fmt: skip
_STAYS = (
    "schema.mapping-mode-stays", "schema.column-ids-stay", "schema.physical-names-stay",
    "schema.max-column-id-never-falls",
)  # fmt: skip
_EVERY_VARIANT = (
    "schema.variant-partitions-nothing", "schema.variant-clusters-nothing", "schema.variant-not-generated",
    "schema.variant-defaults-to-null",
)  # fmt: skip
_EVERY_VARIANT_BOUND = (
    "stats.variant-bounds-encoded", "stats.variant-bounds-by-path", "stats.variant-bounds-primitive",
    "stats.variant-bounds-one-type",
)  # fmt: skip
_EVERY_VECTOR = (
    "dv.descriptor-well-formed",
    "dv.needs-feature",
    "dv.needs-property",
    "dv.num-records-present",
)
_EVERY_CHANGE_FILE = (
    "log.cdc-no-data-change", "cdc.file-exists", "cdc.file-size", "cdc.readable", "cdc.path-is-uri",
    "cdc.partition-values-complete",
)  # fmt: skip
_EVERY_VECTOR_FILE = ("dv.file-exists", "dv.well-formed", "dv.cardinality", "dv.rows-in-file")
_EVERY_CHECKPOINT = (
    "checkpoint.after-commit", "checkpoint.readable", "checkpoint.actions-well-formed", "checkpoint.no-provenance",
    "checkpoint.one-protocol", "checkpoint.one-metadata", "checkpoint.adds-once", "checkpoint.feature-lists",
)  # fmt: skip
_EVERY_HINT = (
    "checkpoint.hint-well-formed", "checkpoint.hint-names-checkpoint", "checkpoint.hint-parts", "checkpoint.hint-size",
    "checkpoint.hint-bytes", "checkpoint.hint-keys-once",
)  # fmt: skip
CUT_LENGTH = 32

Weights = Counter[str]


def commit_weights(before: Snapshot | None, commit: Commit) -> Weights:
    """What one commit gives to judge by itself and against the state before it."""
    found: Weights = Counter(_EVERY_COMMIT)
    if before is None:
        found.update(("log.first-commit-has-protocol", "log.first-commit-has-metadata"))
    found["log.one-transaction-an-application"] = len(commit.transactions)
    for rule in ("log.one-action-a-domain", "log.domain-needs-feature"):
        found[rule] = len(commit.domains)
    found["log.path-added-once"] = len(commit.adds)
    found["log.path-removed-once"] = len(commit.removes)
    found["log.path-is-uri"] = len(commit.adds) + len(commit.removes)
    found["log.data-file-not-hidden"] = len(commit.adds)
    found["log.remove-has-timestamp"] = len(commit.removes)
    known = before.live if before is not None else {}
    live = [remove for remove in commit.removes if remove.key in known]
    found["log.remove-size"] = sum(each.size is not None for each in live)
    found["log.remove-partition-values"] = sum(bool(each.partition_values) for each in live)
    found["log.remove-names-live-file"] = len(commit.removes)
    found["log.no-add-and-remove-of-one-file"] = bool(commit.adds and commit.removes)
    found["log.remove-carries-vector"] = sum(remove.deletion_vector is not None for remove in commit.removes)
    found["log.remove-extended-metadata"] = sum(
        bool(remove.extended_file_metadata) for remove in commit.removes
    )
    for rule in _EVERY_CHANGE_FILE:
        found[rule] = len(commit.cdcs)
    for rule in ("cdc.change-types", "cdc.equals-difference"):
        found[rule] = bool(commit.cdcs)
    found["log.removed-domain-keeps-configuration"] = sum(domain.removed for domain in commit.domains)
    found["log.data-files-not-overwritten"] = len(commit.adds) if before is not None else 0
    vectors = [add for add in commit.adds if add.deletion_vector is not None]
    found["log.add-replaces-live-file"] = len(vectors)
    for rule in _EVERY_VECTOR:
        found[rule] = len(vectors)
    for rule in _EVERY_PROTOCOL:
        found[rule] = len(commit.protocols)
    for metadata in commit.metadatas:
        found.update(_metadata_rules(metadata))
        found.update(_column_rules(before, metadata))
    found["schema.type-widening-dropped-whole"] = drops_widening(before, commit)
    found.update(_state_rules(before, commit))
    return found


def _metadata_rules(metadata: Metadata) -> list[str]:
    found = list(_EVERY_METADATA)
    if metadata.partition_columns:
        found += ["log.partition-columns-in-schema", "log.partition-columns-atomic"]
    if metadata.configuration.get("delta.columnMapping.mode", "none") != "none":
        found += _EVERY_MAPPING
    if any(each.startswith("delta.constraints.") for each in metadata.configuration):
        found += ["log.constraint-needs-feature", "log.constraint-columns-known"]
    if is_on(metadata, ENABLED):
        found += ["tracking.needs-feature", "tracking.columns-named", "tracking.enabled-or-suspended"]
    if "delta.typeChanges" in metadata.schema_string:
        found.append("schema.type-changes-need-feature")
    try:
        types = {field.type for field in metadata.schema}
    except CorruptLog:
        return found
    if types & {TIMESTAMP_NTZ, VARIANT}:
        found.append("log.type-needs-feature")
    if VARIANT in types:
        found += _EVERY_VARIANT
    return found


def _column_rules(before: Snapshot | None, metadata: Metadata) -> Weights:
    """What the metadata gives to judge of what columns say and become."""
    try:
        found: Weights = Counter(rules_asked(before, metadata))
        if before is None:
            return found
        fresh = len(new_columns(before.metadata, metadata))
        found["schema.type-changes-kept"] = len(lost_changes(before.metadata, metadata))
    except CorruptLog:
        return Counter()
    found["schema.column-ids-not-reused"] = found["schema.physical-names-not-reused"] = fresh
    if is_on(metadata, commit_timestamps.ENABLED):
        was_on = is_on(before.metadata, commit_timestamps.ENABLED)
        since = before.metadata.configuration.get(commit_timestamps.ENABLEMENT_VERSION) is not None
        found["log.in-commit-timestamp-after-files"] = not was_on
        found["log.in-commit-timestamp-enablement-stays"] = was_on and since
    return found


def _state_rules(before: Snapshot | None, commit: Commit) -> Weights:
    found: Weights = Counter()
    metadata = commit.metadata or (before.metadata if before else None)
    protocol = commit.protocol or (before.protocol if before else None)
    if metadata is None or protocol is None:
        return found
    found["log.partition-values-complete"] = len(commit.adds)
    found["log.partition-value-readable"] = len(commit.adds) * len(metadata.partition_columns)
    if metadata.configuration.get("delta.appendOnly", "").lower() == "true" and before is not None:
        found["log.append-only"] = 1
    if metadata.configuration.get("delta.enableInCommitTimestamps", "").lower() == "true":
        found.update(("log.in-commit-timestamp-needs-feature", "log.in-commit-timestamp-first"))
        found["log.in-commit-timestamp-present"] = 1
        found["log.in-commit-timestamp-increases"] = before is not None
        if before is not None and not is_on(before.metadata, commit_timestamps.ENABLED):
            found["log.in-commit-timestamp-enablement"] = 1
    if CLUSTERING in {domain.name for domain in commit.domains if not domain.removed} and before is not None:
        found["stats.new-clustering-columns"] = len(before.live)
    if "rowTracking" in (protocol.writer_features or ()):
        for rule in ("log.row-tracking-fields", "log.row-ids-fresh", "log.row-id-high-water-mark"):
            found[rule] = len(commit.adds)
        found["tracking.fresh-commit-version"] = len(commit.adds)
        found["tracking.removes-keep-ids"] = len(commit.removes)
        if is_on(metadata, ENABLED):
            found["tracking.preserved-told"] = bool(commit.adds and commit.data_change and not commit.removes)
            if before is not None and not is_on(before.metadata, ENABLED):
                found["tracking.enabled-whole"] = len(before.live)
    if commit.metadata is not None and before is not None and before.live:
        found.update(("schema.type-change-allowed", "schema.partitioning-fits-files"))
        if before.metadata.configuration.get("delta.columnMapping.mode", "none") != "none":
            found.update(_STAYS)
    found["log.feature-dependencies"] = len(commit.protocols)
    if MANAGED in (protocol.writer_features or ()):
        found.update(("catalog.transaction-id", "catalog.in-commit-timestamps"))
    return found


def file_weights(after: Snapshot, commit: Commit, prefixes: tuple[str, ...]) -> Weights:
    """What the files that a commit adds give to judge."""
    found: Weights = Counter()
    if any(holds_texts(field.type) for field in after.schema):
        found["log.texts-are-utf8"] = len(commit.adds)
    if any(not field.nullable for field in after.schema):
        found["schema.not-null-holds"] = len(commit.adds)
    if any(is_filled(field.type) for field in after.schema):
        found["schema.nested-not-null-holds"] = len(commit.adds)
    for add in commit.adds:
        found.update(("log.added-file-exists", "log.added-file-size", "log.added-file-readable"))
        if after.partition_by:
            found["log.partition-value-agrees-with-file"] += 1
        if add.deletion_vector is not None:
            found.update(_EVERY_VECTOR_FILE)
        if mapping_mode(after) != "none" and add.stats is not None:
            found["stats.physical-names"] += 1
        found.update(_stats_rules(add))
        if any(field.type == VARIANT for field in after.schema):
            found.update(_variant_rules(after, add))
    return Counter({rule: count for rule, count in found.items() if rule.startswith(prefixes)})


def layout_weights(before: Snapshot | None, after: Snapshot, commit: Commit) -> Weights:
    """What the columns of the files that a commit brings give to judge."""
    count = len(new_files(before, commit))
    found: Weights = Counter({"log.added-file-columns-known": count, "log.data-pages": count})
    if mapping_mode(after) != "none":
        found["schema.files-have-field-ids"] = count
    if any(field.type == VARIANT for field in after.schema):
        found["log.variant-unshredded"] = count
    if any(field.type in {TIMESTAMP, TIMESTAMP_NTZ} for field in after.schema):
        found["log.timestamps-adjusted"] = count
    if "V2" in active(after.protocol, after.metadata):
        nested = sum(NESTED_IDS in field.metadata_json for field in after.schema)
        found["iceberg.nested-ids-in-files"] = count * nested
    if after.partition_by and "V1" in active(after.protocol, after.metadata):
        found["iceberg.partition-columns-last"] = count
    return found


def row_id_weights(before: Snapshot | None, after: Snapshot, commit: Commit) -> Weights:
    """What a commit gives to judge of row ids."""
    found: Weights = Counter()
    if is_tracked(after) and (commit.adds or commit.removes):
        found.update(("rows.ids-unique", "rows.ids-unlike-fresh"))
        if before is not None and is_tracked(before):
            moves = bool(commit.adds) and not commit.data_change
            found.update({"rows.ids-stay": moves, "rows.commit-versions-stay": moves})
            found["rows.copied-ids-stay"] = is_update(commit, "DELETE")
            found["rows.updated-ids-stay"] = is_update(commit)
            found["rows.changed-rows-have-new-version"] = is_update(commit, "UPDATE", "MERGE")
    return found


def _stats_rules(add: Add) -> list[str]:
    try:
        stats = add.statistics
    except ValueError:
        return ["stats.well-formed"]
    if stats is None:
        return []
    found = ["stats.well-formed"]
    if stats.get("numRecords") is not None:
        found.append("stats.num-records")
    if stats.get("nullCount"):
        found.append("stats.null-count")
    low, high = stats.get("minValues") or {}, stats.get("maxValues") or {}
    if low:
        found.append("stats.min-values")
    if high:
        found.append("stats.max-values")
        found += _cut_rules(high)
    if (low or high) and stats.get("tightBounds") is not False:
        found.append("stats.tight-bounds")
    return found


def _variant_rules(after: Snapshot, add: Add) -> Weights:
    """What the statistics of a file give to judge of its variants."""
    found: Weights = Counter()
    try:
        stats = add.statistics or {}
    except ValueError:
        return found
    variants = [log_name(after, field.name) for field in after.schema if field.type == VARIANT]
    parts = [stats.get(name) for name in ("nullCount", "minValues", "maxValues")]
    nulls, low, high = (part if isinstance(part, dict) else {} for part in parts)
    found["stats.variant-null-count"] = sum(name in nulls for name in variants)
    if not bounds_variants(after):
        found["stats.variant-bounds-need-shredding"] = len(variants)
        return found
    below, above = sum(name in low for name in variants), sum(name in high for name in variants)
    for rule in _EVERY_VARIANT_BOUND:
        found[rule] = below + above
    found["stats.variant-bounds-types-agree"] = sum(name in low and name in high for name in variants)
    found["stats.variant-min-values"], found["stats.variant-max-values"] = below, above
    found["stats.variant-tight-bounds"] = (below + above) * (stats.get("tightBounds") is not False)
    return found


def _cut_rules(high: Mapping[str, Any]) -> list[str]:
    found = []
    if any(isinstance(each, str) and len(each) >= CUT_LENGTH for each in high.values()):
        found.append("stats.max-string-not-below")
    return found


def nan_weights(reader: LogReader, after: Snapshot, commit: Commit) -> Weights:
    """How many files say a maximum of a column in which there is a NaN."""
    floating = [
        at for at, field in enumerate(after.schema) if field.type in {Primitive("float"), Primitive("double")}
    ]
    if not floating:
        return Counter()
    count = 0
    for add in commit.adds:
        try:
            high = (add.statistics or {}).get("maxValues") or {}
            rows = reader.file_rows(after, add)
        except (LogError, ValueError):
            continue
        count += any(
            after.schema.fields[at].name in high
            and any(row[at] is not None and math.isnan(row[at]) for row in rows)
            for at in floating
        )
    return Counter({"stats.max-covers-nan": count})


def folder_weights(reader: LogReader, listing: Listing, first: int) -> Weights:
    """What the folder gives to judge from version `first` on."""
    found: Weights = Counter(("log.versions-contiguous", "log.commit-never-changes", "log.file-names-padded"))
    if listing.commits and min(listing.commits) > 0:
        found.update(("log.oldest-version-has-checkpoint", "log.cleanup-keeps-checkpoint-commit"))
    for name in listing.checkpoints:
        if name.complete and name.version >= first:
            found.update(_checkpoint_rules(reader, name))
    if listing.has_hint:
        found.update(_EVERY_HINT)
    found["checksum.never-changes"] = len(listing.checksums)
    for compaction in listing.compactions:
        if compaction.last >= first:
            found.update(("log.compaction-readable", "log.compaction-equals-replay", "log.compaction-range"))
            found["log.compaction-no-provenance"] += 1
    for version in listing.checksums:
        if version >= first:
            found.update(_checksum_rules(reader, version))
    return found


def _checksum_rules(reader: LogReader, version: int) -> list[str]:
    found = ["checksum.well-formed", "checksum.after-commit"]
    try:
        said = reader.checksum(version)
    except LogError:
        return found
    if said is None:
        return []
    found += [
        "checksum.agrees-with-state",
        "checksum.metadata",
        "checksum.protocol",
        "checksum.in-commit-timestamp",
    ]
    optional = {
        "checksum.transactions": ("setTransactions",),
        "checksum.domains": ("domainMetadata",),
        "checksum.all-files": ("allFiles",),
        "checksum.histograms": ("fileSizeHistogram", "deletedRecordCountsHistogramOpt"),
        "checksum.deletion-vectors": ("numDeletionVectorsOpt", "numDeletedRecordsOpt"),
    }
    return found + [
        rule for rule, keys in optional.items() if any(said.form.get(key) is not None for key in keys)
    ]


def _checkpoint_rules(reader: LogReader, name: CheckpointName) -> list[str]:
    found = list(_EVERY_CHECKPOINT)
    try:
        checkpoint = reader.checkpoint(name)
        if any(start is None or start.version < name.version for start in reader.starts(name.version)):
            found += ["checkpoint.equals-replay", "checkpoint.keeps-tombstones", "checkpoint.keeps-stats"]
            found += ["checkpoint.keeps-tags", "checkpoint.keeps-clustering-provider"]
            found += ["checkpoint.keeps-removal-times"] * bool(checkpoint.removes)
    except LogError:
        return found
    for form, rule in checkpoint_struct_columns.RULES.items():
        found += [rule] * sum(part.has(form) for part in checkpoint.adds)
    if any(_has_variants(metadata) for metadata in checkpoint.metadatas):
        found += [checkpoint_struct_columns.VARIANT_BOUNDS] * sum(
            part.has(checkpoint_struct_columns.STATS) for part in checkpoint.adds
        )
    if checkpoint.domains:
        found.append("checkpoint.no-removed-domains")
    if checkpoint.removes:
        found.append("checkpoint.removes-without-stats")
    if name.kind == "named" or checkpoint.checkpoint_metadatas:
        found += ["checkpoint.one-checkpoint-metadata", "checkpoint.v2-needs-feature"]
    found += ["checkpoint.metadata-version"] * len(checkpoint.checkpoint_metadatas)
    if checkpoint.sidecars:
        found += ["checkpoint.file-actions-in-one-place", "checkpoint.sidecar-size"]
        found.append("checkpoint.sidecars-in-their-folder")
        found.append("checkpoint.sidecars-hold-file-actions")
    if len(checkpoint.protocols) == 1 and len(checkpoint.metadatas) == 1:
        found += asked_forms(checkpoint.protocols[0], checkpoint.metadatas[0])
    found += ["checkpoint.data-pages"] * sum(file.endswith(".parquet") for file in name.files)
    if name.kind == "parts":
        found.append("checkpoint.no-parts-with-v2")
    return found


def _has_variants(metadata: Metadata) -> bool:
    try:
        return any(field.type == VARIANT for field in metadata.schema)
    except CorruptLog:
        return False  # reported with the commit that set it
