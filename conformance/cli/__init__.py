"""The command line: a module for each subcommand, which checks the arguments and calls the package that does it."""

from __future__ import annotations

from conformance.cli.dispatch import main

__all__ = ["main"]
