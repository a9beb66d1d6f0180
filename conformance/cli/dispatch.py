"""The entry point: run the subcommand, and turn any error into one message and an exit code."""

from __future__ import annotations

import argparse
import importlib
import os
import sys
import traceback
from collections.abc import Sequence
from typing import Any, NoReturn

from conformance._version import harness_version
from conformance.cli.errors import USAGE, UsageError, unknown
from conformance.signals import interrupt, stoppable

COMMANDS = (
    "run", "replay", "shrink", "bisect", "diff", "corpus", "report", "new-adapter", "explain", "engines", "doctor",
)  # fmt: skip
STOPPED = 130

HELP = """\
Usage: conformance COMMAND [ARGUMENTS]

Drives real implementations of Delta Lake through generated histories, compares them step by
step with a reference model, and says where one differs, with the history that shows it.

Commands:
  run        play histories on engines and report what held and what did not
  replay     play the history of a finding again: is it fixed?
  shrink     make the history of a finding as small as it gets
  bisect     say between which versions of an engine a finding began and ended
  diff       compare two runs: what regressed, what is fixed?
  corpus     read reference tables that others made, and judge what was read
  report     write the reports of recorded runs again, several merged into one
  new-adapter  make a package with an adapter for an engine of your own
  explain    say what a requirement demands, or what a finding means
  engines    list the engines, which of them can run here, and what each declares
  doctor     say what is missing on this machine, and the line that mends it

`conformance COMMAND --help` describes one. `conformance --version` prints the version.
A first run: conformance run --profile dev
"""


class Parser(argparse.ArgumentParser):
    """An argparse parser with a help text written by hand, which raises errors in place of printing them."""

    def __init__(self, command: str, text: str) -> None:
        super().__init__(prog=f"conformance {command}".rstrip(), allow_abbrev=False)
        self._text = text

    def format_help(self) -> str:
        """The help text, unchanged."""
        return self._text

    def error(self, message: str) -> NoReturn:
        """Raise UsageError."""
        raise UsageError(message, f"See: {self.prog} --help")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    words = list(sys.argv[1:] if argv is None else argv)
    try:
        with stoppable(interrupt):
            code = _dispatch(words)
        sys.stdout.flush()  # here, where a reader that went away leaves no traceback
    except UsageError as error:
        _say(f"conformance: {error}")
        return USAGE
    except KeyboardInterrupt:
        _say("conformance: stopped")
        return STOPPED
    except BrokenPipeError:
        # The reader of the output went away. Python would report it again when it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return USAGE
    except Exception as error:  # noqa: BLE001 - the last resort: a message in place of a traceback
        if os.environ.get("CONFORMANCE_DEBUG"):
            traceback.print_exc()
        _say(
            f"conformance: the harness is at fault: {type(error).__name__}: {error}\n"
            "  Set CONFORMANCE_DEBUG=1 to see where, and report it with the command that you typed."
        )
        return USAGE
    return code


def _dispatch(words: list[str]) -> int:
    if not words:
        _say(HELP.rstrip())
        return USAGE
    first, *rest = words
    if first in {"--help", "-h", "help"}:
        return _help(rest)
    if first == "--version":
        sys.stdout.write(f"conformance {harness_version()}\n")
        return 0
    if first not in COMMANDS:
        raise unknown("command", first, COMMANDS)
    command = _module(first)
    parser = Parser(first, command.HELP)
    command.add_arguments(parser)
    try:
        arguments = parser.parse_args(rest)
    except SystemExit as done:  # --help has been printed
        return int(done.code or 0)
    code: int = command.execute(arguments)
    return code


def _help(words: list[str]) -> int:
    if words and words[0] not in COMMANDS:
        raise unknown("command", words[0], COMMANDS)
    sys.stdout.write(_module(words[0]).HELP if words else HELP)
    return 0


def _module(command: str) -> Any:
    return importlib.import_module(f"conformance.cli.{command.replace('-', '_')}")


def _say(text: str) -> None:
    sys.stderr.write(f"{text}\n")
