"""What keeps a table tidy, and the time that passes."""

from __future__ import annotations

from dataclasses import dataclass

from delta_models.expressions import Expression


@dataclass(frozen=True, slots=True)
class Optimize:
    """Small files are rewritten as larger ones; rows stay."""

    where: Expression | None = None


@dataclass(frozen=True, slots=True)
class ZOrder:
    """Files are rewritten in the Z-order of columns; rows stay."""

    columns: tuple[str, ...]
    where: Expression | None = None


@dataclass(frozen=True, slots=True)
class Cluster:
    """The columns by which new files are clustered; none switches clustering off."""

    columns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Purge:
    """Files with deletion vectors, or with dropped columns in them, are rewritten (REORG ... APPLY (PURGE))."""


@dataclass(frozen=True, slots=True)
class Vacuum:
    """Files that no version within the retention needs are deleted. `retention_hours` None: as the table says."""

    retention_hours: float | None = None
    dry_run: bool = False
    lite: bool = False


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A checkpoint of the newest version is written."""


@dataclass(frozen=True, slots=True)
class CompactLog:
    """A log compaction over the commits of the last `commits` versions is written."""

    commits: int


@dataclass(frozen=True, slots=True)
class CleanLog:
    """Log files older than the log's retention are deleted."""


@dataclass(frozen=True, slots=True)
class AdvanceClock:
    """Time passes."""

    hours: int
