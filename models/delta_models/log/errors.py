"""Why a table could not be loaded or read: one class for each reason, all of them `LogError`."""

from __future__ import annotations


class LogError(Exception):
    """The log does not yield what was asked for."""


class NoTable(LogError):
    """There is no Delta table in the folder: no `_delta_log`, or neither commit nor checkpoint in it."""


class MissingVersion(LogError):
    """The version or time asked for does not exist, or can no longer be reconstructed."""


class CorruptLog(LogError):
    """Files of the log contradict the protocol, so that no state can be told."""


class UnsupportedFeature(LogError):
    """The table needs a reader version or a table feature that this reader does not know."""


class MissingFile(LogError):
    """A data file or deletion vector that the log names is not there."""


class CorruptFile(LogError):
    """A data file or deletion vector is there, but is not what the log says or cannot be read."""


class WrongCardinality(CorruptFile):
    """A deletion vector does not hold as many rows as its descriptor says."""


class VectorOutsideFile(CorruptFile):
    """A deletion vector names rows that its file does not have."""


class BadPartitionValue(CorruptFile):
    """A partition value in the log is no value of its column's type."""
