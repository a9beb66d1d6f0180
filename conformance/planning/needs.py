"""What an engine must claim before a requirement is asked of it.

A core names requirements, never engines. Each engine of a run is held to those requirements of the core whose needs it
claims, so an engine that claims little is asked for little.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator

from delta_adapters.capabilities import ANY, Capabilities

WRITES = "Create Append"
REWRITES = "Overwrite|Delete|Update|Merge"  # each takes the place of files
PROCESSES = "guarantee:commits-of-several-processes-on-local-files"
STATISTICS = "guarantee:statistics"
VECTORS = "guarantee:deletion-vectors"

# The needs of a requirement, by the beginning of its name; the longest that fits counts. All of them are needed, and of
# alternatives (`|`) one. A word is an operation, `Operation.option`, `reads:` or `writes:` with a table feature,
# `property:` with a table property, `guarantee:` with a guarantee, or `partitions` for a type of partition columns.
NEEDS: dict[str, str] = {
    "": WRITES,
    "host.": "",
    "catalog.": WRITES,
    "cdc.": f"{WRITES} property:delta.enableChangeDataFeed Delete|Update|Merge",
    "changes.": f"{WRITES} ReadChanges property:delta.enableChangeDataFeed",
    "checkpoint.": f"{WRITES} Checkpoint|property:delta.checkpointInterval",
    "checksum.": WRITES,
    "contents.add-column": f"{WRITES} AddColumn",
    "contents.add-constraint": f"{WRITES} AddConstraint",
    "contents.append": WRITES,
    "contents.checkpoint": f"{WRITES} Checkpoint",
    "contents.clone": f"{WRITES} CloneTo",
    "contents.cluster": f"{WRITES} Cluster",
    "contents.convert": "ConvertFromParquet",
    "contents.create": "Create",
    "contents.create-as": "CreateAs",
    "contents.create-if-not-exists": "Create.if-not-exists",
    "contents.delete": f"{WRITES} Delete",
    "contents.drop-column": f"{WRITES} DropColumn property:delta.columnMapping.mode",
    "contents.drop-constraint": f"{WRITES} AddConstraint DropConstraint",
    "contents.drop-external": "Create.name Drop",
    "contents.drop-feature": f"{WRITES} DropFeature",
    "contents.drop-managed": "Create.managed Drop",
    "contents.empty-partition-text": f"{WRITES} partitions",
    "contents.enable-feature": f"{WRITES} EnableFeature",
    "contents.look-changes-nothing": f"{WRITES} Read",
    "contents.merge": f"{WRITES} Merge",
    "contents.optimize": f"{WRITES} Optimize|ZOrder",
    "contents.overwrite": f"{WRITES} Overwrite",
    "contents.overwrite-partitions": f"{WRITES} Overwrite.dynamic partitions",
    "contents.rename-column": f"{WRITES} RenameColumn property:delta.columnMapping.mode",
    "contents.reorder-column": f"{WRITES} ReorderColumn",
    "contents.repeated-transaction": f"{WRITES} Append.transaction|Overwrite.transaction",
    "contents.replace": "Replace",
    "contents.replace-where": f"{WRITES} Overwrite.where",
    "contents.restore": f"{WRITES} Restore.version|Restore.time",
    "contents.set-default": f"{WRITES} SetDefault",
    "contents.set-nullable": f"{WRITES} SetNullable",
    "contents.set-properties": f"{WRITES} SetProperties",
    "contents.unset-properties": f"{WRITES} UnsetProperties",
    "contents.update": f"{WRITES} Update",
    "contents.vacuum": f"{WRITES} Vacuum",
    "contents.widen-column": f"{WRITES} WidenColumn property:delta.enableTypeWidening",
    "crash.left-overs-": f"{WRITES} Vacuum",
    "crash.once": f"{WRITES} Append.transaction|Overwrite.transaction",
    "detail.": f"{WRITES} Detail",
    "dv.": f"{WRITES} property:delta.enableDeletionVectors {VECTORS} Delete|Update|Merge",
    "history.": f"{WRITES} History",
    "iceberg.": f"{WRITES} writes:icebergCompatV1|writes:icebergCompatV2",
    "log.append-only": f"{WRITES} property:delta.appendOnly",
    "log.cdc-no-data-change": f"{WRITES} property:delta.enableChangeDataFeed Delete|Update|Merge",
    "log.cleanup-": f"{WRITES} CleanLog",
    "log.cluster": f"{WRITES} Cluster",
    "log.compaction-": f"{WRITES} CompactLog",
    "log.in-commit-": f"{WRITES} writes:inCommitTimestamp property:delta.enableInCommitTimestamps",
    "log.no-add-and-remove": f"{WRITES} {REWRITES}",
    "log.partition-": f"{WRITES} partitions",
    "log.partition-values-complete": WRITES,
    "log.path-removed-once": f"{WRITES} {REWRITES}",
    "log.remove-": f"{WRITES} {REWRITES}",
    "log.row-": f"{WRITES} writes:rowTracking property:delta.enableRowTracking",
    "log.variant-": f"{WRITES} writes:variantType",
    "log.void-": WRITES,
    "metamorphic.delete-takes": f"{WRITES} Delete Read.where",
    "metamorphic.filter-picks": f"{WRITES} Read.where",
    "metamorphic.upkeep-keeps": f"{WRITES} Read",
    "metamorphic.zone-keeps": f"{WRITES} Read SetZone",
    "metrics.rows-deleted": f"{WRITES} Delete",
    "metrics.rows-merged": f"{WRITES} Merge",
    "metrics.rows-updated": f"{WRITES} Update",
    "outcome.ambiguous-match": f"{WRITES} Merge",
    "outcome.append-only": f"{WRITES} property:delta.appendOnly Delete|Update|Merge",
    "outcome.broken-rule": f"{WRITES} AddConstraint|writes:invariants",
    "outcome.merge-": f"{WRITES} Merge",
    "outcome.missing-version": f"{WRITES} Restore",
    "outcome.optimize-by": f"{WRITES} Optimize.where",
    "outcome.replace-where": f"{WRITES} Overwrite.where",
    "protocol.": f"{WRITES} EnableFeature|SetProperties",
    "race.": f"{WRITES} {PROCESSES}",
    "race.no-doubled-rows": f"{WRITES} Delete|Update|Merge {PROCESSES}",
    "race.no-resurrected-rows": f"{WRITES} Delete|Update|Merge {PROCESSES}",
    "race.no-write-skew": f"{WRITES} Update|Merge {PROCESSES}",
    "race.serializable": f"{WRITES} guarantee:serializable {PROCESSES}",
    "race.told-truly": f"{WRITES} Delete|Update|Merge {PROCESSES}",  # appends and overwrites are hardly ever refused
    "race.vacuum-": f"{WRITES} Vacuum {PROCESSES}",
    "read.": f"{WRITES} Read",
    "read.filter": f"{WRITES} Read.where",
    "read.state": f"{WRITES} Read.version",
    "read.version": f"{WRITES} Read guarantee:reads-tell-their-version",
    "rows.": f"{WRITES} writes:rowTracking property:delta.enableRowTracking",
    "rules.constraints": f"{WRITES} AddConstraint",
    "rules.generated": f"{WRITES} writes:generatedColumns",
    "rules.identity": f"{WRITES} writes:identityColumns",
    "rules.invariants": f"{WRITES} writes:invariants",
    "schema.": f"{WRITES} property:delta.columnMapping.mode",
    "schema.not-null-holds": f"{WRITES} writes:invariants",
    "stats.": f"{WRITES} {STATISTICS}",
    "stats.clustering": f"{WRITES} {STATISTICS} Cluster",
    "stats.variant": f"{WRITES} {STATISTICS} writes:variantType",
    "stream.": f"{WRITES} Tail|Pour",
    "tracking.": f"{WRITES} writes:rowTracking property:delta.enableRowTracking",
    "vacuum.": f"{WRITES} Vacuum",
    "write.constraint": f"{WRITES} AddConstraint",
    "write.data-change-false": f"{WRITES} Optimize|ZOrder",
    "write.properties": f"{WRITES} property:delta.checkpointInterval",
    "write.states-stay": f"{WRITES} Read.version",
}


@functools.cache
def needs_of(requirement: str) -> tuple[str, ...]:
    """The words of what an engine must claim before a requirement is asked of it."""
    return tuple(NEEDS[max((name for name in NEEDS if requirement.startswith(name)), key=len)].split())


def missing_claims(requirement: str, capabilities: Capabilities) -> Iterator[str]:
    """Yield the needs of a requirement that an engine does not claim."""
    for need in needs_of(requirement):
        if not any(is_claimed(word, capabilities) for word in need.split("|")):
            yield need


def is_claimed(word: str, capabilities: Capabilities) -> bool:
    """Whether an engine claims one word of a need."""
    kind, _, name = word.partition(":")
    match kind:
        case "reads":
            return name in capabilities.read_features
        case "writes":
            return name in capabilities.write_features
        case "property":
            return name in capabilities.properties or ANY in capabilities.properties
        case "guarantee":
            return capabilities.guarantees.get(name, False)
        case "partitions":
            return bool(capabilities.partition_types)
    operation, _, option = word.partition(".")
    options = capabilities.operations.get(operation)
    return options is not None and (not option or option in options or ANY in options)
