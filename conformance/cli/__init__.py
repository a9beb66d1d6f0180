"""The command line: a module a subcommand, which checks what was asked and hands it on; nothing is judged here."""

from __future__ import annotations

from conformance.cli.dispatch import main

__all__ = ["main"]
