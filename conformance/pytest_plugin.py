"""The pytest plugin: its options, its fixtures, and when the campaign of a session is planned, played and shown.

Every pytest run in the environment loads this module, so it imports the harness only when a test needs it.
"""

from __future__ import annotations

import argparse
import re
import shutil
import tempfile
import threading
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from conformance.pytest_suites.session import CAMPAIGN, EXIT, MARK, CampaignSession

if TYPE_CHECKING:
    from conformance.pytest_suites.campaign import CampaignFile
    from conformance.pytest_suites.own_histories import HistoryTable, OwnEngines
    from conformance.pytest_suites.planned import CampaignEngine

FILE = Path(__file__).parent / "pytest_suites" / "campaign.py"
MARKER = (
    f"{MARK}(engine, strength, area, core, suite): a requirement that a campaign judges, for instance"
    f" -m \"{MARK}(strength='must')\""
)
# The name that users type for `conformance.pytest_suites`, and the modules that it had once.
TYPED = re.compile(r"conformance\.suites(?=$|::|\.)")
GONE = re.compile(r"conformance\.pytest_suites\.test_(\w+)")
ASKED = re.compile(r"conformance\.pytest_suites($|::|\.)")
TABLE = "conformance_table"
NO_ENGINE = (
    "conformance: no engine is named, so there is nothing to test. Give --conformance-engine NAME, again for more, or"
    " name engines in the table [tool.conformance] of pyproject.toml. `conformance engines` lists them."
)
ENGINES = pytest.StashKey["tuple[CampaignEngine, ...]"]()
WORKER_INPUT = "conformance_campaign"
POLL = 0.5  # seconds between two looks at the progress that an xdist worker writes

OPTIONS = {
    "engine": ("NAME", "an engine to test; again for more. One must be named, here or in [tool.conformance]"),
    "profile": ("NAME|FILE", "dev, ci, gate or nightly, or a file of your own (default: dev)"),
    "part": ("NAME", "a part of the profile gate; again for more"),
    "suite": ("NAME", "lockstep, shared, crashes, races or examples; again for more"),
    "table": ("NAME", "one kind of the profile's histories alone; again for more"),
    "regressions": ("DIR", "histories to play first (default: regressions, if there is such a folder here)"),
    "baseline": ("FILE", "the summary.json of an earlier run: what it found counts as known"),
    "deviations": ("DIR", "causes of your own beside the known ones"),
    "budget": ("TIME", "a ceiling (90s, 4m, 1h30m); reached early, the run is inconclusive"),
    "examples": ("N", "histories a suite, in place of the profile's"),
    "steps": ("M", "steps a history"),
    "seed": ("S", "draw other histories, or the same again (default: the profile's own seed)"),
    "jobs": ("J", "chunks played at once (default: one a processor, at most 4)"),
    "max-findings": ("N", "end after N findings that no cause explains"),
    "out": ("DIR", "where the run's folder is made (default: conformance-results)"),
}
SEVERAL = {"engine", "part", "suite", "table"}


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options of `conformance run`. All begin with `--conformance-`, so that they collide with no other's."""
    group = parser.getgroup("conformance", "conformance of Delta Lake implementations")
    for name, (value, text) in OPTIONS.items():
        several: dict[str, Any] = {"action": "append", "default": []} if name in SEVERAL else {}
        group.addoption(f"--conformance-{name}", metavar=value, help=text, **several)


def pytest_configure(config: pytest.Config) -> None:
    """Have `--pyargs conformance.suites` collect `conformance.pytest_suites`, and register the marker."""
    config.addinivalue_line("markers", MARKER)
    if config.getoption("pyargs"):
        config.args[:] = [TYPED.sub("conformance.pytest_suites", argument) for argument in config.args]


