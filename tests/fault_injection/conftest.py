from __future__ import annotations

import contextlib
import os
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from conformance.fault_injection.controller import Turnstile
from conformance.fault_injection.instrumented_process import InstrumentedProcess
from delta_adapters.host_client import HostClient
from delta_adapters.registry import parse_engine

PROBE = Path(__file__).with_name("probe.c")


def compiled(folder: Path, *flags: str) -> Path:
    program = folder / "probe"
    subprocess.run(["cc", "-w", "-pthread", *flags, "-o", program, PROBE], check=True)
    return program


@pytest.fixture(scope="session")
def probe(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A plain C program that makes the calls which its arguments name."""
    return compiled(tmp_path_factory.mktemp("probe"))


@pytest.fixture(scope="session")
def static_probe(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same program, linked statically, so that no library can be preloaded."""
    return compiled(tmp_path_factory.mktemp("static-probe"), "-static")


@pytest.fixture
def turnstile(tmp_path: Path) -> Iterator[Turnstile]:
    with Turnstile(tmp_path / "turnstile", hold_seconds=30) as made:
        yield made


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """A folder that looks like a table's."""
    (tmp_path / "table" / "_delta_log").mkdir(parents=True)
    return tmp_path / "table"


@pytest.fixture
def instrumented_process(turnstile: Turnstile, table: Path) -> InstrumentedProcess:
    made = turnstile.add_process("A")
    made.watch(table)
    return made


@pytest.fixture
def start(probe: Path) -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Start the program as an instrumented process; kill it at the end if it still runs."""
    started: list[subprocess.Popen[str]] = []

    def begin(
        instrumented_process: InstrumentedProcess, *words: object, program: Path = probe
    ) -> subprocess.Popen[str]:
        environment = {**os.environ, **instrumented_process.environment()}
        process = subprocess.Popen(
            [program, *map(str, words)], env=environment, text=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        started.append(process)
        return process

    yield begin
    for process in started:
        process.kill()
        process.communicate()


@pytest.fixture
def run(start: Callable[..., subprocess.Popen[str]]) -> Callable[..., list[str]]:
    """Run the program as an instrumented process to its end, and return its lines."""

    def to_its_end(instrumented_process: InstrumentedProcess, *words: object, **options: Path) -> list[str]:
        return start(instrumented_process, *words, **options).communicate(timeout=60)[0].splitlines()

    return to_its_end


@dataclass(frozen=True)
class Engine:
    """A delta-rs behind a turnstile."""

    turnstile: Turnstile
    instrumented_process: InstrumentedProcess
    host: HostClient

    def open(self, table: Path) -> None:
        """Open this table, with nothing of it in memory."""
        if not self.host.alive:
            self.host.restart()
        self.instrumented_process.watch(table)
        self.host.open(str(table))


@pytest.fixture(scope="session")
def engines(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Engine, Engine]]:
    """Two of them for all tests, since a start is what takes long."""
    folder = tmp_path_factory.mktemp("engines")
    with Turnstile(folder / "turnstile", hold_seconds=120) as turnstile, contextlib.ExitStack() as stack:
        made = []
        for name in ("A", "B"):
            instrumented_process = turnstile.add_process(name)
            host = HostClient.start(
                parse_engine("delta-rs"), folder / name, environment=instrumented_process.environment()
            )
            made.append(Engine(turnstile, instrumented_process, stack.enter_context(host)))
        for engine in made:
            engine.host.ready()
            engine.instrumented_process.check_instrumented()
        yield made[0], made[1]
