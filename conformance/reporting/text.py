"""Words for people: counts, lengths of time, and text of strangers made harmless."""

from __future__ import annotations

import shlex
import unicodedata
from pathlib import Path

_HIDDEN = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}


def harmless(text: str, keep: str = "\n") -> str:
    """The text with every character that is not seen, or that moves others about, written as its escape.

    That is control characters, marks of direction, lone surrogates and unassigned code points, so that what an engine
    says can neither drive a terminal nor break a document. Those in `keep` stay.
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        each if each in keep or unicodedata.category(each) not in _HIDDEN else _escape(each) for each in text
    )


def one_line(text: str, width: int = 200) -> str:
    """The first of a text, on one line, at most so wide."""
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
    """A path as one would type it from the current folder."""
    try:
        shown = path.absolute().relative_to(Path.cwd())
    except (ValueError, OSError):
        shown = path
    return str(shown)


def replay_command(folder: Path) -> str:
    """What to type to play a finding again."""
    return f"conformance replay {shlex.quote(here(folder))}"


def _escape(character: str) -> str:
    number = ord(character)
    if number < 0x100:
        return f"\\x{number:02x}"
    return f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"
