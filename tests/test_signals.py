"""A signal ends a command, wherever Python is when it arrives."""

from __future__ import annotations

import gc
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from conformance.signals import interrupt, stoppable

PATIENCE = 60


@pytest.mark.parametrize("number", (signal.SIGINT, signal.SIGTERM))
def test_a_signal_ends_the_block_and_gives_the_old_handlers_back(number):
    before = signal.getsignal(number)

    with pytest.raises(KeyboardInterrupt, match=number.name), stoppable(interrupt):
        signal.raise_signal(number)

    assert signal.getsignal(number) is before


def test_a_later_signal_does_not_disturb_the_end():
    ended = False

    def run() -> None:
        nonlocal ended
        try:
            signal.raise_signal(signal.SIGINT)
        finally:
            signal.raise_signal(signal.SIGTERM)
            ended = True

    with pytest.raises(KeyboardInterrupt, match="SIGINT"), stoppable(interrupt):
        run()

    assert ended


@pytest.mark.parametrize("number", (signal.SIGINT, signal.SIGTERM))
def test_a_signal_that_arrives_in_a_callback_of_the_garbage_collector_is_not_lost(number):
    hook = sys.unraisablehook

    def run() -> None:
        with _collected_with(number):
            gc.collect()
        _wait()

    with pytest.raises(KeyboardInterrupt, match=number.name), stoppable(interrupt):
        run()

    assert sys.unraisablehook is hook


def test_a_signal_that_arrives_in_a_finalizer_is_not_lost():
    class Signals:
        def __del__(self) -> None:
            signal.raise_signal(signal.SIGTERM)

    def run() -> None:
        Signals()
        _wait()

    with pytest.raises(KeyboardInterrupt, match="SIGTERM"), stoppable(interrupt):
        run()


@contextmanager
def _collected_with(number: signal.Signals) -> Iterator[None]:
    """The garbage collector calls something during which the signal arrives."""

    def arrives(phase: str, _info: dict[str, int]) -> None:
        if phase == "start":
            gc.callbacks.remove(arrives)
            signal.raise_signal(number)

    gc.callbacks.append(arrives)
    yield


def _wait() -> None:
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        time.sleep(0.01)