@pytest.hookimpl(tryfirst=True)
def pytest_sessionstart(session: pytest.Session) -> None:
    """Plan the campaign before pytest collects and before xdist starts workers, so that a wrong option ends all."""
    config = session.config
    workerinput = getattr(config, "workerinput", None)
    if workerinput is not None:
        if WORKER_INPUT in workerinput:
            from conformance.pytest_suites.planned import Campaign  # noqa: PLC0415

            config.stash[CAMPAIGN] = CampaignSession(Campaign.from_json(workerinput[WORKER_INPUT]))
    elif _is_asked_for(config):
        _plan(config)
    elif any(given_options(config).values()):
        _engines(config)


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Give an xdist worker the campaign, which is planned once, and show here what the worker that plays it says."""
    stash = node.config.stash
    if CAMPAIGN in stash:
        campaign = stash[CAMPAIGN].campaign
        node.workerinput[WORKER_INPUT] = campaign.to_json()
        if not node.config.pluginmanager.has_plugin(ProgressTail.NAME):
            tail = ProgressTail(campaign.home, lambda line: _say(node.config, line))
            node.config.pluginmanager.register(tail, ProgressTail.NAME)


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(
    file_path: Path, parent: pytest.Collector
) -> Generator[None, list[pytest.Collector], list[CampaignFile] | list[pytest.Collector]]:
    """Collect the file of the campaign and none beside it, whatever `python_files` says of their names."""
    collectors = yield
    if file_path.parent != FILE.parent:
        return collectors
    if file_path != FILE:
        return []
    from conformance.pytest_suites.campaign import CampaignFile  # noqa: PLC0415

    return [CampaignFile.from_parent(parent, path=file_path)]


def pytest_collection_finish(session: pytest.Session) -> None:
    """Refuse tests that need an engine where none is named. Find out whether replays answer the selected tests."""
    config = session.config
    if config.stash.get(ENGINES, None) == () and not hasattr(config, "workerinput"):
        raise pytest.UsageError(NO_ENGINE)  # on a worker of xdist the fixture says it
    cache = getattr(config, "cache", None)
    if CAMPAIGN not in config.stash or cache is None:
        return
    from conformance.pytest_suites.campaign import CampaignTest, VerdictTest  # noqa: PLC0415
    from conformance.pytest_suites.replays import REMEMBERED, replays_of  # noqa: PLC0415

    own = config.stash[CAMPAIGN]
    tests = [item for item in session.items if isinstance(item, CampaignTest)]
    selected = {test.key for test in tests if not isinstance(test, VerdictTest)}
    own.replays = replays_of(own.campaign, cache.get(REMEMBERED, None), selected)
    if own.replays is not None:
        _say(config, own.replays.announcement)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Play the campaign before the first test that reads it, outside of that test's time limit and duration."""
    if CAMPAIGN in item.config.stash:
        from conformance.pytest_suites.campaign import CampaignTest  # noqa: PLC0415

        if isinstance(item, CampaignTest):
            _play(item.config)
    return (yield)


@pytest.hookimpl(tryfirst=True)
def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the verdict of the run, because passed tests alone are no verdict."""
    if CAMPAIGN not in terminalreporter.config.stash:
        return
    from conformance.pytest_suites.played import is_played, read_played  # noqa: PLC0415
    from conformance.reporting.terminal.final_summary import closing_lines  # noqa: PLC0415

    campaign = terminalreporter.config.stash[CAMPAIGN].campaign
    if not is_played(campaign):
        return
    played = read_played(campaign)
    terminalreporter.section("conformance")
    for line in [played.error] if played.error else []:
        terminalreporter.line(line)
    if played.results is not None and played.folder is not None:
        for line in closing_lines(played.results, played.folder / "report.html")[1:]:
            terminalreporter.line(line)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Have a test that uses `conformance_table` run once for each engine of the session, under its name."""
    if TABLE not in metafunc.fixturenames:
        return
    engines = _engines(metafunc.config)
    names = [engine.name for engine in engines] or ["no-engine"]
    metafunc.parametrize(TABLE, engines or [None], ids=names, indirect=True)


@pytest.fixture(scope="session")
def conformance_engines(request: pytest.FixtureRequest) -> Iterator[OwnEngines]:
    """The engines of the session, for `conformance_table`; each starts when a test first needs it."""
    from conformance.pytest_suites.own_histories import OwnEngines  # noqa: PLC0415
    from conformance.reporting.atomic_write import CannotWrite  # noqa: PLC0415
    from conformance.reporting.summary_json import SummaryError, baseline  # noqa: PLC0415
    from delta_adapters.deviations import BadCause  # noqa: PLC0415

    settings = _settings(request.config)
    try:
        known = baseline(settings.baseline) if settings.baseline else frozenset()
        engines = OwnEngines(_engines(request.config), settings.out, settings.deviations, known)
    except (SummaryError, BadCause, CannotWrite) as error:
        pytest.fail(f"conformance: {error}", pytrace=False)
    yield engines
    engines.close()


@pytest.fixture
def conformance_table(
    request: pytest.FixtureRequest, conformance_engines: OwnEngines
) -> Iterator[HistoryTable]:
    """A table of an engine under test. `play` has it do an operation, which the model judges at once.

    The test runs once for each engine of the session.
    """
    if request.param is None:
        pytest.fail(NO_ENGINE, pytrace=False)
    table = conformance_engines.table(request.param)
    yield table
    table.close()


def given_options(config: pytest.Config) -> dict[str, Any]:
    """The options of the plugin by the names that `conformance run` has for them."""
    return {name: config.getoption(f"conformance_{name.replace('-', '_')}") for name in OPTIONS}


