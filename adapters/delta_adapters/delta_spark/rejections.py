"""Classify the refusals of delta-spark by error conditions, exception classes and SQLSTATEs along the chain of causes.

The most specific sign counts: a condition's name anywhere in the chain, then a class, then an SQLSTATE. A pattern of
the message counts only where the engine gives no code.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from delta_adapters.spark.jvm_errors import Cause, causes_of, describe
from delta_models.outcomes import Rejected

UNCLASSIFIED = "unclassified"

# Names of error conditions (a name stands for its sub-conditions too) -> kind.
CONDITIONS: dict[str, str] = {
    "DELTA_NOT_NULL_CONSTRAINT_VIOLATED": "constraint",
    "DELTA_MISSING_NOT_NULL_COLUMN_VALUE": "constraint",
    "DELTA_VIOLATE_CONSTRAINT_WITH_VALUES": "constraint",
    "DELTA_NEW_CHECK_CONSTRAINT_VIOLATION": "constraint",
    "DELTA_NEW_NOT_NULL_VIOLATION": "constraint",
    "DELTA_REPLACE_WHERE_MISMATCH": "constraint",
    "DELTA_EXCEED_CHAR_VARCHAR_LIMIT": "constraint",
    "EXCEED_LIMIT_LENGTH": "constraint",
    "NOT_NULL_ASSERT_VIOLATION": "constraint",
    "DELTA_MULTIPLE_SOURCE_ROW_MATCHING_TARGET_ROW_IN_MERGE": "ambiguous-match",
    "DELTA_CANNOT_MODIFY_APPEND_ONLY": "append-only",
    "DELTA_SOURCE_TABLE_IGNORE_CHANGES": "rows-changed",
    "DELTA_SOURCE_IGNORE_DELETE": "rows-changed",
    "DELTA_CONCURRENT_APPEND": "conflict.append",
    "DELTA_CONCURRENT_DELETE_READ": "conflict.delete-read",
    "DELTA_CONCURRENT_DELETE_DELETE": "conflict.delete-delete",
    "DELTA_METADATA_CHANGED": "conflict.metadata",
    "DELTA_SCHEMA_CHANGE_SINCE_ANALYSIS": "conflict.metadata",
    "DELTA_PROTOCOL_CHANGED": "conflict.protocol",
    "DELTA_CONCURRENT_TRANSACTION": "conflict.transaction",
    "DELTA_CONCURRENT_WRITE": "conflict.other",
    "DELTA_MAX_COMMIT_RETRIES_EXCEEDED": "conflict.other",
    "DELTA_VERSION_NOT_FOUND": "missing-version",
    "DELTA_VERSION_INVALID": "missing-version",
    "DELTA_CANNOT_RESTORE_TABLE_VERSION": "missing-version",
    "DELTA_CANNOT_RESTORE_TIMESTAMP_EARLIER": "missing-version",
    "DELTA_CANNOT_RESTORE_TIMESTAMP_GREATER": "missing-version",
    "DELTA_TIMESTAMP_GREATER_THAN_COMMIT": "missing-version",
    "DELTA_TIMESTAMP_EARLIER_THAN_COMMIT_RETENTION": "missing-version",
    "DELTA_NO_COMMITS_FOUND": "missing-version",
    "DELTA_NO_RECREATABLE_HISTORY_FOUND": "missing-version",
    "DELTA_LOG_FILE_NOT_FOUND": "missing-version",
    "DELTA_TRUNCATED_TRANSACTION_LOG": "missing-version",
    "DELTA_UNSUPPORTED_TIME_TRAVEL_BEYOND_DELETED_FILE_RETENTION_DURATION": "missing-version",
    "DELTA_TABLE_NOT_FOUND": "missing-table",
    "DELTA_MISSING_DELTA_TABLE": "missing-table",
    "DELTA_NOT_A_DELTA_TABLE": "missing-table",
    "DELTA_TABLE_ONLY_OPERATION": "missing-table",
    "DELTA_ONLY_OPERATION": "missing-table",
    "DELTA_PATH_DOES_NOT_EXIST": "missing-table",
    "DELTA_NO_RELATION_TABLE": "missing-table",
    "DELTA_CANNOT_REPLACE_MISSING_TABLE": "missing-table",
    "DELTA_SCHEMA_NOT_SET": "missing-table",
    "TABLE_OR_VIEW_NOT_FOUND": "missing-table",
    "PATH_NOT_FOUND": "missing-table",
    "DELTA_TABLE_ALREADY_EXISTS": "table-exists",
    "DELTA_LOG_ALREADY_EXISTS": "table-exists",
    "DELTA_PATH_EXISTS": "table-exists",
    "DELTA_METADATA_ABSENT_EXISTING_CATALOG_TABLE": "table-exists",
    "DELTA_CREATE_TABLE_SCHEME_MISMATCH": "table-exists",
    "DELTA_CREATE_TABLE_WITH_DIFFERENT_PARTITIONING": "table-exists",
    "DELTA_CREATE_TABLE_WITH_DIFFERENT_PROPERTY": "table-exists",
    "DELTA_CREATE_TABLE_WITH_DIFFERENT_CLUSTERING": "table-exists",
    "DELTA_CREATE_TABLE_WITH_NON_EMPTY_LOCATION": "table-exists",
    "TABLE_OR_VIEW_ALREADY_EXISTS": "table-exists",
    "LOCATION_ALREADY_EXISTS": "table-exists",
    "DELTA_FILE_NOT_FOUND": "missing-file",
    "DELTA_FILE_OR_DIR_NOT_FOUND": "missing-file",
    "FAILED_READ_FILE.FILE_NOT_EXIST": "missing-file",
    "DELTA_VERSIONS_NOT_CONTIGUOUS": "corrupt-log",
    "DELTA_TXN_LOG_FAILED_INTEGRITY": "corrupt-log",
    "DELTA_STATE_RECOVER_ERROR": "corrupt-log",
    "DELTA_MISSING_PART_FILES": "corrupt-log",
    "DELTA_FEATURES_PROTOCOL_METADATA_MISMATCH": "corrupt-log",
    "DELTA_VACUUM_RETENTION_PERIOD_TOO_SHORT": "retention",
    "DELTA_VACUUM_RETENTION_PERIOD_NEGATIVE": "bad-argument",
    "DELTA_UNSUPPORTED_FEATURES_FOR_READ": "unsupported-feature",
    "DELTA_UNSUPPORTED_FEATURES_FOR_WRITE": "unsupported-feature",
    "DELTA_INVALID_PROTOCOL_VERSION": "unsupported-feature",
    "DELTA_CAST_OVERFLOW_IN_TABLE_WRITE": "overflow",
    "ARITHMETIC_OVERFLOW": "overflow",
    "BINARY_ARITHMETIC_OVERFLOW": "overflow",
    "CAST_OVERFLOW": "overflow",
    "CAST_OVERFLOW_IN_TABLE_INSERT": "overflow",
    "NUMERIC_VALUE_OUT_OF_RANGE": "overflow",
    "NUMERIC_OUT_OF_SUPPORTED_RANGE": "overflow",
    "DATETIME_OVERFLOW": "overflow",
    "DELTA_METADATA_MISMATCH": "schema",
    "DELTA_FAILED_TO_MERGE_FIELDS": "schema",
    "DELTA_MERGE_INCOMPATIBLE_DATATYPE": "schema",
    "DELTA_MERGE_INCOMPATIBLE_DECIMAL_TYPE": "schema",
    "DELTA_INSERT_COLUMN_ARITY_MISMATCH": "schema",
    "DELTA_INSERT_COLUMN_MISMATCH": "schema",
    "DELTA_UNSUPPORTED_DATA_TYPES": "schema",
    "DELTA_PARTITION_COLUMN_NOT_FOUND": "schema",
    "DELTA_UPDATE_SCHEMA_MISMATCH_EXPRESSION": "schema",
    "INCOMPATIBLE_DATA_FOR_TABLE": "schema",
    "INSERT_COLUMN_ARITY_MISMATCH": "schema",
}

# Exception classes, by their last name -> kind. `FSError` is a java.lang.Error of Hadoop's for a failed local write.
CLASSES: dict[str, str] = {
    "ConcurrentAppendException": "conflict.append",
    "ConcurrentDeleteReadException": "conflict.delete-read",
    "ConcurrentDeleteDeleteException": "conflict.delete-delete",
    "MetadataChangedException": "conflict.metadata",
    "ProtocolChangedException": "conflict.protocol",
    "ConcurrentTransactionException": "conflict.transaction",
    "ConcurrentWriteException": "conflict.other",
    "DeltaConcurrentModificationException": "conflict.other",
    "ChecksumException": "corrupt-log",
    "FSError": "io",
    "FileNotFoundException": "missing-file",
    "AccessDeniedException": "io",
    "FileAlreadyExistsException": "io",
    "FileSystemException": "io",
}

# SQLSTATEs, or their classes -> kind: for conditions that are not named above.
STATES: dict[str, str] = {
    "23": "constraint",
    "44000": "constraint",
    "2D521": "conflict.other",
    "40000": "conflict.other",
    "42P01": "missing-table",
    "42P07": "table-exists",
    "42KDG": "schema",
    "42K09": "schema",
    "42846": "schema",
    "42802": "schema",
    "56038": "unsupported-feature",
    "22003": "overflow",
    "KD004": "corrupt-log",
    "42": "bad-argument",
    "22": "bad-argument",
    "0A": "bad-argument",
    "07": "bad-argument",
    "21": "bad-argument",
    "F0": "bad-argument",
    "55": "bad-argument",
}

# Class and message -> kind, where delta-spark 4.4.0 has neither condition nor class of its own.
MESSAGES: tuple[tuple[str, re.Pattern[str], str], ...] = (
    ("AnalysisException", re.compile(r"Cannot change nullable column to non-nullable"), "schema"),
    ("IllegalArgumentException", re.compile(r"configured to retain .* retention"), "retention"),
    (
        "IllegalArgumentException",
        re.compile(r"requirement failed|must be|Invalid value|Unknown configuration"),
        "bad-argument",
    ),
    (
        "IOException",
        re.compile(r"No space left|Input/output error|Permission denied|Read-only|Mkdirs failed"),
        "io",
    ),
    (
        "IllegalStateException",
        re.compile(r"The metadata of your Delta table|version (\d+) .*(missing|not found)"),
        "corrupt-log",
    ),
)


def rejection_of(error: Exception) -> Rejected:
    """Return the rejection that an exception means. Raises EngineGone if the JVM has ended."""
    causes = tuple(causes_of(error))
    return Rejected(classify(causes), describe(causes))


def classify(causes: tuple[Cause, ...]) -> str:
    """Return the kind of rejection that a chain of causes means, `unclassified` if nothing in it is known."""
    finders: tuple[Callable[[Cause], str | None], ...] = (_by_condition, _by_class, _by_state, _by_message)
    for find in finders:
        for cause in causes:
            kind = find(cause)
            if kind is not None:
                return kind
    return UNCLASSIFIED


def _by_condition(cause: Cause) -> str | None:
    condition = cause.condition or ""
    while condition:
        if condition in CONDITIONS:
            return CONDITIONS[condition]
        condition = condition.rpartition(".")[0]
    return None


def _by_class(cause: Cause) -> str | None:
    return CLASSES.get(re.split(r"[.$]", cause.name)[-1])


def _by_state(cause: Cause) -> str | None:
    state = cause.state or ""
    return STATES.get(state) or STATES.get(state[:2])


def _by_message(cause: Cause) -> str | None:
    for name, pattern, kind in MESSAGES:
        if cause.name.endswith(name) and pattern.search(cause.message):
            return kind
    return None
