"""Rules about an engine as a program: its process, its reports, and its answers.

- `host.*`: the process.
- `outcome.*`: what an operation reports.
- `write.*`: what the log holds afterwards, which the writer answers for.
- `read.*`: what the engine answers afterwards, which the reader answers for.
- `metamorphic.*`: answers of one engine that must agree with each other, whatever the table holds.
"""

from __future__ import annotations

from delta_models.requirements.base import Requirement

CONTRACT = "docs/host-protocol.md"
ACTIONS = "Actions"
ADD = "Add File and Remove File"
RECONCILIATION = "Action Reconciliation"
METADATA = "Change Metadata"
MODEL_ROWS = "docs/model.md: Rows"
MODEL_BEYOND_STATES = "docs/model.md: Beyond the states"

_PLAYER = ("player",)

REQUIREMENTS: tuple[Requirement, ...] = (
    Requirement(
        "host.lives",
        "The process of an engine ends only when it is told to.",
        CONTRACT,
        "must",
        "writer",
        _PLAYER,
    ),
    Requirement(
        "host.answers",
        "Every request is answered within its time.",
        CONTRACT,
        "must",
        "writer",
        _PLAYER,
    ),
    Requirement(
        "host.speaks",
        "Every answer follows the host protocol: frames, kinds and types as documented.",
        CONTRACT,
        "must",
        "writer",
        _PLAYER,
    ),
    Requirement(
        "outcome.supported",
        "An operation that the capability document claims is performed, not answered with Unsupported.",
        CONTRACT,
        "must",
        "writer",
        ("outcomes",),
    ),
    Requirement(
        "outcome.classified",
        "A refusal is of a named kind, so that it can be judged; unclassified ones are charged to the adapter.",
        CONTRACT,
        "must",
        "writer",
        ("outcomes",),
    ),
    Requirement(
        "outcome.told",
        "An operation that no fault has touched ends with a definite answer, never with Unknown.",
        CONTRACT,
        "must",
        "writer",
        ("outcomes",),
    ),
    Requirement(
        "outcome.allowed",
        "An operation ends in one of the outcomes that its meaning allows: it does not fail where it must succeed, nor "
        "succeed where it must be refused.",
        "docs/model.md: States",
        "must",
        "writer",
        ("outcomes",),
    ),
    Requirement(
        "outcome.commits",
        "The number of versions that an operation adds is one that its outcome allows.",
        "Delta Log Entries",
        "must",
        "writer",
        ("outcomes",),
    ),
    Requirement(
        "outcome.refused-changes-nothing",
        "A refused operation leaves the table's rows, schema, partitioning and properties as they were.",
        "Delta Log Entries",
        "must",
        "writer",
        ("outcomes",),
    ),
    Requirement(
        "write.schema",
        "The schema in the log is the one that the operations so far mean: names, order, types, nullability.",
        METADATA,
        "must",
        "writer",
        ("contents",),
    ),
    Requirement(
        "write.column-order",
        "Where a write lets the schema grow, the new columns come behind those that there are, which keep their order.",
        "delta-spark 4.4.0: schema evolution",
        "reference",
        "writer",
        ("contents",),
    ),
    Requirement(
        "write.partitioning",
        "The partition columns in the log are those that the operations so far mean, in their order.",
        METADATA,
        "must",
        "writer",
        ("contents",),
    ),
    Requirement(
        "write.properties",
        "The log's configuration holds every property that was set, with its value.",
        METADATA,
        "must",
        "writer",
        ("contents",),
    ),
    Requirement(
        "write.constraint-understood",
        "A new CHECK constraint is stored in SQL that other engines read: it has no function or charset of one engine's"
        " own, and no column in double quotes, which are texts elsewhere.",
        "delta-spark 4.4.0: CHECK constraints",
        "reference",
        "writer",
        ("rules",),
    ),
    Requirement(
        "write.data-files-readable",
        "Every live data file is there, is Parquet, and holds the schema's columns in types that can be read as them.",
        ADD,
        "must",
        "writer",
        ("contents",),
    ),
    Requirement(
        "write.data-change-false-keeps-rows",
        "A commit whose file actions all say dataChange=false leaves the table's rows as they were.",
        ADD,
        "must",
        "writer",
        ("contents",),
    ),
    Requirement(
        "write.beyond-core",
        "An operation picks rows by functions, arithmetic, casts and operands of two types as Spark's SQL does.",
        "delta-spark 4.4.0: Spark SQL",
        "reference",
        "writer",
        ("contents",),
    ),
    Requirement(
        "write.nan-order",
        "An operation's predicate takes NaN for equal to itself and for larger than every other number.",
        "delta-spark 4.4.0: NaN semantics of Spark SQL",
        "reference",
        "writer",
        ("contents",),
    ),
    Requirement(
        "write.untouched-files-stay",
        "An append takes no file away; a delete or an update takes only files, or gives only files another deletion "
        "vector, that hold a row which its predicate picks; a merge only those with a row that its condition joins, "
        "unless it has clauses for the others.",
        "delta-spark 4.4.0: files that hold no row concerned",
        "reference",
        "writer",
        ("untouched",),
    ),
    Requirement(
        "write.definition-keeps-files",
        "A change of columns, properties, constraints, features or clustering takes no file away and adds no new one.",
        "delta-spark 4.4.0: ALTER TABLE",
        "reference",
        "writer",
        ("untouched",),
    ),
    Requirement(
        "write.states-stay",
        "An earlier version that the retention protects keeps the rows that it had.",
        RECONCILIATION,
        "must",
        "writer",
        ("contents",),
    ),
    Requirement(
        "log.loads",
        "The log gives a state for its newest version: no version is missing, and every file can be parsed.",
        "Delta Log Entries",
        "must",
        "writer",
        ("log",),
    ),
    Requirement(
        "read.latest",
        "A read answers with the rows of the newest version.",
        RECONCILIATION,
        "must",
        "reader",
        ("reads",),
    ),
    Requirement(
        "read.state",
        "A read of an earlier version answers with the rows of that version.",
        RECONCILIATION,
        "must",
        "reader",
        ("reads",),
    ),
    Requirement(
        "read.filter",
        "A read with a predicate answers with exactly the rows for which it is true.",
        RECONCILIATION,
        "must",
        "reader",
        ("reads",),
    ),
    Requirement(
        "read.beyond-core",
        "A read picks rows by functions, arithmetic, casts and operands of two types as Spark's SQL does.",
        "delta-spark 4.4.0: Spark SQL",
        "reference",
        "reader",
        ("reads",),
    ),
    Requirement(
        "read.nan-order",
        "A predicate takes NaN for equal to itself and for larger than every other number.",
        "delta-spark 4.4.0: NaN semantics of Spark SQL",
        "reference",
        "reader",
        ("reads",),
    ),
    Requirement(
        "read.cold",
        "A session that sees the table for the first time reads the same rows as one that has followed it.",
        RECONCILIATION,
        "must",
        "reader",
        ("reads",),
    ),
    Requirement(
        "read.columns",
        "An answer has the columns of the schema, or those asked for, by name, order and type.",
        "Schema Serialization Format",
        "must",
        "reader",
        ("reads",),
    ),
    Requirement(
        "read.version",
        "Where an engine says which version it answered from, it is the one that was asked for, or the newest.",
        "Delta Log Entries",
        "must",
        "reader",
        ("reads",),
    ),
    Requirement(
        "read.succeeds",
        "A version that the log still holds can be read.",
        "Delta Log Entries",
        "must",
        "reader",
        ("reads",),
    ),
    Requirement(
        "read.refuses-what-is-not-there",
        "A read of a table or a version that does not exist is refused.",
        "Delta Log Entries",
        "must",
        "reader",
        ("reads",),
    ),
    Requirement(
        "metamorphic.filter-picks",
        "The rows that a predicate lets through as a filter are those of the engine's own rows that satisfy it.",
        MODEL_ROWS,
        "must",
        "reader",
        ("metamorphic",),
    ),
    Requirement(
        "metamorphic.delete-takes-what-filter-picks",
        "DELETE takes away exactly the rows that satisfy its predicate: neither false nor unknown ones.",
        MODEL_ROWS,
        "must",
        "writer",
        ("metamorphic",),
    ),
    Requirement(
        "metamorphic.upkeep-keeps-answer",
        "Compaction, checkpoints, log clean-up and vacuum leave the engine's answer as it was.",
        MODEL_BEYOND_STATES,
        "must",
        "reader",
        ("metamorphic",),
    ),
    Requirement(
        "metamorphic.definition-keeps-answer",
        "A change of columns, properties, constraints, features or clustering leaves the engine's answer as it was in "
        "the columns that are there before and after, by whatever name.",
        MODEL_BEYOND_STATES,
        "must",
        "reader",
        ("metamorphic",),
    ),
    Requirement(
        "metamorphic.zone-keeps-answer",
        "The time zone of a session changes no answer: a timestamp is a moment, one without a zone is what it says.",
        "Primitive Types",
        "must",
        "reader",
        ("metamorphic",),
    ),
    Requirement(
        "example.as-written",
        "In a worked example the live files, the removed ones, the checkpoint and the folder are those written down.",
        "conformance/suites/examples",
        "reference",
        "writer",
        ("worked",),
    ),
)
