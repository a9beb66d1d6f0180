"""Ctrl-C and SIGTERM: both end a command in the same way. Only the first counts, so that none disturbs the end."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

SIGNALS = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def stoppable(interrupt_run: Callable[[str], None], *, ignore_afterwards: bool = False) -> Iterator[None]:
    """Call `interrupt_run` with the name of the first signal, which has to raise KeyboardInterrupt; ignore later ones.

    The old handlers return when the block ends. If `ignore_afterwards` and there was a signal, they do not, because the
    reports are still to be written.
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
        for handled in SIGNALS:
            signal.signal(handled, _pass_over)
        interrupt_run(signal.Signals(number).name)

    before = {number: signal.signal(number, stop) for number in SIGNALS}
    try:
        yield
    finally:
        if not (stopped and ignore_afterwards):
            for number, handler in before.items():
                signal.signal(number, handler)


@contextmanager
def undisturbed() -> Iterator[None]:
    """Ignore all signals."""
    before = {number: signal.signal(number, _pass_over) for number in SIGNALS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def interrupt(name: str) -> None:
    """Raise KeyboardInterrupt, for a command without a run to record."""
    raise KeyboardInterrupt(name)


def _pass_over(_number: int, _frame: FrameType | None) -> None:
    """Do nothing. Child processes would inherit SIG_IGN, and Python reports a signal that is already pending."""
