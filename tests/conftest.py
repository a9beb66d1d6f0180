"""What holds for every test: how Hypothesis runs, and that a skip is never quiet."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

pytest_plugins = ("pytester", "tests.skips")

# No deadline and no complaint of slow draws: a machine that is busy with something else is no defect. The same examples each time, because a test that
# fails for one commit and passes for the next without a reason helps nobody; the campaigns are what explores.
settings.register_profile(
    "repository",
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("repository")
