"""Error codes of Spark and Delta, and the reasons for a refusal that they mean.

A reason is the name of an error in `error_names`, or the id of a violated requirement. A code in the table below means
exactly its reasons. Any other code means what its words say.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

_FILE = ("MissingFile", "log.added-file-exists")
_VECTOR_BYTES = ("dv.well-formed", "CorruptFile")
_SCHEMA = ("log.schema-readable", "log.column-names-unique", "no-columns")
_GAP = ("log.versions-contiguous", "log.oldest-version-has-checkpoint", "log.loads", "no-commits")
_TWICE = ("log.one-", "log.path-added-once", "log.path-removed-once", "log.no-add-and-remove-of-one-file")
_CHANGES = ("NoChangeData",)
_STATE = (
    "log.first-commit-has-", "log.required-field", "checkpoint.one-protocol", "checkpoint.one-metadata",
    "checkpoint.equals-replay", *_TWICE, *_GAP,
)  # fmt: skip
_UNREADABLE_CHECKPOINT = ("checkpoint.", "CorruptLog")

_QUOTED = re.compile(r"\[([A-Z][A-Z_]+(?:\.[A-Z_]+)?)\]")

EXACT: dict[str, tuple[str, ...]] = {
    "DELTA_TABLE_NOT_FOUND": ("NoTable",),
    "DELTA_MISSING_DELTA_TABLE": ("NoTable",),
    "DELTA_MISSING_TRANSACTION_LOG": ("NoTable",),
    "DELTA_PATH_DOES_NOT_EXIST": ("NoTable",),
    "DELTA_VERSIONS_NOT_CONTIGUOUS": _GAP,
    "DELTA_TRUNCATED_TRANSACTION_LOG": _GAP,
    "DELTA_LOG_FILE_NOT_FOUND": (*_GAP, "MissingVersion"),
    "DELTA_NO_RECREATABLE_HISTORY_FOUND": (*_GAP, "MissingVersion"),
    "DELTA_NO_COMMITS_FOUND": (*_GAP, "NoTable"),
    "DELTA_EMPTY_DIRECTORY": ("NoTable", "no-commits"),
    "DELTA_INVALID_JSON_COMMIT_FILE": ("log.commit-is-json-lines",),
    "MALFORMED_RECORD_IN_PARSING": ("log.commit-is-json-lines",),
    "DELTA_STATE_RECOVER_ERROR": _STATE,
    "DELTA_SCHEMA_NOT_SET": ("log.first-commit-has-metadata", *_SCHEMA),
    "DELTA_READ_TABLE_WITHOUT_COLUMNS": ("no-columns", "log.schema-readable"),
    "DELTA_FEATURES_REQUIRE_WRITE_SUPPORT": ("log.reader-features-are-writer-features",),
    "DELTA_INVALID_PROTOCOL_VERSION": ("protocol-version",),
    "DELTA_UNSUPPORTED_FEATURES_FOR_READ": ("protocol-features",),
    "DELTA_UNSUPPORTED_COLUMN_MAPPING_MODE": ("column-mapping-mode", "schema.column-mapping-complete"),
    "DELTA_MODE_NOT_SUPPORTED": ("column-mapping-mode", "schema.column-mapping-complete"),
    "COLUMN_ALREADY_EXISTS": ("log.column-names-unique",),
    "DELTA_DUPLICATE_COLUMNS_FOUND": ("log.column-names-unique",),
    "SPARK_FILE_NOT_FOUND": _FILE,
    "DELTA_FILE_NOT_FOUND": _FILE,
    "DELTA_FILE_NOT_FOUND_DETAILED": _FILE,
    "FAILED_READ_FILE": (*_FILE, "log.added-file-readable", "CorruptFile"),
    "DELTA_FAILED_TO_MERGE_FIELDS": _UNREADABLE_CHECKPOINT,
    "DELTA_LOG_INVALID_STATUS": _UNREADABLE_CHECKPOINT,
    "DELTA_CHECKPOINT_NON_EXIST_TABLE": ("NoTable",),
    "DELTA_MISSING_PART_FILES": ("checkpoint.", *_GAP),
    "DELTA_TABLE_RESTORE_VERSION_INVALID": ("MissingVersion",),
    "DELTA_VERSION_NOT_FOUND": ("MissingVersion",),
    "VERSION_NOT_FOUND": ("MissingVersion",),
    "DELTA_VERSION_INVALID": ("MissingVersion",),
    "DELTA_TIMESTAMP_GREATER_THAN_COMMIT": ("time-after-last", "time-before-first"),
    "DELTA_TIMESTAMP_EARLIER_THAN_COMMIT_RETENTION": ("time-before-first",),
    "INVALID_TIMESTAMP": ("no-timestamp",),
    "DELTA_TIMESTAMP_INVALID": ("no-timestamp",),
    "DELTA_CANNOT_TIME_TRAVEL_BEYOND_RETENTION": (
        "time-before-first",
        "MissingVersion",
        *_FILE,
        "beyond-retention",
    ),
    "FIELD_NOT_FOUND": ("NoSuchColumn",),
    "UNRESOLVED_COLUMN": ("NoSuchColumn",),
    "DATATYPE_MISMATCH": ("TypeMismatch",),
    "CAST_INVALID_INPUT": ("EvaluationError",),
    "DIVIDE_BY_ZERO": ("EvaluationError",),
    "ARITHMETIC_OVERFLOW": ("EvaluationError",),
    "PARSE_SYNTAX_ERROR": ("SyntaxProblem",),
    "DELTA_MISSING_DELETION_VECTOR_FILE": ("dv.file-exists",),
    "DELTA_INVALID_DV_PATH": ("dv.file-exists", "dv.descriptor-well-formed"),
    "DELTA_CANNOT_RECONSTRUCT_PATH_FROM_URI": (
        "dv.file-exists",
        "dv.descriptor-well-formed",
        "log.path-is-uri",
    ),
    "DELTA_DELETION_VECTOR_CHECKSUM_MISMATCH": _VECTOR_BYTES,
    "DELTA_DELETION_VECTOR_SIZE_MISMATCH": _VECTOR_BYTES,
    "DELTA_DELETION_VECTOR_INVALID_ROW_INDEX": ("dv.rows-in-file", *_VECTOR_BYTES),
    "DELTA_DELETION_VECTOR_CARDINALITY_MISMATCH": ("dv.cardinality",),
    "DELTA_DUPLICATE_FILE_PATHS_IN_SAME_COMMIT": ("log.no-add-and-remove-of-one-file", "log.path-added-once"),
    "DELTA_CHANGE_TABLE_FEED_DISABLED": _CHANGES,
    "DELTA_MISSING_CHANGE_DATA": _CHANGES,
    "DELTA_TABLE_FEED_DISABLED": _CHANGES,
    "DELTA_INVALID_CDC_RANGE": ("backward-range",),
    "INVALID_RANGE": ("backward-range",),
}

# For a code that is not in the table: all the words of an entry in it, and it means one of these reasons.
FAMILIES: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...] = (
    (("CHECKSUM", "VECTOR"), _VECTOR_BYTES),
    (("CARDINALITY",), ("dv.cardinality",)),
    (("DELETION", "VECTOR"), ("dv.", "CorruptFile")),
    (("DV",), ("dv.", "CorruptFile")),
    (("CDC",), ("NoChangeData", "backward-range", "MissingVersion")),
    (("CHANGE", "DATA"), ("NoChangeData", "backward-range", "MissingVersion")),
    (("CHANGE", "FEED"), ("NoChangeData", "backward-range", "MissingVersion")),
    (("DUPLICATE", "COLUMN"), ("log.column-names-unique",)),
    (("DUPLICATE",), _TWICE),
    (("MULTIPLE",), _TWICE),
    (
        ("TIME", "TRAVEL"),
        ("time-before-first", "time-after-last", "MissingVersion", "beyond-retention", *_FILE),
    ),
    (("RETENTION",), ("time-before-first", "MissingVersion", "beyond-retention", *_FILE)),
    (("TIMESTAMP",), ("time-before-first", "time-after-last", "no-timestamp")),
    (("FEATURE",), ("protocol-features", "log.reader-", "log.writer-", "log.type-needs-feature")),
    (
        ("PROTOCOL",),
        ("protocol-version", "protocol-features", "log.first-commit-has-protocol", "log.reader-"),
    ),
    (("COLUMN", "MAPPING"), ("column-mapping-mode", "schema.")),
    (("CHECKPOINT",), _UNREADABLE_CHECKPOINT),
    (("SIDECAR",), _UNREADABLE_CHECKPOINT),
    (("METADATA",), ("log.first-commit-has-metadata", "log.one-metadata-a-commit", "no-columns")),
    (("SCHEMA",), _SCHEMA),
    (("COLUMN",), ("NoSuchColumn", *_SCHEMA)),
    (("JSON",), ("log.commit-is-json-lines", "log.schema-readable")),
    (("CORRUPT",), ("log.commit-is-json-lines", "checkpoint.", "log.added-file-readable", "CorruptFile")),
    (("MALFORMED",), ("log.commit-is-json-lines", "checkpoint.", "log.added-file-readable", "CorruptFile")),
    (("READ", "FILE"), (*_FILE, "checkpoint.", "log.added-file-readable", "CorruptFile")),
    (("EMPTY",), ("NoTable", "no-commits", "no-columns")),
    (("PARQUET",), ("checkpoint.", "log.added-file-readable", "CorruptFile")),
    (("FILE", "NOT", "FOUND"), _FILE),
    (("FILE", "NOT", "EXIST"), _FILE),
    (("TABLE", "NOT", "FOUND"), ("NoTable",)),
    (("CONTIGUOUS",), _GAP),
    (("TRUNCATED",), _GAP),
    (("VERSION",), ("MissingVersion", *_GAP)),
    (("STATE",), _STATE),
    (("PARTITION",), ("log.partition-", "BadPartitionValue")),
)


def accepted(code: str) -> tuple[str, ...]:
    """The reasons that an error code means; none for an unknown code. `log.` stands for all that begin with it."""
    main = code.partition(".")[0]
    if main in EXACT:
        return EXACT[main]
    words = set(main.replace("-", "_").upper().split("_"))
    singular = words | {word.removesuffix("S") for word in words}
    return next((reasons for wanted, reasons in FAMILIES if set(wanted) <= singular), ())


def code_of(error: Mapping[str, object]) -> str:
    """The code of an error: its own, or if that is unknown the one that its message begins with."""
    codes: list[str] = [
        str(error.get("errorCode") or ""),
        *_QUOTED.findall(str(error.get("errorMessage") or "")),
    ]
    return next((code for code in codes if accepted(code)), codes[0])


def agrees(code: str, reasons: Collection[str]) -> str | None:
    """The first of the reasons that an error code means; None if it means none."""
    wanted = accepted(code)
    for candidate in reasons:
        for reason in wanted:
            if candidate == reason or (reason.endswith((".", "-")) and candidate.startswith(reason)):
                return candidate
    return None
