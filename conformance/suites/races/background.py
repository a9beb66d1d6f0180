"""One piece of work beside the harness' own thread: engines race at the next table before the last race is judged."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

Result = TypeVar("Result")


class BackgroundTask(Generic[Result]):
    """Begins at once. A daemon, so that an end of the harness waits for no engine.

    The work is given something to call once it asks for little of this interpreter any more: whoever works beside it
    before takes as long from it as he gains.
    """

    def __init__(self, work: Callable[[Callable[[], None]], Result]) -> None:
        self._results: list[Result] = []
        self._error: BaseException | None = None
        self._eased = threading.Event()
        self._thread = threading.Thread(target=self._do, args=(work,), name="ahead", daemon=True)
        self._thread.start()

    def wait_until_eased(self) -> None:
        """Until others may work beside it."""
        self._eased.wait()

    def wait(self) -> None:
        """Until it is over."""
        self._thread.join()

    def result(self) -> Result:
        """What came of it; raises what it has raised."""
        self.wait()
        if self._error is not None:
            raise self._error
        return self._results[0]

    def _do(self, work: Callable[[Callable[[], None]], Result]) -> None:
        try:
            self._results.append(work(self._eased.set))
        except BaseException as error:  # noqa: BLE001 - it is raised to whoever waits
            self._error = error
        finally:
            self._eased.set()
