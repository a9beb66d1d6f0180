"""The alphabet: everything that a history can ask of a table, as frozen values with a JSON form (see
`codec`).

Nothing here holds what an engine makes up: no version numbers, file names or clocks. An earlier table is
named by a *state*, "after step k" of the history (`AtState`), which each copy maps to its own version from
its own log before it asks its engine (`AtVersion`, which therefore never stands in a history). `ALPHABET`
maps the names to the classes.

Columns are named by their display names. `properties` are pairs, sorted by key. An expression of an
assignment or an insert names target columns plainly; in a `Merge`, `Column(("source", name))` and
`Column(("target", name))` tell the two sides apart, everywhere in its condition, its clauses' conditions and
its assignments.
"""

from __future__ import annotations

from dataclasses import dataclass

from delta_models.expressions import Expression
from delta_models.schema import DataType, Field, Struct
from delta_models.values import Rows

Properties = tuple[tuple[str, str], ...]
Assignments = tuple[tuple[str, Expression], ...]


# When to look, or what to go back to


@dataclass(frozen=True, slots=True)
class Latest:
    """The newest version."""


@dataclass(frozen=True, slots=True)
class AtState:
    """The table as it stood after step `step` (counted from 0) of the history."""

    step: int


@dataclass(frozen=True, slots=True)
class AtVersion:
    """A version of one copy: what `AtState` becomes on its way to that copy's engine."""

    version: int


@dataclass(frozen=True, slots=True)
class AtTime:
    """The table as of the moment at which step `step` had just ended."""

    step: int


@dataclass(frozen=True, slots=True)
class AtTimestamp:
    """Microseconds since the epoch: what `AtTime` becomes on its way to an engine."""

    micros: int


When = Latest | AtState | AtVersion | AtTime | AtTimestamp


# Table


@dataclass(frozen=True, slots=True)
class Create:
    """A new empty table. With `name` it is registered in the engine's catalogue; `managed` leaves its place to it."""

    schema: Struct
    partition_by: tuple[str, ...] = ()
    properties: Properties = ()
    name: str | None = None
    managed: bool = False
    if_not_exists: bool = False
    cluster_by: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Replace:
    """A new definition, and no rows, in place of the table; with `or_create` also where there is none."""

    schema: Struct
    partition_by: tuple[str, ...] = ()
    properties: Properties = ()
    or_create: bool = True
    cluster_by: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CreateAs:
    """A new table with these rows (CTAS); with `replace` in place of an existing one."""

    rows: Rows
    partition_by: tuple[str, ...] = ()
    properties: Properties = ()
    replace: bool = False


@dataclass(frozen=True, slots=True)
class Drop:
    """The table is taken out of the catalogue; a managed one loses its files."""


@dataclass(frozen=True, slots=True)
class CloneTo:
    """A clone of the table as of `at` under the table's folder's sibling called `target`."""

    target: str
    shallow: bool
    at: When = Latest()


@dataclass(frozen=True, slots=True)
class ConvertFromParquet:
    """A folder of Parquet files holding these rows, laid out by the harness, becomes a Delta table in place."""

    rows: Rows
    partition_by: tuple[str, ...] = ()
    files: int = 1


@dataclass(frozen=True, slots=True)
class Restore:
    """The contents, schema and properties of an earlier state become the newest version."""

    at: When


# Write


@dataclass(frozen=True, slots=True)
class Append:
    """More rows, in about `files` files. `schema_mode` is none, merge or overwrite."""

    rows: Rows
    files: int = 1
    schema_mode: str = "none"
    by_name: bool = True
    transaction: tuple[str, int] | None = None


@dataclass(frozen=True, slots=True)
class Overwrite:
    """Rows in place of the whole table, of the rows that `where` picks, or of the partitions that they touch."""

    rows: Rows
    where: Expression | None = None
    dynamic: bool = False
    files: int = 1
    schema_mode: str = "none"
    by_name: bool = True
    transaction: tuple[str, int] | None = None


# Change


@dataclass(frozen=True, slots=True)
class Delete:
    """The rows that `where` picks go; without it all."""

    where: Expression | None = None


@dataclass(frozen=True, slots=True)
class Update:
    """The rows that `where` picks take new values, computed from the old row."""

    assignments: Assignments
    where: Expression | None = None


@dataclass(frozen=True, slots=True)
class MergeClause:
    """One WHEN clause.

    `when` is matched, not-matched or not-matched-by-source; `action` is update, delete or insert.
    `everything` stands for `*`: every target column takes the source column of its name; `assignments` are
    then empty.
    """

    when: str
    action: str
    assignments: Assignments = ()
    condition: Expression | None = None
    everything: bool = False


@dataclass(frozen=True, slots=True)
class Merge:
    """Source rows joined to the table by `on`; for each row the first clause that applies acts."""

    source: Rows
    on: Expression
    clauses: tuple[MergeClause, ...]
    schema_evolution: bool = False


# Schema


@dataclass(frozen=True, slots=True)
class AddColumn:
    """A new nullable field in the struct at `parent` (empty: the table itself), at its end unless told otherwise."""

    field: Field
    parent: tuple[str, ...] = ()
    after: str | None = None
    first: bool = False


