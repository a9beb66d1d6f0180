"""Types of arguments: functions that turn an argument into a value, or raise with what was expected."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable

from conformance.cli.errors import unknown
from conformance.options import PROFILES, is_file

_DURATION = re.compile(r"(?:(?P<h>\d+(?:\.\d+)?)h)?(?:(?P<m>\d+(?:\.\d+)?)m)?(?:(?P<s>\d+(?:\.\d+)?)s?)?")
_SECONDS = {"h": 3600.0, "m": 60.0, "s": 1.0}


def duration(text: str) -> float:
    """Seconds, from `90`, `90s`, `4m`, `1h30m`."""
    match = _DURATION.fullmatch(text.strip()) if text.strip() else None
    seconds = (
        sum(float(part) * _SECONDS[unit] for unit, part in match.groupdict("0").items()) if match else 0.0
    )
    if not seconds:
        message = f"{text!r} is no length of time: write 90s, 4m or 1h30m"
        raise argparse.ArgumentTypeError(message)
    return seconds


def positive(text: str) -> int:
    """A whole number of at least 1."""
    if not re.fullmatch(r"\d+", text) or int(text) < 1:
        message = f"{text!r} is no whole number of at least 1"
        raise argparse.ArgumentTypeError(message)
    return int(text)


def seed(text: str) -> int:
    """A whole number of at least 0."""
    if not re.fullmatch(r"\d+", text):
        message = f"{text!r} is no whole number"
        raise argparse.ArgumentTypeError(message)
    return int(text)


def profile(text: str) -> str:
    """The name of a committed profile, perhaps with a part as in `gate:core`, or the path of a file with one's own."""
    if not is_file(text):
        one_of("profile", PROFILES)(text.partition(":")[0])
    return text


def split_part(text: str) -> tuple[str, tuple[str, ...]]:
    """A profile without its part, and the part."""
    name, _, part = text.partition(":")
    return (text, ()) if is_file(text) or not part else (name, (part,))


def one_of(kind: str, known: tuple[str, ...]) -> Callable[[str], str]:
    """A type that accepts the words of a list only."""

    def check(text: str) -> str:
        if text not in known:
            raise argparse.ArgumentTypeError(str(unknown(kind, text, known)))
        return text

    return check
