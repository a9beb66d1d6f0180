"""Text for people: counts, durations, paths, and text of engines with its control characters escaped."""

from __future__ import annotations

import shlex
import unicodedata
from pathlib import Path

_HIDDEN = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}


def harmless(text: str, keep: str = "\n") -> str:
    """Escape every character that is invisible or moves others, except those in `keep`.

    These are control characters, direction marks, lone surrogates and unassigned code points. So text of an engine can
    neither drive a terminal nor break a document.
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        character
        if character in keep or unicodedata.category(character) not in _HIDDEN
        else _escape(character)
        for character in text
    )


def one_line(text: str, width: int = 200) -> str:
    """The beginning of a text on one line, at most `width` characters."""
    flat = " ".join(harmless(text).split())
    return flat if len(flat) <= width else f"{flat[: width - 1]}…"


def plural(number: int, noun: str, many: str = "") -> str:
    """`1 step`, `2 steps`, `1,832 operations`."""
    return f"{number:,} {noun if number == 1 else many or noun + 's'}"


def seconds(length: float) -> str:
    """`0.4 s`, `59 s`, `2 min 51 s`, `1 h 05 min`."""
    if length < 10:
        return f"{length:.1f} s"
    whole = round(length)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02d} min"


def here(path: Path) -> str:
    """A path relative to the current folder, if it is inside."""
    try:
        shown = path.absolute().relative_to(Path.cwd())
    except (ValueError, OSError):
        shown = path
    return str(shown)


def replay_command(folder: Path) -> str:
    """The command that replays a finding."""
    return f"conformance replay {shlex.quote(here(folder))}"


def shrink_command(folder: Path) -> str:
    """The command that makes the history of a finding smaller."""
    return f"conformance shrink {shlex.quote(here(folder))}"


def _escape(character: str) -> str:
    number = ord(character)
    if number < 0x100:
        return f"\\x{number:02x}"
    return f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"
