"""The process that plays the campaign of a pytest session: `conformance run`, told where to say which folder it has.

    python -m conformance.pytest_suites.child FILE OPTIONS...

It is a process of its own, so that neither pytest's handlers, plugins and warnings nor a test that hangs can change
what the run does. It ends with the process that started it.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from pathlib import Path

from conformance.cli import run
from conformance.cli.dispatch import Parser
from conformance.cli.errors import USAGE, UsageError

PR_SET_PDEATHSIG = 1


def main() -> int:
    """Play the run of the words, write the path of its folder to the file, and return its exit code."""
    _end_with_parent()
    place, *words = sys.argv[1:]
    sys.argv = ["conformance", "run", *words]  # what the record says: a command that a person can type
    parser = Parser("run", run.HELP)
    run.add_arguments(parser)
    try:
        options, plan = run.options_and_plan(run.with_own_settings(parser.parse_args(words)))
        Path(place).write_text(str(options.folder.absolute()), "utf-8")
        return run.carry_out(options, plan, "plain")
    except UsageError as error:
        sys.stderr.write(f"{error}\n")
        return USAGE


def _end_with_parent() -> None:
    """Have the kernel send SIGTERM when pytest's process ends, so that the run writes its reports and stops."""
    parent = os.getppid()
    if sys.platform.startswith("linux"):
        ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
        if os.getppid() != parent:
            raise SystemExit(USAGE)


if __name__ == "__main__":
    sys.exit(main())
