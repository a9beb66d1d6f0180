"""A pytest plugin that reports skipped tests at the end, and fails the session if `CONFORMANCE_FORBID_SKIPS=1`.

`.ci/run` sets that. Its machine has everything, so a skip would mean that something was not tested. If a machine lacks
something, `CONFORMANCE_MAY_LACK` names it (comma-separated). The reason of such a skip begins with the same word and a
colon: `pytest.skip("corpora: ...")`.
"""

from __future__ import annotations

import os
from collections import Counter

import pytest


def _skipped(config: pytest.Config) -> Counter[str]:
    """Return how many tests or modules were skipped, by reason. An expected failure is not a skip."""
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    reports = reporter.stats.get("skipped", []) if reporter else []
    # A report of a skip holds (path, line, "Skipped: reason").
    return Counter(str(report.longrepr[2]).removeprefix("Skipped: ") for report in reports)


def _forbidden(skipped: Counter[str]) -> Counter[str]:
    if os.environ.get("CONFORMANCE_FORBID_SKIPS") != "1":
        return Counter()
    lacking = tuple(f"{name}:" for name in os.environ.get("CONFORMANCE_MAY_LACK", "").split(",") if name)
    return Counter({reason: count for reason, count in skipped.items() if not reason.startswith(lacking)})


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fail a session that passed, if it has a forbidden skip."""
    passed = {pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED}
    if session.exitstatus in passed and _forbidden(_skipped(session.config)):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Print how many tests were skipped and why, the most frequent reason first."""
    skipped = _skipped(config)
    if not skipped:
        return
    forbidden = _forbidden(skipped)
    title = f"{skipped.total()} SKIPPED: what they test is not tested"
    terminalreporter.section(title, sep="!", red=bool(forbidden), yellow=not forbidden, bold=True)
    for reason, count in skipped.most_common():
        terminalreporter.line(
            f"{count:5} x {reason}" + ("   [forbidden here]" if reason in forbidden else "")
        )
    if forbidden:
        terminalreporter.line("CONFORMANCE_FORBID_SKIPS is set, so this session has failed.", red=True)
