"""Ctrl-C and SIGTERM: both end a command in the same way. Only the first counts, so that none disturbs the end."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

SIGNALS = (signal.SIGINT, signal.SIGTERM)
ASK_AGAIN = 0.05  # seconds until a signal is handled again whose exception went nowhere


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
    stop = _Stop(interrupt_run)
    before = {number: signal.signal(number, stop) for number in SIGNALS}
    hook_before, sys.unraisablehook = sys.unraisablehook, stop.unraisable
    try:
        yield
    finally:
        stop.never_again()
        sys.unraisablehook = hook_before
        if not (stop.number and ignore_afterwards):
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


class _Stop:
    """The handler of a block's signals.

    A signal may arrive while Python calls a finalizer or a callback of the garbage collector. Python ignores what is
    raised there, tells it to `sys.unraisablehook` and goes on. Then the handler is called a second time.
    """

    def __init__(self, interrupt_run: Callable[[str], None]) -> None:
        self.number = 0
        self._interrupt_run = interrupt_run
        self._hook_before = sys.unraisablehook
        self._again: threading.Timer | None = None

    def __call__(self, number: int, _frame: FrameType | None) -> None:
        self.number = number
        for handled in SIGNALS:
            signal.signal(handled, _pass_over)
        self._interrupt_run(signal.Signals(number).name)

    def unraisable(self, ignored: sys.UnraisableHookArgs) -> None:
        if not (self.number and ignored.exc_type is KeyboardInterrupt):
            self._hook_before(ignored)
            return
        signal.signal(self.number, self)
        self._again = threading.Timer(
            ASK_AGAIN, signal.pthread_kill, (threading.main_thread().ident, self.number)
        )
        self._again.daemon = True
        self._again.start()

    def never_again(self) -> None:
        if self._again is not None:
            for number in SIGNALS:
                signal.signal(number, _pass_over)
            self._again.cancel()
            self._again.join()


def _pass_over(_number: int, _frame: FrameType | None) -> None:
    """Do nothing. Child processes would inherit SIG_IGN, and Python reports a signal that is already pending."""
