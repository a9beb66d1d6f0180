"""GENERATE: write manifests for engines that need them beside the log."""

from __future__ import annotations

from pyspark.sql import SparkSession

from pyspark_delta.exceptions import InvalidArgument
from pyspark_delta.log.delta_log import DeltaLog
from pyspark_delta.manifests import write_manifests

__all__ = ["generate"]

MODE = "symlink_format_manifest"


def generate(_: SparkSession, log: DeltaLog, mode: str) -> None:
    """Write the manifests of the newest version."""
    if mode.lower() != MODE:
        raise InvalidArgument(f"there is no mode {mode!r}", f"The mode is `{MODE}`.")
    write_manifests(log.update())
