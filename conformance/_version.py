"""The version of the harness."""

from __future__ import annotations

import functools
from importlib.metadata import PackageNotFoundError, version


@functools.cache
def harness_version() -> str:
    """The version of the installed distribution."""
    try:
        return version("delta-conformance")
    except PackageNotFoundError:
        return "0+unknown"
