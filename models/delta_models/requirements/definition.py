"""Rules about operations on a table's definition: on the table itself, its schema, constraints and features."""

from __future__ import annotations

from delta_models.requirements.base import Requirement, Strength

DEFINITION = "docs/model.md"
MAPPING = "Column Mapping"
WIDENING = "Type Widening"
DEFAULTS = "Default Columns"
CONSTRAINTS = "CHECK Constraints"
FEATURES = "Table Features"
CLUSTERING = "Clustered Table"
TRANSACTIONS = "Transaction Identifiers"
SPARK = "delta-spark 4.4.0"
IDENTITY = "Identity Columns"


def _contents(
    name: str, sentence: str, section: str = DEFINITION, strength: Strength = "must"
) -> Requirement:
    return Requirement(f"contents.{name}", sentence, section, strength, "writer", ("contents",))


def _outcome(name: str, sentence: str, section: str = DEFINITION, strength: Strength = "must") -> Requirement:
    return Requirement(f"outcome.{name}", sentence, section, strength, "writer", ("outcomes",))


REQUIREMENTS: tuple[Requirement, ...] = (
    _contents("replace", "Replacing a table leaves the new definition, and no rows."),
    _contents("create-as", "A table created from rows holds exactly these."),
    _contents("convert", "A converted folder of Parquet files holds exactly the rows of its files."),
    _contents("convert-again", "Converting what is a Delta table already changes nothing."),
    _contents("clone", "A clone holds the columns and rows of the state that was cloned."),
    _contents("clone-leaves-source", "Cloning a table changes nothing of it and adds no version to it."),
    _contents(
        "add-column", "A new column is null in every row that there is; the other columns keep their values."
    ),
    _outcome(
        "identity-given-refused",
        "A value given for a column that is always generated as identity is refused.",
        IDENTITY,
        "should",
    ),
    _outcome(
        "identity-update-refused",
        "An update of an identity column is refused.",
        "delta-spark 4.4.0: identity columns",
        "reference",
    ),
    _contents("drop-column", "Dropping a column takes its values, and leaves those of the others.", MAPPING),
    _contents("rename-column", "Renaming a column keeps its values and its place.", MAPPING),
    _contents("reorder-column", "Moving a column leaves every value with its name."),
    _contents("widen-column", "Widening a column's type changes no value.", WIDENING),
    _contents("set-nullable", "Changing the nullability of a column changes no value."),
    _contents("set-default", "A new default changes no row that there is.", DEFAULTS),
    _contents("add-constraint", "A new constraint changes no row.", CONSTRAINTS),
    _contents("drop-constraint", "Dropping a constraint changes no row.", CONSTRAINTS),
    _contents("enable-feature", "Enabling a table feature changes no row.", FEATURES),
    _contents("drop-feature", "Dropping a table feature changes no row."),
    _contents("cluster", "Choosing other clustering columns changes no row.", CLUSTERING),
    _contents(
        "repeated-transaction",
        "A write under a transaction id that the table has seen already changes nothing.",
        TRANSACTIONS,
    ),
    _outcome(
        "repeated-transaction-skipped",
        "A write under a transaction id that the table has seen already is skipped.",
        SPARK,
        "reference",
    ),
    _outcome(
        "generated-may-be-refused",
        "A write that gives no value to a generated column gets the computed one, or is refused.",
        "Generated Columns",
        "lenient",
    ),
    _outcome(
        "rules-of-another-zone-may-be-refused",
        "An operation that rewrites files may be refused if rows in them keep the table's rules in the time zone of the"
        " session that wrote them, and not in its own.",
        strength="lenient",
    ),
    _outcome(
        "merge-into-append-only-may-be-refused",
        "A merge that could remove or change rows of a table with delta.appendOnly=true may be refused even if no row"
        " of the table is one that it acts on.",
        strength="lenient",
    ),
    _outcome(
        "casts-may-be-refused",
        "A value of another type is stored as the column's type if the store-assignment policy allows it, or refused.",
        strength="lenient",
    ),
    _outcome(
        "overflow-refused",
        "A value that does not fit the column's type is refused, never cut or wrapped around.",
    ),
    _outcome(
        "identity-overflow-may-be-refused",
        "A write for whose rows an identity column has no values left may be refused; values may be left out before.",
        "Identity Columns",
        "lenient",
    ),
    _outcome(
        "too-long-refused",
        "A text of more code points than its column's char(n) or varchar(n) has is refused.",
        "delta-spark 4.4.0: char and varchar",
        "reference",
    ),
    _outcome(
        "blanks-may-be-refused",
        "A text that only blanks at its end make too long for its column is refused, or stored without them.",
        "delta-spark 4.4.0: char and varchar",
        "lenient",
    ),
    _outcome(
        "void-refused",
        "No row is written to a table with void inside an array or a map, or in which all columns, or all fields of a"
        " struct, are void.",
        "Void Type",
    ),
    _outcome(
        "special-names-may-be-refused",
        "A new column whose name has a blank, a line break or one of ,;{}()= may be refused where column mapping is"
        " off.",
        "Column Mapping",
        "lenient",
    ),
    _outcome(
        "existing-column-refused",
        "A new column with the name of one that there is, whatever its case, is refused.",
        SPARK,
        "reference",
    ),
    _outcome(
        "nothing-to-compact-may-be-refused",
        "A compaction of the log over fewer than two commits does nothing, or is refused.",
        "Log Compaction Files",
        "lenient",
    ),
    _outcome(
        "new-column-nullable",
        "A new column that may not be null is refused where there may be rows.",
        SPARK,
        "reference",
    ),
    _outcome("column-mapping-needed", "Columns are dropped and renamed only with column mapping.", MAPPING),
    _outcome(
        "column-in-use",
        "A column on which the partitioning or a constraint hangs is not dropped, nor renamed under a constraint.",
        SPARK,
        "reference",
    ),
    _outcome(
        "type-widening-needed",
        "A column's type is widened only where delta.enableTypeWidening is set.",
        WIDENING,
    ),
    _outcome(
        "not-null-later-may-be-refused",
        "A column without nulls may become NOT NULL, or that is refused.",
        strength="lenient",
    ),
    _outcome("column-defaults-needed", "Column defaults are set only with their table feature.", DEFAULTS),
    _outcome("constraint-exists", "A second constraint of one name is refused.", SPARK, "reference"),
    _outcome(
        "missing-constraint-refused",
        "Dropping a constraint that there is not is refused, unless said otherwise.",
    ),
    _outcome("unknown-feature-refused", "A table feature that does not exist is refused.", FEATURES),
    _outcome(
        "feature-may-be-unknown",
        "A table feature that the engine does not support is refused.",
        FEATURES,
        "lenient",
    ),
    _outcome(
        "feature-may-be-kept",
        "A table feature is dropped, or the engine refuses to.",
        SPARK,
        "lenient",
    ),
    _outcome(
        "bad-clustering-refused",
        "A partitioned table is not clustered, and none by a column that it does not have.",
        CLUSTERING,
    ),
)
