"""The bus: it hands each event of a run to every listener.

The file `events.jsonl`, the terminal, the claims and the reports are listeners. A run knows none of them.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

from conformance.events.types import Event

Listener = Callable[[Event], None]


class Bus:
    """Hands each event to every listener, in the order in which they were added, one event at a time.

    A listener's exception reaches the caller of `emit`: a run that can't be recorded has to stop.
    """

    def __init__(self, *listeners: Listener) -> None:
        self._listeners = list(listeners)
        self._lock = threading.RLock()
        self._emitting = 0
        self._interrupted: str | None = None

    def add(self, listener: Listener) -> None:
        """Add a listener, for the events from now on."""
        with self._lock:
            self._listeners.append(listener)

    def emit(self, event: Event) -> None:
        """Hand an event to all listeners."""
        main = threading.current_thread() is threading.main_thread()
        self._emitting += main
        try:
            with self._lock:
                for listener in self._listeners:
                    listener(event)
        finally:
            self._emitting -= main
        if main and not self._emitting and self._interrupted is not None:
            reason, self._interrupted = self._interrupted, None
            raise KeyboardInterrupt(reason)

    def interrupt(self, reason: str) -> None:
        """Raise KeyboardInterrupt, for a signal handler, but never between two listeners of one event.

        So the record, the verdict and the terminal know the same events: the event that the bus is handing out reaches
        every listener first.
        """
        if not self._emitting:
            raise KeyboardInterrupt(reason)
        self._interrupted = reason

    __call__ = emit
