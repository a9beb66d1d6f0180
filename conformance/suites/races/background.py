"""A race beside the harness' own thread: engines play the next race while the last one is judged."""

from __future__ import annotations

import threading
from concurrent.futures import Future

from conformance.execution.pending_reads import PendingStep
from conformance.execution.step_result import StepResult
from conformance.histories import Step
from conformance.suites.races.session import PendingRace, RaceTableSession


class BackgroundRace:
    """Opens a table and plays a race at it, on a thread of its own that begins at once.

    The thread is a daemon, so that an end of the harness waits for no engine. `opened` will be the results of opening
    the table, `pending` the race to collect, or None where the table can't be played.
    """

    def __init__(self, table_session: RaceTableSession, step: Step) -> None:
        self.opened: Future[list[StepResult]] = Future()
        self.pending: Future[PendingStep | None] = Future()
        self._eased = threading.Event()
        self._thread = threading.Thread(
            target=self._run, args=(table_session, step), name="race", daemon=True
        )
        self._thread.start()

    def wait_until_eased(self) -> None:
        """Wait until the thread needs little of this interpreter: working beside it before gains nothing."""
        self._eased.wait()

    def wait(self) -> None:
        """Wait until no engine is needed any more."""
        self._thread.join()

    def collect(self) -> list[StepResult]:
        """Judge the race; raises what playing it has raised."""
        pending = self.pending.result()
        results: list[StepResult] = []
        while pending is not None:
            collected, pending = pending.collect()
            results += collected
        return results

    def _run(self, table_session: RaceTableSession, step: Step) -> None:
        try:
            self.opened.set_result(table_session.open_all())
            self.pending.set_result(self._submit(table_session, step) if table_session.plays else None)
        except BaseException as error:  # noqa: BLE001 - the thread that asks for the result raises it
            for future in (self.opened, self.pending):
                if not future.done():
                    future.set_exception(error)
        finally:
            self._eased.set()

    def _submit(self, table_session: RaceTableSession, step: Step) -> PendingStep:
        pending = table_session.submit(step)
        self._eased.set()
        if isinstance(pending, PendingRace):
            pending.wait()
        return pending
