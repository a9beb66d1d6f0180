"""Errors for users: one readable message with cause and cure, on stderr, never a traceback."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

USAGE = 2


class UsageError(Exception):
    """The command can't do what its arguments say. `cure` says what to do instead."""

    def __init__(self, message: str, cure: str = "") -> None:
        super().__init__(message)
        self.cure = cure

    def __str__(self) -> str:
        message = super().__str__()
        return f"{message}\n  {self.cure}" if self.cure else message


def unknown(kind: str, name: str, known: Iterable[str]) -> UsageError:
    """The error for an unknown name, which suggests the likely one."""
    names = list(known)
    near = difflib.get_close_matches(name, names, n=1)
    meant = f"Did you mean {near[0]}? " if near else ""
    return UsageError(f"unknown {kind} {name!r}", f"{meant}There are: {', '.join(names)}.")
