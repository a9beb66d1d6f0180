"""The lines of a log that GitHub acts on: annotations, and the words that make it act on nothing for a while.

They begin with `::`. So text of engines is written while GitHub does not listen.
"""

from __future__ import annotations

import contextlib
import secrets
from collections.abc import Iterable, Iterator
from typing import TextIO

from conformance.reporting.github.notices import Notice
from conformance.reporting.text import harmless, one_line


def annotate(shown: Iterable[Notice], out: TextIO) -> None:
    """Make GitHub show notices at the top of the job and on the pull request."""
    out.writelines(f"{annotation(notice)}\n" for notice in shown)
    out.flush()


def annotation(notice: Notice) -> str:
    """The line that shows one notice."""
    title = _escaped(one_line(notice.title)).replace(":", "%3A").replace(",", "%2C")
    return f"::{notice.level} title={title}::{_escaped(chr(10).join(notice.lines))}"


@contextlib.contextmanager
def deaf(out: TextIO) -> Iterator[None]:
    """GitHub shows what is written inside, and obeys nothing of it."""
    token = silence(out)
    try:
        yield
    finally:
        listen_again(out, token)


def silence(out: TextIO) -> str:
    """From here on GitHub obeys nothing, until `listen_again` with the token that this returns."""
    token = secrets.token_hex(16)
    out.write(f"::stop-commands::{token}\n")
    return token


def listen_again(out: TextIO, token: str) -> None:
    """Let GitHub obey the log again."""
    out.write(f"::{token}::\n")
    out.flush()


def _escaped(text: str) -> str:
    return harmless(text).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
