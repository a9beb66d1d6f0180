"""Operations that maintain a table and keep its rows, and the passing of time."""

from __future__ import annotations

from dataclasses import dataclass

from delta_models.expressions import Expression


@dataclass(frozen=True, slots=True)
class Optimize:
    """Rewrite small files as larger ones."""

    where: Expression | None = None


@dataclass(frozen=True, slots=True)
class ZOrder:
    """Rewrite files in the Z-order of columns."""

    columns: tuple[str, ...]
    where: Expression | None = None


@dataclass(frozen=True, slots=True)
class Cluster:
    """Set the columns by which an engine clusters new files; no columns switch clustering off."""

    columns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Purge:
    """Rewrite files that have deletion vectors or dropped columns (REORG ... APPLY (PURGE))."""


@dataclass(frozen=True, slots=True)
class Vacuum:
    """Delete files that no version within the retention needs; without `retention_hours` the table's own."""

    retention_hours: float | None = None
    dry_run: bool = False
    lite: bool = False


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """Write a checkpoint of the newest version."""


@dataclass(frozen=True, slots=True)
class CompactLog:
    """Write a log compaction of the last `commits` commits."""

    commits: int


@dataclass(frozen=True, slots=True)
class CleanLog:
    """Delete log files that are older than the log's retention."""


@dataclass(frozen=True, slots=True)
class AdvanceClock:
    """Let hours pass."""

    hours: int
