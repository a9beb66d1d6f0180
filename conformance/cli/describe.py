"""`python -m conformance.cli.describe ADAPTER`: print what an adapter declares about its engine, as JSON.

It runs in a process of its own, because loading an adapter loads its engine, which may print or die.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import asdict
from typing import Any

TIMEOUT = 60


class NotDescribed(RuntimeError):
    """The adapter can't be loaded or described. The message says why."""


def describe(adapter: str) -> dict[str, Any]:
    """The identity and the capability document of an adapter. Raises NotDescribed."""
    command = [sys.executable, "-P", "-m", "conformance.cli.describe", adapter]
    try:
        process = subprocess.run(command, capture_output=True, timeout=TIMEOUT, check=False)
        lines = process.stdout.decode("utf-8", "replace").strip().splitlines()
        description: dict[str, Any] = json.loads(lines[-1]) if process.returncode == 0 and lines else {}
    except (OSError, subprocess.TimeoutExpired, ValueError) as error:
        raise NotDescribed(str(error)) from error
    if not description:
        last = process.stderr.decode("utf-8", "replace").strip().splitlines()[-1:] or [
            f"exit code {process.returncode}"
        ]
        raise NotDescribed(f"its adapter can't be loaded: {last[0]}")
    return description


def _print_description(adapter: str) -> None:
    from delta_adapters.capabilities import Capabilities  # noqa: PLC0415 - only in the process that describes
    from delta_adapters.host_server import load  # noqa: PLC0415 - the same

    out = os.dup(1)
    os.dup2(2, 1)  # whatever the engine prints while it is loaded is no part of the answer
    made = load(adapter)()
    identity, document = made.identity, made.capabilities
    Capabilities.validated(document, str(identity))
    with os.fdopen(out, "w") as answer:
        answer.write(json.dumps({"identity": asdict(identity), "capabilities": dict(document)}) + "\n")
        answer.flush()
    os._exit(0)  # some engines abort in the interpreter's own shutdown


if __name__ == "__main__":
    _print_description(sys.argv[1])
