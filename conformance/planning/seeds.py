"""The seeds of chunks."""

from __future__ import annotations

import hashlib


def chunk_seed(run_seed: int, suite: str, profile: str, number: int) -> int:
    """The seed of a chunk: a hash that is the same in every process."""
    digest = hashlib.sha256(f"{run_seed}/{suite}/{profile}/{number}".encode()).digest()
    return int.from_bytes(digest[:8], "big")
