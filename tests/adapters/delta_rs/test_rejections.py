"""Messages of deltalake 1.6.6, and the kinds of rejection that they mean."""

import pytest
from deltalake.exceptions import CommitFailedError, DeltaError, SchemaMismatchError, TableNotFoundError

from delta_adapters.delta_rs.rejections import classify, comes_from_engine
from delta_models.outcomes import REJECTIONS, Rejected, Unknown

COMMIT = "Failed to commit transaction: "
MESSAGES = (
    (
        CommitFailedError,
        COMMIT + "Commit failed: a concurrent transactions added new data.\nHelp: ...",
        "conflict.append",
    ),
    (
        CommitFailedError,
        COMMIT + "Commit failed: a concurrent transaction deleted data this operation read.\nHelp: ...",
        "conflict.delete-read",
    ),
    (  # of version 1.0
        DeltaError,
        'Invariant violations: ["Check or Invariant (c0 = 0) violated by value in row: [1]"]',
        "constraint",
    ),
    (CommitFailedError, COMMIT + "Metadata changed since last commit.", "conflict.metadata"),
    (
        CommitFailedError,
        COMMIT + "Protocol changed since last commit: required read/write 1/3, current read/write 1/2",
        "conflict.protocol",
    ),
    (CommitFailedError, COMMIT + "Concurrent transaction failed.", "conflict.transaction"),
    (CommitFailedError, COMMIT + "something else came first", "conflict.other"),
    (
        CommitFailedError,
        "The transaction includes Remove action with data change but Delta table is append-only",
        "append-only",
    ),
    (
        CommitFailedError,
        "Table features must be specified, please specify: TimestampWithoutTimezone",
        "unsupported-feature",
    ),
    (
        DeltaError,
        "External error: Column mapping is not supported for read operation 'CHANGE DATA FEED scans' yet",
        "unsupported-feature",
    ),
    (SchemaMismatchError, "words never seen before", "schema"),
    (
        DeltaError,
        "This feature is not implemented: Unsupported CAST from Date32 to Int8",
        "schema",
    ),
    (
        DeltaError,
        "type_coercion\ncaused by\nError during planning: Failed to coerce then (Boolean, Int8)",
        "schema",
    ),
    (
        DeltaError,
        "Arrow error: Parser error: Error parsing timestamp from 'no such': timestamp must contain at least",
        "schema",
    ),
    (Exception, "Cast error: Cannot cast string 'a' to value of Int64 type", "schema"),
    (
        ValueError,
        "-32768.00 is too small to store in a Decimal128 of precision 5. Min is -999.99",
        "overflow",
    ),
    (DeltaError, "Generic DeltaTable error: Constraint with name 'known' does not exist.", "bad-argument"),
    (DeltaError, "Generic DeltaTable error: Constraint with name: nobody doesn't exists", "bad-argument"),
    (DeltaError, "Generic DeltaTable error: Constraint with name: known already exists", "bad-argument"),
    (TableNotFoundError, "Local path does not exist", "missing-table"),
    (DeltaError, "Generic error: Invalid retention period, minimum retention for vacuum is ...", "retention"),
    (DeltaError, "Generic error: A table already exists at: file:///table@1/", "table-exists"),
    (DeltaError, "Generic error: The given location is already a delta table location", "table-exists"),
    (DeltaError, "Generic error: Find missing file name=../part-0.parquet when restore.", "missing-file"),
    (DeltaError, "words never seen before", "unclassified"),
)


@pytest.mark.parametrize(
    ("kind", "message", "expected"), MESSAGES, ids=[f"{case[2]} {case[1][-30:]}" for case in MESSAGES]
)
def test_a_message_stands_for_its_kind(kind, message, expected):
    outcome = classify(kind(message), acting=True)
    assert isinstance(outcome, Rejected)
    assert outcome.kind == expected
    assert outcome.kind in REJECTIONS
    assert message.splitlines()[0] in outcome.message


@pytest.mark.parametrize(
    ("message", "reading"),
    (
        ("Generic LocalFileSystem error: Unable to open file x: File name too long (os error 36)", "io"),
        ("Kernel error: Failed to parse value '0.-1' as 'decimal(5,2)'", "corrupt-log"),
        ("Kernel error: Json error: Encountered unexpected 'b'\n   0: <unknown>", "corrupt-log"),
        (
            "Object at location /t/part-0.parquet not found: No such file or directory (os error 2)",
            "missing-file",
        ),
        ("writer join error: task 1 panicked with message", "unclassified"),
    ),
)
def test_what_leaves_it_open_whether_the_table_changed_is_unknown_for_a_change(message, reading):
    assert isinstance(classify(DeltaError(message), acting=True), Unknown)
    outcome = classify(DeltaError(message), acting=False)
    assert isinstance(outcome, Rejected)
    assert outcome.kind == reading
    assert "<unknown>" not in outcome.message


def test_a_bug_of_the_adapter_does_not_come_from_the_engine():
    assert comes_from_engine(DeltaError("no"))
    assert not comes_from_engine(KeyError("mine"))
    assert not comes_from_engine(KeyboardInterrupt())
