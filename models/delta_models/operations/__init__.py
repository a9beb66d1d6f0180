"""The operations that a history can perform on a table, as frozen values with a JSON form (see `codec`).

An operation contains nothing that an engine generates: no version numbers, file names or clocks. An earlier table is
named by a *state*, "after step k" of the history (`AtState`). Before a copy's engine performs the operation, the
harness maps the state to that copy's own version (`AtVersion`, which therefore never occurs in a history). `wire_names`
holds the names of operations in files.

Columns have their display names. `properties` are pairs, sorted by key. Expressions of an assignment or an insert name
target columns plainly. In a `Merge`, `Column(("source", name))` and `Column(("target", name))` distinguish the two
sides, in its condition, in the conditions of its clauses and in its assignments.
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
    """Concurrent operations of several writers. `schedule` names the writer that continues at each gate.

    `writers` names the writer of each operation, if one writer performs several, one after another. Without it each
    operation has its own writer. After the end of the schedule each writer runs to its own end, the first one first.
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