class ExitCode:
    """Has pytest end as `conformance run` would, if the campaign alone failed: 1, 2 or 3.

    A test of another kind that failed makes it 1, and what pytest itself ends with otherwise stays.
    """

    def __init__(self) -> None:
        self._of_run: int | None = None
        self._others_failed = False

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note the exit code of the run, which the report of the verdict carries."""
        properties = dict(report.user_properties)
        if EXIT in properties and report.when == "call":
            self._of_run = int(str(properties[EXIT]))
        self._others_failed = self._others_failed or (report.failed and MARK not in properties)

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Replace the exit code of failed tests."""
        if session.exitstatus == pytest.ExitCode.TESTS_FAILED and self._of_run and not self._others_failed:
            session.exitstatus = self._of_run


class ProgressTail:
    """Shows on the terminal of xdist's controller what the worker that plays the campaign writes."""

    NAME = "conformance-progress"

    def __init__(self, home: Path, say: Callable[[str], None]) -> None:
        self._path = home / "progress"
        self._say = say
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._follow, name=self.NAME, daemon=True)
        self._thread.start()

    def pytest_sessionfinish(self) -> None:
        """Show no more."""
        self._over.set()
        self._thread.join()

    def _follow(self) -> None:
        shown = 0
        while not self._over.wait(POLL):
            if self._path.exists():
                whole, _, _ = self._path.read_text("utf-8").rpartition("\n")
                lines = whole.split("\n")[shown:] if whole else []
                for line in lines:
                    self._say(line)
                shown += len(lines)


def _is_asked_for(config: pytest.Config) -> bool:
    """Whether the arguments name the campaign. Raises UsageError for a module of it that is no more."""
    if not config.getoption("pyargs"):
        return any(
            Path(argument.partition("::")[0]).absolute() in {FILE, FILE.parent} for argument in config.args
        )
    for argument in config.args:
        if gone := GONE.match(argument):
            suite = gone[1].partition("::")[0]
            message = (
                f"conformance: {argument} is no module any more: a campaign is collected whole, a test for each"
                f" requirement of each engine. --conformance-suite {suite} plays one suite"
            )
            raise pytest.UsageError(message)
    return any(ASKED.match(argument) for argument in config.args)


def _plan(config: pytest.Config) -> None:
    """Plan the campaign of the session. Raises pytest's UsageError."""
    from conformance.cli.errors import UsageError  # noqa: PLC0415
    from conformance.pytest_suites.planned import plan_campaign  # noqa: PLC0415

    home = Path(tempfile.mkdtemp(prefix="conformance-pytest-"))
    config.add_cleanup(lambda: shutil.rmtree(home, ignore_errors=True))
    try:
        config.stash[CAMPAIGN] = CampaignSession(plan_campaign(given_options(config), home))
    except UsageError as error:
        message = f"conformance: {error}"
        raise pytest.UsageError(message) from error
    config.pluginmanager.register(ExitCode(), "conformance-exit")


def _settings(config: pytest.Config) -> argparse.Namespace:
    """The settings of `conformance run` that the options of the session mean. Raises pytest's UsageError."""
    from conformance.cli.errors import UsageError  # noqa: PLC0415
    from conformance.pytest_suites.planned import settings_of  # noqa: PLC0415

    try:
        return settings_of(given_options(config))
    except UsageError as error:
        message = f"conformance: {error}"
        raise pytest.UsageError(message) from error


def _engines(config: pytest.Config) -> tuple[CampaignEngine, ...]:
    """The engines of the session, with their names in tests. Raises pytest's UsageError."""
    if ENGINES not in config.stash:
        from conformance.pytest_suites.planned import campaign_engines  # noqa: PLC0415
        from delta_adapters.registry import UnknownEngine, parse_engine  # noqa: PLC0415

        try:
            specs = [parse_engine(engine) for engine in dict.fromkeys(_settings(config).engines)]
        except UnknownEngine as error:
            message = f"conformance: {error}"
            raise pytest.UsageError(message) from error
        config.stash[ENGINES] = tuple(campaign_engines(specs))
    return config.stash[ENGINES]


def _play(config: pytest.Config) -> None:
    """Play the campaign, or wait for the process that does, unless this session replays."""
    from conformance.pytest_suites.played import PROGRESS, play_once  # noqa: PLC0415
    from conformance.pytest_suites.replays import REMEMBERED, remembered  # noqa: PLC0415

    own = config.stash[CAMPAIGN]
    if own.played is not None or own.replays is not None:
        return
    on_worker = hasattr(config, "workerinput")

    def echo(line: str) -> None:
        if not on_worker:
            _say(config, line)
            return
        with (own.campaign.home / PROGRESS).open("a", encoding="utf-8") as progress:
            progress.write(f"{line}\n")

    own.played, mine = play_once(own.campaign, echo)
    cache = getattr(config, "cache", None)
    if mine and cache is not None:
        cache.set(REMEMBERED, remembered(own.campaign, own.played))


def _say(config: pytest.Config, line: str) -> None:
    """Print a line, between the dots of tests, unless pytest shall be quiet."""
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    if reporter is not None and config.get_verbosity() >= 0:
        reporter.ensure_newline()
        reporter.write_line(line)
