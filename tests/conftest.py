"""What holds for every test: how Hypothesis runs, and that a skip is never quiet."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

pytest_plugins = ("pytester", "tests.skips")

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
