"""The alphabet: everything that a history can ask of a table, as frozen values with a JSON form (see
`codec`).

Nothing here holds what an engine makes up: no version numbers, file names or clocks. An earlier table is
named by a *state*, "after step k" of the history (`AtState`), which each copy maps to its own version from
its own log before it asks its engine (`AtVersion`, which therefore never stands in a history). Their
names in files are those of `wire_names`.

Columns are named by their display names. `properties` are pairs, sorted by key. An expression of an
assignment or an insert names target columns plainly; in a `Merge`, `Column(("source", name))` and
`Column(("target", name))` tell the two sides apart, everywhere in its condition, its clauses' conditions and
its assignments.
"""

from __future__ import annotations

from dataclasses import dataclass

from delta_models.operations.ddl import (
    AddColumn,
    AddConstraint,
    DropColumn,
    DropConstraint,
    DropFeature,
    EnableFeature,
    RenameColumn,
    ReorderColumn,
    SetDefault,
    SetNullable,
    SetProperties,
    UnsetProperties,
    WidenColumn,
)
from delta_models.operations.dml import (
    Append,
    Assignments,
    Delete,
    Merge,
    MergeClause,
    Overwrite,
    Update,
    WriteStream,
)
from delta_models.operations.faults import DamageFile, DeadTableAt, FailAt, KillAt, LoseReplyAt, TearAt
from delta_models.operations.maintenance import (
    AdvanceClock,
    Checkpoint,
    CleanLog,
    Cluster,
    CompactLog,
    Optimize,
    Purge,
    Vacuum,
    ZOrder,
)
from delta_models.operations.queries import (
    Detail,
    History,
    Read,
    ReadChanges,
    ReadStream,
    Reopen,
    SetZone,
    SwitchActor,
)
from delta_models.operations.table_lifecycle import (
    CloneTo,
    ConvertFromParquet,
    Create,
    CreateAs,
    Drop,
    Properties,
    Replace,
    Restore,
)
from delta_models.operations.time_travel import AtState, AtTime, AtTimestamp, AtVersion, Latest, When


@dataclass(frozen=True, slots=True)
class Interleave:
    """Operations of several writers at once; `schedule` says which writer goes next at each gate.

    `writers` says whose each operation is, where one performs several, one after another; else each has a writer of its
    own. When the schedule is at its end, the writers go on to theirs, the first of them first.
    """

    operations: tuple[Operation, ...]
    schedule: tuple[int, ...]
    writers: tuple[int, ...] = ()

    @property
    def owners(self) -> tuple[int, ...]:
        """The writer of each operation."""
        return self.writers or tuple(range(len(self.operations)))


Operation = (
    Create | Replace | CreateAs | Drop | CloneTo | ConvertFromParquet | Restore
    | Append | Overwrite | WriteStream
    | Delete | Update | Merge
    | AddColumn | DropColumn | RenameColumn | ReorderColumn | WidenColumn | SetNullable | SetDefault
    | SetProperties | UnsetProperties | AddConstraint | DropConstraint | EnableFeature | DropFeature
    | Optimize | ZOrder | Cluster | Purge | Vacuum | Checkpoint | CompactLog | CleanLog | AdvanceClock
    | Read | ReadChanges | History | Detail | ReadStream
    | Reopen | SwitchActor | SetZone | Interleave
    | KillAt | FailAt | LoseReplyAt | TearAt | DeadTableAt | DamageFile
)  # fmt: skip

QUERIES = (Read, ReadChanges, History, Detail, ReadStream)
STORAGE_FAULTS = (KillAt, FailAt, LoseReplyAt, TearAt, DeadTableAt)
FAULTS = (KillAt, FailAt, LoseReplyAt, TearAt, DeadTableAt, DamageFile)

__all__ = [
    "FAULTS",
    "QUERIES",
    "STORAGE_FAULTS",
    "AddColumn",
    "AddConstraint",
    "AdvanceClock",
    "Append",
    "Assignments",
    "AtState",
    "AtTime",
    "AtTimestamp",
    "AtVersion",
    "Checkpoint",
    "CleanLog",
    "CloneTo",
    "Cluster",
    "CompactLog",
    "ConvertFromParquet",
    "Create",
    "CreateAs",
    "DamageFile",
    "DeadTableAt",
    "Delete",
    "Detail",
    "Drop",
    "DropColumn",
    "DropConstraint",
    "DropFeature",
    "EnableFeature",
    "FailAt",
    "History",
    "Interleave",
    "KillAt",
    "Latest",
    "LoseReplyAt",
    "Merge",
    "MergeClause",
    "Operation",
    "Optimize",
    "Overwrite",
    "Properties",
    "Purge",
    "Read",
    "ReadChanges",
    "ReadStream",
    "RenameColumn",
    "Reopen",
    "ReorderColumn",
    "Replace",
    "Restore",
    "SetDefault",
    "SetNullable",
    "SetProperties",
    "SetZone",
    "SwitchActor",
    "TearAt",
    "UnsetProperties",
    "Update",
    "Vacuum",
    "When",
    "WidenColumn",
    "WriteStream",
    "ZOrder",
]
