"""Rules that a table defines for its rows, and rules about what engines write beside commits.

The former are constraints, generated and identity columns and the features of its protocol.
"""

from __future__ import annotations

from delta_models.requirements.base import Requirement, Strength

SUPPORTED = "Supported Features"
NEW_AND_EXISTING = "Table Features for New and Existing Tables"

IDENTITY = "Identity Columns"


def _identity(
    name: str, sentence: str, section: str = IDENTITY, strength: Strength = "should"
) -> Requirement:
    return Requirement(f"rules.identity-{name}", sentence, section, strength, "writer", ("identity",))


REQUIREMENTS: tuple[Requirement, ...] = (
    Requirement(
        "rules.constraints-hold",
        "Every row that is added meets each CHECK constraint of the metadata; unknown is not true.",
        "CHECK Constraints",
        "must",
        "writer",
        ("rules",),
    ),
    Requirement(
        "rules.invariants-hold",
        "Every row that is added meets each invariant of a column; unknown is not true.",
        "Column Invariants",
        "must",
        "writer",
        ("rules",),
    ),
    Requirement(
        "cdc.recorded",
        "A delete, an update or a merge that changes rows, or rewrites some that it leaves as they are, records its"
        " changes where the change feed is on.",
        "Writer Requirements for AddCDCFile",
        "must",
        "writer",
        ("recorded",),
    ),
    Requirement(
        "rules.generated-columns-hold",
        "Every row that is added has in a generated column what the expression in the metadata computes.",
        "Generated Columns",
        "must",
        "writer",
        ("rules",),
    ),
    _identity("unique", "A generated value of an identity column does not stand in the column already."),
    _identity(
        "on-the-lattice", "A generated value of an identity column is its start plus a number of its steps."
    ),
    _identity(
        "beyond-the-mark",
        "A generated value of an identity column lies behind the high-water mark of before, in the direction of"
        " its step.",
    ),
    _identity(
        "mark-moves",
        "The commit that adds generated values takes the high-water mark along as far as they reach.",
    ),
    _identity(
        "mark-stays",
        "The high-water mark of an identity column never moves back while the column stays, not by a restore either.",
        "delta-spark 4.4.0: identity columns",
        "reference",
    ),
    Requirement(
        "protocol.features-stay",
        "A feature that the protocol names is named by every later one, unless it is dropped.",
        SUPPORTED,
        "must",
        "writer",
        ("protocol",),
    ),
    Requirement(
        "protocol.upgrade-keeps-what-is-used",
        "An upgrade to table features names those of the older versions that the table makes use of.",
        NEW_AND_EXISTING,
        "should",
        "writer",
        ("protocol",),
    ),
    Requirement(
        "protocol.features-needed",
        "The protocol names no new feature that the table makes no use of and nobody asked for.",
        "delta-spark 4.4.0: protocol upgrades",
        "reference",
        "writer",
        ("protocol",),
    ),
    Requirement(
        "vacuum.keeps-data-files",
        "A vacuum deletes no data file of a version within the retention.",
        "Action Reconciliation",
        "must",
        "writer",
        ("vacuum",),
    ),
    Requirement(
        "vacuum.keeps-vectors",
        "A vacuum deletes no file of deletion vectors of a version within the retention.",
        "Action Reconciliation",
        "must",
        "writer",
        ("vacuum",),
    ),
    Requirement(
        "vacuum.keeps-change-data",
        "A vacuum deletes no change data file of a version within the retention.",
        "Add CDC File",
        "must",
        "writer",
        ("vacuum",),
    ),
    Requirement(
        "checksum.each-commit",
        "Each commit gets a version checksum.",
        "Version Checksum File",
        "should",
        "writer",
        ("checksums",),
    ),
)
