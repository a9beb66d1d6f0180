"""Table profiles: which shapes, values and operations occur in histories, and how often.

`conformance.planning` says how many histories there are.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from conformance.generation.feature_bundles import PLAIN_TYPES, Types, Weights
from delta_models.schema import BOOLEAN, DATE, DOUBLE, INTEGER, LONG, STRING, TIMESTAMP, DecimalType

DECIMALS: Types = (
    (DecimalType(10, 2), 2),
    (DecimalType(5, 0), 1),
    (DecimalType(18, 18), 1),
    (DecimalType(19, 4), 1),
    (DecimalType(38, 10), 1),
    (DecimalType(38, 0), 1),
)

TYPES: Types = (
    (LONG, 18),
    (STRING, 24),
    (INTEGER, 12),
    (DOUBLE, 18),
    (DATE, 12),
    (TIMESTAMP, 14),
    (BOOLEAN, 8),
    *DECIMALS,
)

PARTITION_TYPES: Types = (
    (STRING, 24),
    (LONG, 6),
    (INTEGER, 8),
    (DATE, 10),
    (TIMESTAMP, 8),
    (BOOLEAN, 6),
    (DOUBLE, 1),
    *DECIMALS,
)

OPERATIONS: Weights = (
    ("Append", 26),
    ("Delete", 11),
    ("Update", 11),
    ("Merge", 14),
    ("Overwrite", 5),
    ("Optimize", 6),
    ("Checkpoint", 6),
    ("Vacuum", 5),
    ("Restore", 5),
    ("Read", 10),
    ("Create", 1),
)


@dataclass(frozen=True, slots=True)
class TableProfile:
    """What may occur, and how often. Shares are "one in so many"; 0 is never."""

    name: str
    operations: Weights = OPERATIONS
    always: tuple[str, ...] = ("Append", "Read")
    # Swarm testing: each operation but those of `always` is left out of one in so many histories.
    switched_off_one_in: int = 8
    types: Types = TYPES
    partition_types: Types = PARTITION_TYPES
    columns: tuple[tuple[int, int], ...] = ((3, 4), (2, 3), (1, 1), (4, 3), (5, 1), (6, 1))
    partitions: tuple[tuple[int, int], ...] = ((0, 5), (1, 4), (2, 2))
    checkpoint_intervals: tuple[tuple[str, int], ...] = (("10", 2), ("3", 3), ("2", 3), ("1", 2))
    deletion_vectors_one_in: int = 6
    strange_doubles_one_in: int = 3  # histories in which NaN and -0.0 occur
    reference_predicates_one_in: int = 0  # histories whose predicates may go beyond the portable core
    hostile_texts_one_in: int = 0
    odd_names_one_in: int = 6
    rows_per_write: tuple[tuple[int, int], ...] = ((2, 4), (1, 3), (3, 4), (4, 2), (6, 2), (0, 1), (9, 1))
    misfits_one_in: int = 24  # appends whose schema does not fit
    rich_merges_one_in: int = 4  # merges with several clauses, conditions, not matched by source
    partial_overwrites_one_in: int = 0  # replaceWhere and dynamic partitions, in place of the whole table
    retentions: tuple[tuple[float | None, int], ...] = ((0.0, 3), (None, 1))  # hours, of vacuums
    always_tame: bool = (
        False  # leave out whatever is known to trip an engine, not just in half of the histories
    )
    features: tuple[str, ...] = ()  # of `feature_bundles.FEATURES`: always
    others: tuple[tuple[str, int], ...] = ()  # and one in so many histories


DEV = TableProfile("dev")
CI = replace(DEV, name="ci")
NIGHTLY = replace(
    DEV,
    name="nightly",
    reference_predicates_one_in=4,
    hostile_texts_one_in=6,
    partial_overwrites_one_in=3,
)

BASE: Weights = (("Append", 14), ("Delete", 5), ("Update", 5), ("Merge", 4), ("Overwrite", 2), ("Read", 6))


def _table(name: str, *features: str, one_in: int = 4, **others: int) -> TableProfile:
    """A table profile: some features always, others one in so many histories."""
    return TableProfile(
        name,
        operations=BASE,
        switched_off_one_in=one_in,
        types=PLAIN_TYPES,
        misfits_one_in=40,
        odd_names_one_in=12,
        features=features,
        others=tuple((other.replace("_", "-"), number) for other, number in others.items()),
    )


TABLES = (
    replace(_table("merges", "merges", deletion_vectors=4, change_feed=6), rich_merges_one_in=1),
    _table("writes", "writes", replaced=3, growing=4),
    _table("rules", "properties", "constraints"),
    _table("growing", "growing", defaults=6),
    _table("evolving", "schema-changes", "column-mapping", type_widening=3, growing=4),
    _table("widening", "type-widening", schema_changes=3),
    _table("changes", "change-feed", one_in=6, deletion_vectors=3, merges=3),
    _table("recorded", "change-feed", "growing", one_in=6),
    _table("renamed", "change-feed", "column-mapping", "schema-changes", type_widening=3, deletion_vectors=4),
    _table("zoned", "zones", "clocks", change_feed=4, deletion_vectors=4, z_order=3),
    _table("vectors", "deletion-vectors", one_in=6, upkeep=3, merges=4),
    _table("nested", "nested-types", "small-types", clocks=2, growing=4),
    _table("variants", "variants", deletion_vectors=4, change_feed=4, merges=3),
    _table("limits", "far-times", "small-types", deletion_vectors=4, z_order=4),
    _table("lengths", "lengths", merges=3, defaults=4, widths=3),
    _table("computed", "generated", defaults=2, constraints=4),
    _table("upkeep", "upkeep", "introspection", z_order=3, purges=3, time_travel=2),
    replace(
        _table("followed", "followed", one_in=2),
        always=("Append", "Tail"),
        types=((LONG, 5), (STRING, 6), (INTEGER, 3), (DATE, 3), (BOOLEAN, 2)),
        partition_types=((STRING, 4), (LONG, 2), (DATE, 2)),
    ),
    _table("clustered", "clustering", "upkeep"),
    _table("tracked", "row-tracking", merges=3, commit_timestamps=3, deletion_vectors=3),
    _table("tracked-later", "tracked-later", deletion_vectors=3, change_feed=4, upkeep=4),
    _table("protocol", "features", "properties", v2_checkpoints=3, commit_timestamps=3, row_tracking=4),
    _table("lifecycle", "catalogue", replaced=2, introspection=2),
    _table("copies", "clones", replaced=2, introspection=2, deletion_vectors=4),
    _table("converted", "converted", growing=3),
    _table("log", "log-upkeep", "upkeep", v2_checkpoints=3),
    _table("counted", "identity", merges=2, upkeep=2, deletion_vectors=3, change_feed=4),
)

# Plain tables: what is drawn beside a fault should not be what an engine trips on.
FAULTS = replace(
    _table("faults", change_feed=4),
    operations=(
        ("Append", 10), ("Delete", 6), ("Update", 6), ("Merge", 6), ("Overwrite", 4), ("Optimize", 4),
        ("Checkpoint", 3), ("Vacuum", 3), ("Restore", 3), ("Read", 2),
    ),
    misfits_one_in=0,
    odd_names_one_in=0,
    always=("Append",),
)  # fmt: skip


def _focus(name: str, **changes: Any) -> TableProfile:
    """A table profile for histories of few operations on plain tables, so that they give certain evidence surely."""
    plain = replace(
        _table(name),
        partition_types=((STRING, 4), (LONG, 2), (DATE, 2)),
        switched_off_one_in=0,
        deletion_vectors_one_in=0,
        strange_doubles_one_in=0,
        misfits_one_in=0,
        odd_names_one_in=0,
        always_tame=True,
    )
    return replace(plain, **changes)


# The histories that a plan is topped up with: `conformance/planning/top_up.py` says which evidence each is for.
FOCUSES = (
    _focus("appends", operations=(("Append", 12), ("Read", 2), ("Checkpoint", 1)), partitions=((1, 2), (0, 1))),
    _focus("refusals", operations=(("Append", 10), ("Create", 3), ("Read", 1)), misfits_one_in=2),
    _focus("compactions", operations=(("Append", 10), ("Optimize", 5)), partitions=((0, 3), (1, 1))),
    _focus(
        "rewrites",
        operations=(
            ("Append", 6), ("Delete", 5), ("Update", 5), ("Merge", 4), ("Overwrite", 4), ("Read", 1),
        ),
        partitions=((1, 2), (0, 1)),
    ),
    # A short retention may be refused.
    _focus(
        "vacuums", operations=(("Append", 6), ("Delete", 2), ("Vacuum", 8)), retentions=((None, 1),)
    ),
    _focus("restores", operations=(("Append", 8), ("Delete", 2), ("Restore", 8), ("Read", 2))),
    _focus(
        "checkpoints",
        operations=(("Append", 10), ("Checkpoint", 6), ("Read", 3)),
        checkpoint_intervals=(("1", 1), ("2", 2), ("3", 1)),
    ),
)  # fmt: skip

# The histories that a covering plan directs: `conformance/planning/directed.py` chooses features, types and operations.
GATE = replace(
    _table("gate"),
    columns=((3, 4), (4, 4), (5, 3), (2, 2), (6, 1)),
    partitions=((0, 1),),
    checkpoint_intervals=(("10", 2), ("3", 3), ("2", 3)),
    deletion_vectors_one_in=0,
    misfits_one_in=6,
    rich_merges_one_in=2,
    partial_overwrites_one_in=3,
    retentions=((0.0, 3), (None, 1)),
    always_tame=True,
)

PROFILES = {table.name: table for table in (DEV, CI, NIGHTLY, *TABLES, FAULTS, GATE, *FOCUSES)}
