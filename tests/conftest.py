"""Set-up of all tests: plugins, settings of Hypothesis, and the work of each xdist worker."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, settings
from xdist.remote import Producer  # type: ignore[import-untyped]
from xdist.scheduler import LoadFileScheduling  # type: ignore[import-untyped]

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

# The tests of each of these folders share Spark sessions. One worker gets the folder, so the sessions start once.
SPARK_FOLDERS = ("tests/pyspark_delta/", "tests/adapters/delta_spark/", "tests/adapters/pyspark_engine/")


class FileOrSparkScheduling(LoadFileScheduling):  # type: ignore[misc]
    """Gives a file of tests to one worker, and all files of a Spark folder to the same worker.

    `_split_scope` is private. The public way, `--dist loadgroup` with marks `xdist_group`, has no effect: xdist 3.8
    appends the group to `Item._nodeid`, which pytest 9.2 no longer reads.
    """

    def _split_scope(self, nodeid: str) -> str:
        return next(
            (folder for folder in SPARK_FOLDERS if nodeid.startswith(folder)), super()._split_scope(nodeid)
        )


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> FileOrSparkScheduling | None:
    """Return the scheduling of `--dist loadfile`, or None for any other."""
    return FileOrSparkScheduling(config, log) if config.getoption("dist") == "loadfile" else None
