"""Classify the exceptions of deltalake, by their class if it is specific, else by one table of message patterns.

deltalake raises few classes, so most kinds come from messages. The table holds for deltalake 1.5 and 1.6. The first
kind that matches counts. A message that matches nothing is `unclassified`, and counts as a fault of this adapter.
"""

from __future__ import annotations

import re

from deltalake.exceptions import DeltaError, SchemaMismatchError, TableNotFoundError

from delta_models.outcomes import Outcome, Rejected, Unknown

PATTERNS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("conflict.append", (r"concurrent transactions? added new data",)),
    ("conflict.delete-read", (r"concurrent transaction deleted data this operation read",)),
    ("conflict.delete-delete", (r"concurrent transaction deleted the same data",)),
    ("conflict.metadata", (r"Metadata changed since last commit",)),
    ("conflict.protocol", (r"Protocol changed since last commit",)),
    ("conflict.transaction", (r"Concurrent transaction failed",)),
    ("append-only", (r"Delta table is append-only",)),
    (
        "conflict.other",
        (r"Exceeded max commit attempts", r"Failed to commit transaction", r"version \d+ already exists"),
    ),
    (
        "constraint",
        (
            r"Invalid data found",
            r"non-nullable",
            r"violates? (the )?(constraint|invariant|CHECK)",
            r"Check or Invariant \(.*\) violated",
        ),
    ),
    ("ambiguous-match", (r"MERGE matched a target row with multiple source rows",)),
    ("table-exists", (r"table already exists at", r"location is already a delta table")),
    ("missing-table", (r"No files in log segment", r"[Nn]ot a Delta table", r"No delta log")),
    (
        "missing-version",
        (
            r"not the same as the specified end version",
            r"Invalid table version",
            r"version \S+ (does not exist|not found)",
            r"Version not found",
        ),
    ),
    (
        "bad-argument",
        (
            r"Version to restore .* should be less",
            r"Constraint with name:? .* (does not exist|doesn't exists|already exists)",
            r"a constraint with this name already exists",
            r"Invalid version range",
        ),
    ),
    ("retention", (r"Invalid retention period",)),
    (
        "unsupported-feature",
        (
            r"[Rr]eader feature",
            r"[Ww]riter feature",
            r"[Uu]nsupported.*feature",
            r"requires table feature",
            r"not supported for (read|write) operation",
            r"Unsupported table features required",
            r"Table features must be specified",
            r"table has set these (reader|writer) features",
            r"only supported by the deltalake reader with version",
        ),
    ),
    (
        "missing-file",
        (r"Object at location .* not found", r"No such file or directory", r"NotFound", r"Find missing file"),
    ),
    (
        "overflow",
        (r"Can't cast value .* to type", r"[Oo]verflow", r"too (large|small) to store", r"does not fit"),
    ),
    (
        "schema",
        (
            r"Cast error",
            r"Parser error",
            r"Cannot cast",
            r"Unsupported CAST",
            r"Failed to coerce",
            r"references unknown column",
            r"No field named",
            r"not found in schema",
            r"Schema error",
            r"Failed to merge types",
            r"[Ss]chema mismatch",
            r"number of fields",
            r"Cannot merge",
        ),
    ),
    (
        "corrupt-log",
        (
            r"Json error",
            r"JSON",
            r"Kernel error: .*(pars|deserial)",
            r"Missing (protocol|metadata)",
            r"[Cc]orrupt",
        ),
    ),
    (
        "bad-argument",
        (
            r"sql parser error",
            r"Error during planning",
            r"Error parsing property",
            r"Invalid (argument|configuration)",
            r"type_coercion",
            r"Either the version or datetime",
            r"Unable to convert expression to string",
            r"Expected close delimiter",
        ),
    ),
)
STORAGE = re.compile(
    r"(LocalFileSystem|ObjectStore|object store|I/O|IO) error|Unable to (create|open|rename|copy|write|sync)"
    r"|os error \d+|Input/output error|No space left|Read-only file system|Permission denied"
)
PANIC = re.compile(r"panicked|^PanicException")
_COMPILED = tuple((re.compile("|".join(patterns)), kind) for kind, patterns in PATTERNS)


def classify(error: BaseException, *, acting: bool) -> Outcome:
    """Return the outcome that an exception of deltalake means. `acting`: deltalake had begun to change the table.

    After three kinds of failure a change may have happened, so they are Unknown: a storage error, a panic, and a log
    that can't be parsed. The last one may be the change itself, because the table could be read just before.
    """
    message = first_lines(f"{type(error).__name__}: {error}")
    kind = "missing-table" if isinstance(error, TableNotFoundError) else kind_of(message)
    if kind is None and isinstance(error, SchemaMismatchError):
        kind = "schema"
    if kind in {None, "missing-file"} and STORAGE.search(message):
        kind = "io" if acting else kind or "io"
    if acting and (kind in {"io", "corrupt-log"} or PANIC.search(message)):
        return Unknown(message)
    return Rejected(kind or "unclassified", message)


def kind_of(message: str) -> str | None:
    """Return the kind of rejection that the table gives a message; None if nothing matches."""
    return next((kind for pattern, kind in _COMPILED if pattern.search(message)), None)


def comes_from_engine(error: BaseException) -> bool:
    """Whether an exception comes from deltalake or the Arrow libraries below it, and is no bug of this adapter.

    Their native code raises plain ValueErrors too, so the place counts as well as the class.
    """
    if (
        isinstance(error, DeltaError | OSError)
        or type(error) is Exception
        or type(error).__name__ == "PanicException"
    ):
        return True
    if not isinstance(error, Exception):
        return False
    places = [type(error).__module__ or ""]
    trace = error.__traceback__
    while trace is not None:
        places.append(trace.tb_frame.f_globals.get("__name__", ""))
        trace = trace.tb_next
    return any(place.partition(".")[0] in {"deltalake", "pyarrow", "arro3"} for place in places)


def first_lines(message: str) -> str:
    """Return the message without the native stack that deltalake appends to some messages."""
    return re.split(r"\n\s+0: ", message, maxsplit=1)[0].strip()
