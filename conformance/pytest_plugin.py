"""The pytest plugin: its options, its fixtures and its section on the terminal.

Every pytest run in the environment loads this module, so it imports the harness only when a test needs it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from conformance.options import RunOptions
    from conformance.planning.plan import Plan
    from conformance.pytest_suites.session import PytestRun
    from conformance.reporting.results import Results

PLAN = pytest.StashKey["Plan"]()
SEED = pytest.StashKey[int]()
RESULTS = pytest.StashKey["list[str]"]()
CHUNK = "conformance_chunk"
KEPT = "test_a_kept_history_holds"
DEFAULT_PROFILE = "dev"
# The name that users type for `conformance.pytest_suites`, for all of it or for one of its modules.
TYPED = re.compile(r"conformance\.suites(?=$|::|\.test_)")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options. All begin with `--conformance-`, so that they collide with no other plugin."""
    group = parser.getgroup("conformance", "conformance of Delta Lake implementations")
    group.addoption(
        "--conformance-engine", action="append", default=[], metavar="NAME[@VERSION|@PATH]",
        help="an engine to test; again for more (default: all that can run here)",
    )  # fmt: skip
    group.addoption(
        "--conformance-profile",
        default=DEFAULT_PROFILE,
        metavar="NAME",
        help="dev, ci or nightly (default: dev)",
    )
    group.addoption(
        "--conformance-seed",
        type=int,
        metavar="S",
        help="draw other histories, or the same again (default: the profile's own seed; nightly draws a new one)",
    )
    group.addoption(
        "--conformance-examples", type=int, metavar="N", help="histories a suite, in place of the profile's"
    )
    group.addoption("--conformance-steps", type=int, metavar="M", help="steps a history")
    group.addoption(
        "--conformance-regressions", type=Path, metavar="DIR",
        help="histories to play first (default: regressions, if there is such a folder here)",
    )  # fmt: skip
    group.addoption(
        "--conformance-out", type=Path, default=Path("conformance-results"), metavar="DIR",
        help="where the run's folder is made (default: conformance-results)",
    )  # fmt: skip


def pytest_configure(config: pytest.Config) -> None:
    """Have `--pyargs conformance.suites` collect `conformance.pytest_suites`, where the tests of the suites are."""
    if config.getoption("pyargs"):
        config.args[:] = [TYPED.sub("conformance.pytest_suites", argument) for argument in config.args]


def pytest_collection(session: pytest.Session) -> None:
    """Plan the run before pytest collects, so that a wrong option ends it at once."""
    config = session.config
    given = (config.getoption(name) for name in ("conformance_engine", "conformance_regressions"))
    if any(given) or config.getoption("conformance_profile") != DEFAULT_PROFILE:
        _plan(config)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put kept histories before all other tests, as a run of the command line does."""
    items.sort(key=lambda item: item.name.partition("[")[0] != KEPT)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a test that uses `conformance_chunk` once for each planned chunk of its module's suite.

    A kept history has the name of its entry. Chunks of the reserve are no tests: how many are played is decided when
    all others have ended.
    """
    if CHUNK in metafunc.fixturenames:
        suite, plan = metafunc.module.SUITE, _plan(metafunc.config)
        chunks = [chunk for chunk in plan.chunks if chunk.suite == suite]
        is_kept = metafunc.definition.name == KEPT
        names = [plan.kept[chunk.number].name if is_kept else chunk.name for chunk in chunks]
        metafunc.parametrize(CHUNK, chunks, ids=names)


@pytest.fixture(scope="session")
def conformance_session(request: pytest.FixtureRequest) -> Iterator[PytestRun]:
    """The run: it starts the engines once, records all events, and writes the reports at the end."""
    from conformance.pytest_suites.session import EngineUnusable, PytestRun  # noqa: PLC0415
    from conformance.reporting.run_folder import new_run_folder  # noqa: PLC0415

    config = request.config
    folder = new_run_folder(config.getoption("conformance_out"))
    try:
        session = PytestRun(_options(config, folder), _plan(config))
    except EngineUnusable as error:
        _keep_results(config, error.results, folder)
        pytest.exit(f"conformance: {error}", returncode=error.results.outcome.exit)
    yield session
    _keep_results(config, session.close(), folder)


def _keep_results(config: pytest.Config, results: Results, folder: Path) -> None:
    """Keep the lines that the end of the session shows."""
    config.stash[RESULTS] = [
        (
            f"{results.outcome.verdict}: {sum(suite.steps for suite in results.suites)} steps, "
            f"{len(results.findings)} findings, seed {config.stash[SEED]}"
        ),
        *(f"  {reason}" for reason in results.outcome.reasons[:10]),
        f"report: {folder / 'report.html'}",
    ]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the verdict of the run, because passed tests alone are no verdict."""
    lines = terminalreporter.config.stash.get(RESULTS, [])
    if lines:
        terminalreporter.section("conformance")
        for line in lines:
            terminalreporter.line(line)


def _plan(config: pytest.Config) -> Plan:
    """The plan of the run, made once. Raises UsageError."""
    from conformance.planning.plan import plan_run  # noqa: PLC0415
    from conformance.planning.profile import PlanError  # noqa: PLC0415
    from delta_adapters.registry import UnknownEngine  # noqa: PLC0415

    if PLAN not in config.stash:
        try:
            config.stash[PLAN] = plan_run(_options(config, Path()))
        except (PlanError, UnknownEngine) as error:
            raise pytest.UsageError(f"conformance: {error}") from error
    return config.stash[PLAN]


def _options(config: pytest.Config, folder: Path) -> RunOptions:
    from conformance.options import RunOptions  # noqa: PLC0415
    from conformance.planning.kept import kept_folder  # noqa: PLC0415
    from conformance.planning.plan import seed_of_run  # noqa: PLC0415

    profile = config.getoption("conformance_profile")
    if SEED not in config.stash:
        config.stash[SEED] = seed_of_run(profile, config.getoption("conformance_seed"))
    return RunOptions(
        folder=folder,
        engines=tuple(config.getoption("conformance_engine")),
        profile=profile,
        seed=config.stash[SEED],
        examples=config.getoption("conformance_examples"),
        steps=config.getoption("conformance_steps"),
        command=("pytest", *map(str, config.invocation_params.args)),
        regressions=kept_folder(config.getoption("conformance_regressions")),
    )
