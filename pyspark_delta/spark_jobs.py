"""Run Spark jobs that write, so that no task is still at work when the caller continues.

If a job fails or is cancelled, Spark answers while some tasks still write files. Ctrl-C while Python waits in py4j
breaks the wait but not the job, because the signal handler's own call over the busy connection fails. So the main
thread waits for a second thread, which Ctrl-C does not reach.

This module catches BaseException, because Ctrl-C is its purpose, and raises it again once the tasks have ended.
"""

from __future__ import annotations

import logging
import threading
import time
import uuid
from collections.abc import Callable
from typing import Any

from py4j.clientserver import ClientServer
from pyspark.sql import SparkSession
from pyspark.util import InheritableThread

__all__ = ["run"]

PATIENCE_S = 60.0
_LOOK_S = 0.02
_log = logging.getLogger(__name__)


def run(spark: SparkSession, work: Callable[[], object]) -> None:
    """Do the work; when this returns or raises, its Spark jobs and their tasks have ended."""
    context: Any = spark.sparkContext
    tag = f"pyspark_delta-{uuid.uuid4().hex}"

    def tagged() -> None:
        context.addJobTag(tag)
        try:
            work()
        finally:
            context.removeJobTag(tag)

    pinned = isinstance(context._gateway, ClientServer)  # noqa: SLF001 - a thread here has its own there
    try:
        if pinned and threading.current_thread() is threading.main_thread():
            _run_in_thread(context, tag, tagged)
        else:
            tagged()
    except BaseException:
        _wait_for_tasks(context, tag)
        raise


def _run_in_thread(context: Any, tag: str, work: Callable[[], object]) -> None:
    """Do the work in another thread; if the wait is interrupted, cancel the work and wait for its end."""
    failed: list[BaseException] = []

    def kept() -> None:
        try:
            work()
        except BaseException as error:  # noqa: BLE001 - raised by the thread that waits
            failed.append(error)

    thread = InheritableThread(target=kept, daemon=True)
    thread.start()
    try:
        thread.join()
    except BaseException:
        _cancel(context, tag, thread)
        raise
    if failed:
        raise failed[0]


def _cancel(context: Any, tag: str, thread: threading.Thread) -> None:
    """Cancel until the work has ended, because a job that is being planned begins after the first cancellation."""
    while thread.is_alive():
        context.cancelJobsWithTag(tag)
        thread.join(_LOOK_S)


def _wait_for_tasks(context: Any, tag: str) -> None:
    """Wait until no task of the tagged jobs is running; the wait for a lost executor is limited."""
    tracker = context._jsc.sc().statusTracker()  # noqa: SLF001 - Python's own does not know tags
    end = time.monotonic() + PATIENCE_S
    while _has_running_tasks(tracker, tag):
        if time.monotonic() > end:
            _log.warning("tasks of a job that failed are still at work; files in hidden folders may be left")
            return
        threading.Event().wait(_LOOK_S)


def _has_running_tasks(tracker: Any, tag: str) -> bool:
    for job in tracker.getJobIdsForTag(tag):
        facts = tracker.getJobInfo(job)
        if facts.isEmpty():
            continue
        if str(facts.get().status()) == "RUNNING":
            return True
        for stage in facts.get().stageIds():
            info = tracker.getStageInfo(stage)
            if info.nonEmpty() and info.get().numActiveTasks():
                return True
    return False
