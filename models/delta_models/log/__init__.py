"""Read a table's transaction log and data files, and judge them by the protocol.

`LogReader` loads a table from its folder. It returns `Snapshot`s, `Commit`s and rows. `validity` judges them. The
package was written from the protocol alone, without the code of any engine.
"""

from __future__ import annotations

from delta_models.log.actions import (
    Add,
    Cdc,
    CommitInfo,
    Domain,
    Key,
    Metadata,
    Problem,
    Protocol,
    Remove,
    Transaction,
)
from delta_models.log.changes import NoChangeData
from delta_models.log.commits import Commit, parse_commit
from delta_models.log.deletion_vectors import DeletionVector
from delta_models.log.errors import (
    BadPartitionValue,
    CorruptFile,
    CorruptLog,
    LogError,
    MissingFile,
    MissingVersion,
    NoTable,
    UnsupportedFeature,
    VectorOutsideFile,
    WrongCardinality,
)
from delta_models.log.file_names import Listing
from delta_models.log.reader import LogReader
from delta_models.log.state import Snapshot, apply, replay, start, transitions

__all__ = [
    "Add",
    "BadPartitionValue",
    "Cdc",
    "Commit",
    "CommitInfo",
    "CorruptFile",
    "CorruptLog",
    "DeletionVector",
    "Domain",
    "Key",
    "Listing",
    "LogError",
    "LogReader",
    "Metadata",
    "MissingFile",
    "MissingVersion",
    "NoChangeData",
    "NoTable",
    "Problem",
    "Protocol",
    "Remove",
    "Snapshot",
    "Transaction",
    "UnsupportedFeature",
    "VectorOutsideFile",
    "WrongCardinality",
    "apply",
    "parse_commit",
    "replay",
    "start",
    "transitions",
]
