"""Rules of the protocol that no check of a history can observe, each with the reason."""

from __future__ import annotations

from delta_models.requirements.base import Requirement, Role, Strength

MANAGED = "Catalog-managed tables"
NO_CATALOG = "no catalog plays here: commits that only a catalog knows leave no trace in the table's folder"
BY_CORPUS = (
    "no engine writes such a log in a history; `conformance corpus` asks it of tables that others made"
)


def _unobservable(
    identity: str,
    sentence: str,
    section: str,
    why: str,
    *,
    strength: Strength = "must",
    role: Role = "writer",
) -> Requirement:
    return Requirement(identity, sentence, section, strength, role, (), why)


REQUIREMENTS: tuple[Requirement, ...] = (
    _unobservable(
        "catalog.commits-go-through-it",
        "A table that a catalog manages is committed to through its catalog alone.",
        MANAGED,
        NO_CATALOG,
    ),
    _unobservable(
        "catalog.published-in-order",
        "The commits of a table that a catalog manages are published in the order of their versions.",
        "Publishing Commits",
        NO_CATALOG,
    ),
    _unobservable(
        "catalog.reads-ask-it",
        "A reader of a table that a catalog manages asks the catalog, and takes no later version than it names.",
        "Reading Catalog-managed Tables",
        NO_CATALOG,
        role="reader",
    ),
    _unobservable(
        "catalog.upkeep-only-if-allowed",
        "Clean-up, vacuum and rearrangement of a table that a catalog manages happen only where it permits them.",
        "Maintenance Operations on Catalog-managed Tables",
        NO_CATALOG,
    ),
    _unobservable(
        "read.ignores-unknown",
        "A reader ignores actions, fields and domains that it does not know.",
        "Protocol Evolution",
        BY_CORPUS,
        role="reader",
    ),
    _unobservable(
        "read.ignores-incomplete-parts",
        "A reader ignores a checkpoint of which a part is missing.",
        "Checkpoints",
        BY_CORPUS,
        role="reader",
    ),
    _unobservable(
        "read.unknown-features-refused",
        "A table with a feature of readers that a reader does not know is refused.",
        "Table Features",
        BY_CORPUS,
        role="reader",
    ),
    _unobservable(
        "read.unknown-versions-refused",
        "A table whose reader version a reader does not know is refused.",
        "Protocol Evolution",
        BY_CORPUS,
        strength="should",
        role="reader",
    ),
    _unobservable(
        "read.unknown-type-changes-refused",
        "A table whose schema tells of a change of type that a reader does not support is refused.",
        "Reader Requirements for Type Widening",
        BY_CORPUS,
        role="reader",
    ),
    _unobservable(
        "write.unknown-features-refused",
        "A table with a version or a feature of writers that a writer does not know is not written to.",
        "Table Features",
        "no feature is drawn that an engine does not know, and protocols are not edited by hand in a history",
    ),
    _unobservable(
        "log.codec",
        "New data files and checkpoints are compressed as delta.parquet.compression.codec says, else by zstd.",
        "Table Properties",
        "a writer that does not support a codec may fall back to one of its own, and no file shows what it supports",
        strength="should",
    ),
    _unobservable(
        "log.foreign-domains-stay",
        "Metadata domains that a writer does not understand stay as they are.",
        "Writer Requirements for Domain Metadata",
        "no engine has words to write a domain of a user, so there is none that another could lose",
    ),
    _unobservable(
        "vacuum.checks-the-write-protocol",
        "A vacuum of a table with a feature of writers that the writer does not know is refused.",
        "VACUUM Protocol Check",
        "no feature is drawn that an engine does not know, and protocols are not edited by hand in a history",
    ),
    _unobservable(
        "log.system-domains-understood",
        "Domains whose names begin with `delta.` are written only by who understands them, and never by users.",
        "Domain Metadata",
        "no engine has words to write a domain, and none drawn writes one that it does not understand",
    ),
    _unobservable(
        "log.clustered-files-named",
        "A file in which an implementation of clustering has clustered rows names it as its clusteringProvider.",
        "Clustered Table",
        "a file does not show whether its rows were clustered: small ones, compacted, look alike, and nobody has to",
    ),
    _unobservable(
        "log.reclusters-its-own-files",
        "An implementation of clustering clusters anew only files that name it, or one that it supersedes, or none.",
        "Clustered Table",
        "which implementation supersedes which stands in no log, and one engine here alone has a name for its own",
    ),
    _unobservable(
        "checkpoint.parts-by-hash",
        "The parts of a checkpoint are made by Spark's hash of the path.",
        "Multi-part checkpoint",
        "parts are deprecated, and no engine here writes them without a setting that an operation has no word for",
    ),
    _unobservable(
        "checkpoint.classic-now-and-then",
        "With UUID-named checkpoints a classic one is written often enough for old readers to find.",
        "Handling Backward compatibility while moving to UUID-named v2 Checkpoints",
        "how often is enough is not said",
        strength="should",
    ),
)
