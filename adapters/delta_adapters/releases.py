"""The released versions of an engine, as the package index lists them."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterable

from delta_adapters.environments import EnvironmentProblem
from delta_adapters.registry import KNOWN

TIMEOUT = 120
_RELEASE = re.compile(r"\d+(\.\d+)*")


def released_versions(name: str) -> tuple[str, ...]:
    """Return the released versions of an engine's package for this Python, the oldest first.

    Raises EnvironmentProblem if the index can't be asked.
    """
    package = KNOWN[name].package
    command = [
        sys.executable,
        "-m",
        "pip",
        "--disable-pip-version-check",
        "--no-input",
        "index",
        "versions",
        package,
    ]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=TIMEOUT)
    except subprocess.TimeoutExpired as error:
        raise EnvironmentProblem(f"the package index did not answer within {TIMEOUT} s") from error
    listed = re.search(r"^Available versions: (.+)$", done.stdout, re.MULTILINE)
    if done.returncode or listed is None:
        words = (done.stderr or done.stdout).strip().splitlines()
        raise EnvironmentProblem(
            f"`pip index versions {package}` lists no versions: {words[-1] if words else 'it is silent'}. Check the"
            " network or the proxy"
        )
    return in_order(version.strip() for version in listed[1].split(","))


def in_order(versions: Iterable[str]) -> tuple[str, ...]:
    """Return the versions that are final releases, the oldest first, each once."""
    return tuple(sorted({version for version in versions if _RELEASE.fullmatch(version)}, key=number_of))


def number_of(version: str) -> tuple[int, ...]:
    """Return a version as numbers, by which versions can be compared."""
    numbers = [int(part) for part in re.findall(r"\d+", version)]
    while numbers and not numbers[-1]:
        numbers.pop()
    return tuple(numbers)
