"""Read from a table's properties how many hours it keeps removed files and old versions."""

from __future__ import annotations

import re

from delta_models.table.state import Table

FILES = ("delta.deletedFileRetentionDuration", 168.0)
LOG = ("delta.logRetentionDuration", 720.0)
HOURS = {
    "week": 168.0,
    "day": 24.0,
    "hour": 1.0,
    "minute": 1 / 60,
    "second": 1 / 3600,
    "millisecond": 1 / 3_600_000,
}
_PART = re.compile(r"(\d+)\s+([a-z]+?)s?\b")


def file_retention(table: Table) -> float:
    """Return the hours that a vacuum keeps removed files by default."""
    return _hours(table, *FILES)


def log_retention(table: Table) -> float:
    """Return the hours after which the log's clean-up may delete a version."""
    return _hours(table, *LOG)


def parse_interval(text: str) -> float | None:
    """Return the hours of a text such as `interval 1 week`; None for any other text."""
    parts = _PART.findall(text.lower().removeprefix("interval"))
    if not parts or any(unit not in HOURS for _, unit in parts):
        return None
    return sum(int(number) * HOURS[unit] for number, unit in parts)


def _hours(table: Table, key: str, default: float) -> float:
    hours = parse_interval(table.property(key))
    return default if hours is None else hours
