"""The reasons why a table cannot be loaded or read, one subclass of `LogError` each."""

from __future__ import annotations


class LogError(Exception):
    """The log does not give what the caller wants."""


class NoTable(LogError):
    """The folder has no Delta table: no `_delta_log`, or no commit and no checkpoint in it."""


class MissingVersion(LogError):
    """The requested version or time does not exist, or can no longer be reconstructed."""


class CorruptLog(LogError):
    """Files of the log contradict the protocol, so the state is unknown."""


class UnsupportedFeature(LogError):
    """The table needs a reader version or a table feature that this reader does not know."""


class MissingFile(LogError):
    """A data file or deletion vector that the log names does not exist."""


class CorruptFile(LogError):
    """A data file or deletion vector is unreadable, or is not what the log says."""


class WrongCardinality(CorruptFile):
    """A deletion vector does not hold as many rows as its descriptor says."""


class VectorOutsideFile(CorruptFile):
    """A deletion vector names rows that its file does not have."""


class BadPartitionValue(CorruptFile):
    """A partition value in the log is not a value of its column's type."""
