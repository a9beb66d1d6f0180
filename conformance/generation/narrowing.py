"""Narrows what is drawn to what engines claim, for runs whose engines claim less than the operations of plain tables.

In lockstep a history ends for an engine at the first operation that it does not claim. An engine with four operations
would be asked for two steps of a history of twenty. So its histories are drawn within its claims: they stay as long as
those of any other engine, and no step of them is drawn in vain. Engines that claim all operations of plain tables play
the histories as they always were.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from conformance.generation.feature_bundles import FEATURES, Feature, Types, Weights
from conformance.generation.table_profiles import CI, TableProfile
from conformance.generation.table_shapes import TableShape
from delta_adapters.capabilities import ANY, Capabilities
from delta_models.operations import Interleave, Operation, Reopen
from delta_models.schema import Field, Struct

# The parts of a capability document on which draws depend.
PARTS = ("format", "operations", "types", "features", "properties", "functions", "storages", "guarantees")
VECTORS, INTERVAL = "delta.enableDeletionVectors", "delta.checkpointInterval"
# What kinds of drawn operations need that are no names of operations: an operation, perhaps with an option.
KINDS = {
    "AddLast": "AddColumn",
    "AppendByPosition": "Append.by-position",
    "AppendGiven": "Append",
    "AppendLess": "Append",
    "AppendMore": "Append.schema-merge",
    "AppendOnce": "Append.transaction",
    "AppendTurned": "Append",
    "CreateNamed": "Create.name",
    "DetailAt": "Detail",
    "MergeMore": "Merge.schema-evolution",
    "OverwriteByPosition": "Overwrite.by-position",
    "OverwriteMore": "Overwrite.schema-merge",
    "OverwriteOnce": "Overwrite.transaction",
    "OverwriteSchema": "Overwrite.schema-overwrite",
    "OverwriteSome": "Overwrite.where",
    "ReadAtTime": "Read.time",
    "RestoreToTime": "Restore.time",
    "SwitchTracking": "SetProperties",
    "UpdateGiven": "Update",
    "VacuumInMore": "Vacuum",
}
# What tables of a feature begin with, if not with a plain `Create`.
FIRST = {"converted": "ConvertFromParquet", "catalogue": "CreateNamed"}
# After these a history goes on for an engine that does not claim them, so leaving them out costs it little.
PASSED_OVER = frozenset({"Checkpoint", "Optimize", "Vacuum", "Read"})


@dataclass(frozen=True)
class Claimed:
    """What at least one of several engines claims."""

    engines: tuple[Capabilities, ...]

    def covers(self, operation: Operation) -> bool:
        """Whether an engine claims an operation with its options; of a race, all that is done at once."""
        if isinstance(operation, Reopen):
            return True
        parts = operation.operations if isinstance(operation, Interleave) else (operation,)
        return any(all(engine.covers(part) is None for part in parts) for engine in self.engines)

    def has_kind(self, kind: str) -> bool:
        """Whether an engine claims operations of a kind."""
        operation, _, option = KINDS.get(kind, kind).partition(".")
        claims = [engine.operations[operation] for engine in self.engines if operation in engine.operations]
        return any(not option or option in options or ANY in options for options in claims)

    def has_property(self, key: str) -> bool:
        """Whether an engine claims tables with this property."""
        return any(engine.covers_table(Struct(), properties={key: ""}) is None for engine in self.engines)

    def has_feature(self, feature: Feature) -> bool:
        """Whether an engine claims anything of what a feature brings to a table, and all that it demands."""
        if feature.computed and not self._writes("generatedColumns"):
            return False
        if feature.identity and not self._writes("identityColumns"):
            return False
        return (
            self.has_kind(FIRST.get(feature.name, "Create"))
            and all(self.has_property(key) for key, _ in feature.properties)
            and len(self.types(feature.types, partition=False)) == len(feature.types)
            and len(self.types(feature.partition_types, partition=True)) == len(feature.partition_types)
            and (not feature.operations or any(self.has_kind(kind) for kind, _ in feature.operations))
        )

    def types(self, types: Types, *, partition: bool) -> Types:
        """Those of the types that an engine claims for its columns."""
        by = ("c",) if partition else ()
        return tuple(
            (data_type, weight)
            for data_type, weight in types
            if any(
                engine.covers_types(Struct((Field("c", data_type),)), by) is None for engine in self.engines
            )
        )

    def weights(self, weights: Weights) -> Weights:
        """Those of the kinds of operations that may be claimed."""
        return tuple((kind, weight) for kind, weight in weights if self.has_kind(kind))

    def narrow_profile(self, profile: TableProfile) -> TableProfile:
        """The table profile without the operations, types and features that no engine claims."""
        partition_types = self.types(profile.partition_types, partition=True)
        return replace(
            profile,
            operations=self.weights(profile.operations) or (("Append", 1),),
            types=self.types(profile.types, partition=False) or profile.types,
            partition_types=partition_types or profile.partition_types,
            partitions=profile.partitions if partition_types else ((0, 1),),
            deletion_vectors_one_in=profile.deletion_vectors_one_in if self.has_property(VECTORS) else 0,
            reference_predicates_one_in=0,
            features=tuple(name for name in profile.features if self.has_feature(FEATURES[name])),
            others=tuple((name, share) for name, share in profile.others if self.has_feature(FEATURES[name])),
        )

    def narrow_shape(self, shape: TableShape) -> TableShape:
        """The table without the properties, and its history without the operations, that no engine claims."""
        return replace(
            shape,
            properties=tuple((key, value) for key, value in shape.properties if self._keeps(key)),
            operations=self.weights(shape.operations) or (("Append", 1),),
        )

    def _keeps(self, key: str) -> bool:
        return not key.startswith("delta.") or self.has_property(key)

    def _writes(self, feature: str) -> bool:
        return any(feature in engine.write_features for engine in self.engines)


def needs_narrowing(engines: Iterable[Capabilities]) -> bool:
    """Whether together the engines claim less than the operations, types and property of plain tables."""
    claimed = Claimed(tuple(engines))
    return not (
        claimed.has_property(INTERVAL)
        and all(claimed.has_kind(kind) for kind, _ in CI.operations if kind not in PASSED_OVER)
        and len(claimed.types(CI.types, partition=False)) == len(CI.types)
        and len(claimed.types(CI.partition_types, partition=True)) == len(CI.partition_types)
    )


def text_of(document: Mapping[str, Any]) -> str:
    """The claims of an engine as a chunk carries them: what draws depend on, in one form."""
    kept = {part: document[part] for part in PARTS if part in document}
    return json.dumps(kept, sort_keys=True, separators=(",", ":"))


@functools.cache
def claimed_in(texts: tuple[str, ...]) -> Claimed | None:
    """What the engines claim whose documents a chunk carries; None if it is not narrowed."""
    return Claimed(tuple(Capabilities.validated(json.loads(text)) for text in texts)) if texts else None
