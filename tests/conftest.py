"""Set-up of all tests: plugins, settings of Hypothesis, and the work of each xdist worker."""

from __future__ import annotations

import gc
import os
import signal
import sys

import pytest
from hypothesis import HealthCheck, settings
from xdist.remote import Producer  # type: ignore[import-untyped]
from xdist.scheduler import LoadFileScheduling  # type: ignore[import-untyped]
from xdist.workermanage import WorkerController  # type: ignore[import-untyped]

from delta_adapters.spark.java import BRIEF

pytest_plugins = ("pytester", "tests.skips", "tests.command_runs")

# A busy machine is no defect, so there is no deadline and no check for slow draws. Examples are the same each time: a
# test must not fail by chance, and campaigns explore.
settings.register_profile(
    "repository",
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("repository")

# Most JVMs of tests get a few calls. Fixtures whose JVM gets many say so.
os.environ.setdefault(BRIEF, "1")

# Some images set this. Each worker, and each process that a test starts, would compile every module again.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# A shell has what it starts in the background ignore Ctrl-C, and so do all that this starts. Tests send it.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# The tests of each of these folders share Spark sessions. One worker gets the folder, so the sessions start once.
SPARK_FOLDERS = ("tests/pyspark_delta/", "tests/adapters/delta_spark/", "tests/adapters/pyspark_engine/")

# While tests are collected, the collector would find nothing, and go through all of it again and again.
gc.disable()

# Few tests that take long. xdist hands out first what has many tests, and one worker would end with these alone.
LONG = (
    "tests/pyspark_delta/",
    "tests/suites/crashes/test_bad_input.py",
    "tests/triage/test_shrink_faults.py",
    "tests/runner/test_builds_on_a_jvm.py",
    "tests/tools/test_mutation_play.py",
    "tests/triage/test_causes.py",
    "tests/findings/scripts/test_programs.py",
    "tests/runner/test_bad_engines.py",
    "tests/execution/test_beside_delta_spark.py",
    "tests/execution/test_names_and_zones_on_engines.py",
    "tests/suites/crashes/test_streams.py",
    "tests/findings/scripts/test_catalogued.py",
    "tests/adapters/deviations/test_scripts.py",
    "tests/corpus/test_reference_tables.py",
    "tests/cli/test_run.py",
    "tests/cli/test_errors.py",
    "tests/cli/test_own_causes.py",
    "tests/triage/test_fresh_clone.py",
    "tests/runner/test_coordinator.py",
    "tests/planning/test_forecast.py",
    "tests/planning/test_top_up.py",
)


class FileOrSparkScheduling(LoadFileScheduling):  # type: ignore[misc]
    """Gives a file of tests to one worker, and all files of a Spark folder to the same worker. Long files come first.

    `_split_scope` and `_assign_work_unit` are private. The public way, `--dist loadgroup` with marks `xdist_group`, has
    no effect: xdist 3.8 appends the group to `Item._nodeid`, which pytest 9.2 no longer reads.
    """

    def _split_scope(self, nodeid: str) -> str:
        return next(
            (folder for folder in SPARK_FOLDERS if nodeid.startswith(folder)), super()._split_scope(nodeid)
        )

    def _assign_work_unit(self, node: WorkerController) -> None:
        long = next((scope for scope in LONG if scope in self.workqueue), None)
        if long is not None:
            self.workqueue.move_to_end(long, last=False)
        super()._assign_work_unit(node)


def pytest_collection_finish() -> None:
    """Leave what was collected out of every collection of garbage from here on: it stays until the end."""
    gc.freeze()
    gc.enable()


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> FileOrSparkScheduling | None:
    """Return the scheduling of `--dist loadfile`, or None for any other."""
    return FileOrSparkScheduling(config, log) if config.getoption("dist") == "loadfile" else None