@dataclass(frozen=True, slots=True)
class DropColumn:
    """A column leaves the schema."""

    path: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RenameColumn:
    """A column takes another name."""

    path: tuple[str, ...]
    name: str


@dataclass(frozen=True, slots=True)
class ReorderColumn:
    """A column moves to the front of its struct, or behind its sibling `after`."""

    path: tuple[str, ...]
    after: str | None = None


@dataclass(frozen=True, slots=True)
class WidenColumn:
    """A column takes a wider type."""

    path: tuple[str, ...]
    type: DataType


@dataclass(frozen=True, slots=True)
class SetNullable:
    """A column gets or loses its NOT NULL."""

    path: tuple[str, ...]
    nullable: bool


@dataclass(frozen=True, slots=True)
class SetDefault:
    """A column's default value for rows that do not name it; None takes it away."""

    column: str
    value: Expression | None


# Rules


@dataclass(frozen=True, slots=True)
class SetProperties:
    """Table properties get these values."""

    properties: Properties


@dataclass(frozen=True, slots=True)
class UnsetProperties:
    """Table properties lose their values."""

    keys: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class AddConstraint:
    """A CHECK constraint that every row, old and new, must meet."""

    name: str
    check: Expression


@dataclass(frozen=True, slots=True)
class DropConstraint:
    """A CHECK constraint goes."""

    name: str
    if_exists: bool = True


@dataclass(frozen=True, slots=True)
class EnableFeature:
    """The protocol is upgraded to support a table feature."""

    feature: str


@dataclass(frozen=True, slots=True)
class DropFeature:
    """A table feature is taken out of the protocol."""

    feature: str
    truncate_history: bool = False


# Upkeep


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


# Look


@dataclass(frozen=True, slots=True)
class Read:
    """Rows that `where` picks of the table as of `at`; `columns` None: all, in the order of the schema."""

    at: When = Latest()
    where: Expression | None = None
    columns: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class ReadChanges:
    """The change feed from one state to another, both included."""

    first: When
    last: When | None = None


@dataclass(frozen=True, slots=True)
class History:
    """The table's history as the engine tells it."""


@dataclass(frozen=True, slots=True)
class Detail:
    """What the engine says of the table: format, properties, protocol, number of files."""


@dataclass(frozen=True, slots=True)
class Tail:
    """What a streaming reader that follows the table gets since its last look."""

    reader: str = "tail"


# Actor


@dataclass(frozen=True, slots=True)
class Reopen:
    """The table is addressed anew, cold, through another path to the same folder."""


@dataclass(frozen=True, slots=True)
class SwitchActor:
    """The following steps are performed in another slot of a shared history."""

    slot: str


@dataclass(frozen=True, slots=True)
class SetZone:
    """The session's time zone changes."""

    zone: str


@dataclass(frozen=True, slots=True)
class Interleave:
    """Operations of several writers at once; `schedule` says who goes next at each gate."""

    operations: tuple[Operation, ...]
    schedule: tuple[int, ...]


# Fault


@dataclass(frozen=True, slots=True)
class KillAt:
    """The next operation's process is killed before or after its event in a storage role."""

    role: str
    moment: str = "before"
    ordinal: int = 0


@dataclass(frozen=True, slots=True)
class FailAt:
    """The next operation's event in a storage role fails with an errno."""

    role: str
    errno: str = "EIO"
    ordinal: int = 0


@dataclass(frozen=True, slots=True)
class LoseReplyAt:
    """The next operation's event in a storage role is done, and reported as failed with an errno."""

    role: str
    ordinal: int = 0
    errno: str = "EIO"


@dataclass(frozen=True, slots=True)
class TearAt:
    """Only the first bytes of the next operation's write in a storage role reach the disk."""

    role: str
    length: int
    ordinal: int = 0


@dataclass(frozen=True, slots=True)
class DeadTableAt:
    """From the next operation's event in a storage role on every change under the table fails."""

    role: str
    moment: str = "before"
    ordinal: int = 0


@dataclass(frozen=True, slots=True)
class DamageFile:
    """A file in a storage role is removed or cut short behind the engine's back."""

    role: str
    how: str


Operation = (
    Create | Replace | CreateAs | Drop | CloneTo | ConvertFromParquet | Restore
    | Append | Overwrite
    | Delete | Update | Merge
    | AddColumn | DropColumn | RenameColumn | ReorderColumn | WidenColumn | SetNullable | SetDefault
    | SetProperties | UnsetProperties | AddConstraint | DropConstraint | EnableFeature | DropFeature
    | Optimize | ZOrder | Cluster | Purge | Vacuum | Checkpoint | CompactLog | CleanLog | AdvanceClock
    | Read | ReadChanges | History | Detail | Tail
    | Reopen | SwitchActor | SetZone | Interleave
    | KillAt | FailAt | LoseReplyAt | TearAt | DeadTableAt | DamageFile
)  # fmt: skip

ALPHABET: dict[str, type[Operation]] = {each.__name__: each for each in Operation.__args__}
LOOKS = (Read, ReadChanges, History, Detail, Tail)
STORAGE_FAULTS = (KillAt, FailAt, LoseReplyAt, TearAt, DeadTableAt)
FAULTS = (KillAt, FailAt, LoseReplyAt, TearAt, DeadTableAt, DamageFile)
