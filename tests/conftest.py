"""What holds for every test: how Hypothesis runs, who runs it, and that a skip is never quiet."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, settings
from xdist.remote import Producer  # type: ignore[import-untyped]
from xdist.scheduler import LoadFileScheduling  # type: ignore[import-untyped]

pytest_plugins = ("pytester", "tests.skips", "tests.command_runs")

# No deadline, no complaint of slow draws: a busy machine is no defect. The same examples each time: a test that fails
# for one commit and passes for the next without a reason helps nobody, and to explore is what campaigns are for.
settings.register_profile(
    "repository",
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("repository")

# Each of these folders has its Spark sessions for all of its tests: one worker starts them, not every worker its own.
TOGETHER = ("tests/pyspark_delta/", "tests/adapters/delta_spark/", "tests/adapters/pyspark_engine/")


class ByFileOrSession(LoadFileScheduling):  # type: ignore[misc]
    """A file of tests to one worker, and all files that share a Spark session to the same."""

    def _split_scope(self, nodeid: str) -> str:
        return next(
            (folder for folder in TOGETHER if nodeid.startswith(folder)), super()._split_scope(nodeid)
        )


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> ByFileOrSession | None:
    """What `--dist loadfile` means here."""
    return ByFileOrSession(config, log) if config.getoption("dist") == "loadfile" else None
