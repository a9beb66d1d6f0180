"""Rules about a table after an operation, and about operations that must or may be refused.

The allowed outcomes of the model (`delta_models.table`) name these rules. `contents.*` says what rows, schema and
properties are after an operation that succeeded, `outcome.*` why an operation must or may end otherwise.
"""

from __future__ import annotations

from delta_models.requirements.base import Requirement, Strength

DEFINITION = "docs/model.md"
PARTITION_VALUES = "Partition Value Serialization"
APPEND_ONLY = "Append-only Tables"
SQL_MERGE = "SQL:2003, 14.9 merge statement: cardinality violation"
SPARK_MERGE = "delta-spark 4.4.0: MERGE"
SPARK_OPTIMIZE = "delta-spark 4.4.0: OPTIMIZE"
SPARK_WRITE = "delta-spark 4.4.0: writes"

_CONTENTS = ("contents",)
_OUTCOMES = ("outcomes",)


def _contents(
    name: str, sentence: str, section: str = DEFINITION, strength: Strength = "must"
) -> Requirement:
    return Requirement(f"contents.{name}", sentence, section, strength, "writer", _CONTENTS)


def _outcome(name: str, sentence: str, section: str = DEFINITION, strength: Strength = "must") -> Requirement:
    return Requirement(f"outcome.{name}", sentence, section, strength, "writer", _OUTCOMES)


REQUIREMENTS: tuple[Requirement, ...] = (
    _contents(
        "create", "A new table has the columns, partition columns and properties asked for, and no rows."
    ),
    _contents("create-if-not-exists", "Creating a table only if there is none leaves an existing one alone."),
    _contents("drop-managed", "Dropping a table that the catalogue manages takes its files away."),
    _contents(
        "drop-external", "Dropping an external table leaves its files, and the table can be read by its path."
    ),
    _contents("append", "An append adds exactly its rows, duplicates included, and keeps every other row."),
    _contents("append-nothing", "An append of no rows changes no row; it may add a version or not."),
    _contents("overwrite", "An overwrite leaves exactly the new rows."),
    _contents(
        "replace-where", "An overwrite with a predicate replaces exactly the rows that the predicate picks."
    ),
    _contents(
        "overwrite-partitions",
        "A dynamic partition overwrite replaces exactly the partitions in which the new rows lie.",
    ),
    _contents(
        "empty-partition-text",
        "An empty string in a partition column is stored, and read, as null.",
        PARTITION_VALUES,
    ),
    _contents(
        "delete", "A delete takes away exactly the rows for which its predicate is true, unknown is not true."
    ),
    _contents("delete-all", "A delete without a predicate takes away every row."),
    _contents("delete-nothing", "A delete that picks no row changes none; it may add a version or not."),
    _contents(
        "update",
        "An update gives exactly the picked rows the values computed from the old row, and leaves their other columns.",
    ),
    _contents("update-nothing", "An update that picks no row changes none; it may add a version or not."),
    _contents(
        "merge",
        "A merge applies to each row the first clause whose condition is true; null keys match nothing.",
    ),
    _contents(
        "merge-nothing", "A merge in which no clause acts changes no row; it may add a version or not."
    ),
    _contents("restore", "A restore brings back the rows, schema and properties of the state that it names."),
    _contents("optimize", "Compacting files changes no row."),
    _contents(
        "vacuum",
        "A vacuum changes no row of the newest version, nor of one whose files the retention protects.",
    ),
    _contents("checkpoint", "Upkeep of the log adds no version and changes no row."),
    _contents("set-properties", "Setting properties sets these and keeps the others."),
    _contents("unset-properties", "Unsetting properties takes away these and keeps the others."),
    Requirement(
        "contents.look-changes-nothing",
        "Reading, and addressing the table anew, adds no version and changes nothing.",
        DEFINITION,
        "must",
        "reader",
        ("reads",),
    ),
    _outcome("existing-table-refused", "Creating a table where there is one is refused."),
    _outcome("missing-table-refused", "An operation on a table that does not exist is refused."),
    _outcome("missing-version-refused", "Restoring a state in which there was no table is refused."),
    _outcome("misfit-refused", "Rows whose columns or types do not fit the schema are refused."),
    _outcome("unknown-column-refused", "An operation that names a column that does not exist is refused."),
    _outcome(
        "missing-columns-may-be-refused",
        "Rows that lack nullable columns are written with nulls there, or refused.",
        strength="lenient",
    ),
    _outcome(
        "broken-rule-refused", "Rows that break NOT NULL or a constraint are refused.", "Column Invariants"
    ),
    _outcome(
        "append-only",
        "A table with delta.appendOnly=true refuses operations that take rows away or change them. It may refuse those"
        " that could, though no row is concerned.",
        APPEND_ONLY,
    ),
    _outcome(
        "bad-argument-refused", "Arguments that contradict each other are refused.", SPARK_WRITE, "reference"
    ),
    _outcome(
        "replace-where-mismatch",
        "An overwrite with a predicate refuses new rows that the predicate does not pick.",
        SPARK_WRITE,
        "reference",
    ),
    _outcome(
        "ambiguous-match-refused",
        "A merge in which several source rows would change one target row is refused.",
        SQL_MERGE,
    ),
    _outcome(
        "merge-deletes-twice-refused",
        "Several source rows that would delete one target row are refused where there are other matched clauses or "
        "a condition.",
        SPARK_MERGE,
        "reference",
    ),
    _outcome(
        "merge-deletes-once",
        "Several source rows may match one target row where the only matched clause is an unconditional delete.",
        SPARK_MERGE,
        "reference",
    ),
    _outcome(
        "optimize-by-partition-only",
        "Compacting only some rows is possible by partition columns only.",
        SPARK_OPTIMIZE,
        "reference",
    ),
    _outcome(
        "internal-property-refused",
        "Setting delta.columnMapping.maxColumnId, which users cannot configure, is refused.",
        "Column Mapping",
    ),
    _outcome(
        "short-retention-may-be-refused",
        "A vacuum with a shorter retention than the table's may be refused.",
        strength="lenient",
    ),
    _outcome(
        "restore-to-now-may-be-refused",
        "Restoring the newest version changes nothing, or is refused.",
        strength="lenient",
    ),
    _outcome(
        "vacuumed-state-may-be-refused",
        "A state whose files a vacuum may have deleted is restored right, or refused.",
        strength="lenient",
    ),
)
