"""Which version of the harness this is."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version


def harness_version() -> str:
    """The version of the installed distribution."""
    try:
        return version("delta-conformance")
    except PackageNotFoundError:
        return "0+unknown"
