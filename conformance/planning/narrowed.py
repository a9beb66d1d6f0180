"""Narrows the chunks of a plan to what the engines of the run claim, where these claim less than plain tables need."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from conformance.generation.feature_bundles import FEATURES
from conformance.generation.narrowing import claimed_in, needs_narrowing, text_of
from conformance.generation.table_profiles import PROFILES
from conformance.histories import Chunk
from conformance.planning.claims import PlannedEngine

OF_TABLE_PROFILES = ("lockstep", "shared")  # suites that name table profiles; others name groups of histories


def within(engines: Sequence[PlannedEngine]) -> tuple[str, ...]:
    """The claims within which the histories of these engines are drawn; none if they claim all of plain tables."""
    if not engines or not needs_narrowing(engine.capabilities for engine in engines):
        return ()
    return tuple(sorted({text_of(engine.capabilities.document) for engine in engines}))


def narrowed(chunks: Iterable[Chunk], engines: Sequence[PlannedEngine]) -> Iterator[Chunk]:
    """Yield the chunks within the engines' claims, without those of table profiles that no engine claims."""
    claims = within(engines)
    claimed = claimed_in(claims)
    for chunk in chunks:
        if claimed is None:
            yield chunk
        elif chunk.suite not in OF_TABLE_PROFILES or all(
            claimed.has_feature(FEATURES[feature])
            for feature in (PROFILES[chunk.table].features if chunk.table else ())
        ):
            yield replace(chunk, within=claims)
