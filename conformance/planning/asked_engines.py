"""The share of engines on a JVM that the user named: they play in every suite that was asked for.

A profile leaves engines on a JVM out of suites that would take too long for a run with the default engines.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from conformance.engine_pool import runs_on_jvm
from conformance.histories import Chunk
from delta_adapters.registry import EngineSpec

# Histories in a suite that has none for them: a drawn history of crashes takes a JVM a minute, a race some seconds.
SHARE = {"crashes": 1, "races": 2}


def with_asked_engines(chunks: Sequence[Chunk], asked: Iterable[EngineSpec]) -> tuple[Chunk, ...]:
    """Return the chunks, with a few histories for engines on a JVM in each suite that has none for them.

    They are the last ones of the suite's first chunk, since a JVM starts slowly. Without an engine on a JVM in `asked`
    nothing changes.
    """
    if not any(map(runs_on_jvm, asked)):
        return tuple(chunks)
    served = {chunk.suite for chunk in chunks if chunk.heavy}
    shared: list[Chunk] = []
    for chunk in chunks:
        if chunk.suite not in served:
            served.add(chunk.suite)
            share = SHARE.get(chunk.suite, 1)
            heavy = tuple(range(max(0, chunk.histories - share), chunk.histories))
            shared.append(replace(chunk, heavy=heavy))
        else:
            shared.append(chunk)
    return tuple(shared)
