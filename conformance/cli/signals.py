"""Ctrl-C and SIGTERM: both end a command alike, and only the first of them counts, so that nothing tears the end."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

SIGNALS = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def stoppable(tell: Callable[[str], None], *, deaf_afterwards: bool = False) -> Iterator[None]:
    """The first signal calls `tell` with its name, which is to raise KeyboardInterrupt; later ones do nothing.

    The handlers from before come back at the end; `deaf_afterwards`, not if there was a signal: reports are to follow.
    """
    if (
        threading.current_thread() is not threading.main_thread()
    ):  # only it may set handlers, and only it is stopped
        yield
        return
    stopped = False

    def stop(number: int, _frame: FrameType | None) -> None:
        nonlocal stopped
        stopped = True
        for each in SIGNALS:
            signal.signal(each, _pass_over)
        tell(signal.Signals(number).name)

    before = {each: signal.signal(each, stop) for each in SIGNALS}
    try:
        yield
    finally:
        if not (stopped and deaf_afterwards):
            for each, handler in before.items():
                signal.signal(each, handler)


@contextmanager
def undisturbed() -> Iterator[None]:
    """No signal is heard."""
    before = {each: signal.signal(each, _pass_over) for each in SIGNALS}
    try:
        yield
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)


def interrupt(name: str) -> None:
    """What ends a command that has nobody to tell."""
    raise KeyboardInterrupt(name)


def _pass_over(_number: int, _frame: FrameType | None) -> None:
    """Does nothing. SIG_IGN would be inherited by processes, and Python complains of a signal that was on its way."""
