"""Makes `.venv` from `requirements.lock`, and mends it when it is stale.

`./dev` calls it with the Python of the machine, so it imports the standard library alone:

    environment.py fresh    exit 0 if `.venv` can be used as it is; changes nothing
    environment.py make     make or mend it, one process at a time
    environment.py check    say what this machine lacks; downloads nothing
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import threading
import time
import tomllib
from collections.abc import Iterator, Mapping
from enum import Enum
from pathlib import Path
from typing import Any, Self

ROOT = Path(__file__).resolve().parent.parent
JAVA_FINDER = ROOT / "adapters" / "delta_adapters" / "spark" / "java.py"

VENV_CURE = """\
    Debian, Ubuntu:  sudo apt install python3-venv
    Fedora:          sudo dnf install python3
    macOS:           brew install python@3.13\
"""
NETWORK_TROUBLE = re.compile(
    r"NewConnectionError|NameResolutionError|name resolution|Network is unreachable|ProxyError|"
    r"Connection refused|ConnectTimeout|ReadTimeout|dns error|Failed to fetch|error sending request",
)
# These would send an installation somewhere else than into `.venv`.
MISLEADING_VARIABLES = (
    "PIP_PREFIX",
    "PIP_REQUIRE_VIRTUALENV",
    "PIP_TARGET",
    "PIP_USER",
    "PYTHONHOME",
    "PYTHONPATH",
)
# pyspark is published as source only; to build it under the hashes of the lock file, these must be there before.
BUILDERS = ("packaging", "setuptools", "wheel")


class Unable(Exception):
    """Set-up can't go on; the text says why and what to type."""


class State(Enum):
    """The state of `.venv`, compared with its checkout."""

    FRESH = "fresh"
    MISSING = "missing"
    HALF_MADE = "half-made: its set-up was interrupted"
    MOVED = "made for another folder, and its scripts still point there"
    OTHER_PYTHON = "made for another Python than CONFORMANCE_PYTHON"
    OTHER_PACKAGES = "older than requirements.lock"
    OTHER_PROJECT = "older than pyproject.toml"


REMADE = {State.MISSING, State.HALF_MADE, State.MOVED, State.OTHER_PYTHON}


class Checkout:
    """A checkout of this repository, with the environment that belongs to it."""

    def __init__(self, root: Path = ROOT) -> None:
        self.root = root
        self.project = root / "pyproject.toml"
        self.lock = root / "requirements.lock"
        self.venv = root / ".venv"
        self.python = self.venv / "bin" / "python"
        self.log = self.venv / "set-up.log"
        self.stamp = self.venv / "made-from.json"

    def wanted(self) -> dict[str, str]:
        """Return what the stamp of a fresh environment holds."""
        project = tomllib.loads(self.project.read_text())
        # The settings of ruff, mypy and pytest install nothing.
        installed = [
            project.get("build-system"),
            project.get("project"),
            project.get("tool", {}).get("hatch"),
        ]
        return {
            "checkout": str(self.root),
            "requirements.lock": hashlib.sha256(self.lock.read_bytes()).hexdigest(),
            "pyproject.toml": hashlib.sha256(json.dumps(installed).encode()).hexdigest(),
        }

    def state(self) -> State:
        """Return the state of `.venv`: its stamp, which set-up writes last, is compared with the checkout."""
        if not self.venv.exists():
            return State.MISSING
        try:
            stamped = json.loads(self.stamp.read_text())
            version = subprocess.run(
                [self.python, "-I", "-c", "import sys; print('%d.%d' % sys.version_info[:2])"],
                check=True,
                capture_output=True,
                text=True,
            ).stdout.strip()
        except (OSError, ValueError, subprocess.CalledProcessError):
            return State.HALF_MADE
        if os.environ.get("CONFORMANCE_PYTHON") not in {None, "", version}:
            return State.OTHER_PYTHON
        wanted = self.wanted()
        for key, state in (
            ("checkout", State.MOVED),
            ("requirements.lock", State.OTHER_PACKAGES),
            ("pyproject.toml", State.OTHER_PROJECT),
        ):
            if stamped.get(key) != wanted[key]:
                return state
        return State.FRESH

    def make(self) -> None:
        """Bring `.venv` to the state FRESH. Raises `Unable`."""
        with _only_one(self.root / ".venv.lock"):
            state = self.state()
            if state is State.FRESH:
                return
            started = time.monotonic()
            _say(f"Setting up {self.venv}, which is {state.value}.")
            installer = Installer(self)
            if state in REMADE or not installer.can_mend():
                shutil.rmtree(self.venv, ignore_errors=True)
                installer.create()
            if state is not State.OTHER_PROJECT:
                self.stamp.unlink(missing_ok=True)
                installer.install_lock(mending=self.log.exists())
            installer.install_project()
            self.stamp.write_text(json.dumps(self.wanted(), indent=2) + "\n")
            _say(f"Ready after {time.monotonic() - started:.0f} s.")


class Installer:
    """Fills an environment: with uv if the machine has it, else with the environment's own pip."""

    def __init__(self, checkout: Checkout) -> None:
        self.checkout = checkout
        self.uv = shutil.which("uv")
        self.environment = {k: v for k, v in os.environ.items() if k not in MISLEADING_VARIABLES}
        # uv brings certificates of its own, and would not get through a proxy that the machine trusts.
        self.environment.setdefault("UV_SYSTEM_CERTS", "1")
        self.packages = _blocks(checkout.lock.read_text())

    def create(self) -> None:
        """Make the empty environment."""
        if self.uv:
            venv = [self.uv, "venv", "--quiet", "--python", sys.executable]
        elif _can_make_environments():
            venv = [sys.executable, "-m", "venv"]
        else:
            raise Unable(f"this Python ({sys.executable}) can't make environments.\n{VENV_CURE}")
        self._run([*venv, str(self.checkout.venv)])

    def can_mend(self) -> bool:
        """An environment that uv made holds no pip, and uv may be gone since."""
        return self.uv is not None or any(self.checkout.venv.glob("lib/python*/site-packages/pip"))

    def install_lock(self, *, mending: bool) -> None:
        """Install what the lock file names, and nothing that lacks one of its hashes; remove what it does not name."""
        _say(
            f"Exchanging what has changed among {len(self.packages)} packages."
            if mending
            else f"Installing {len(self.packages)} packages with {'uv' if self.uv else 'pip'}: about 650 MB to "
            "download, of it Spark 450; one to five minutes."
        )
        builders = self.checkout.venv / "builders.txt"
        builders.write_text("".join(self.packages[name] for name in BUILDERS))
        for requirements in (builders, self.checkout.lock):
            self._install("--require-hashes", "-r", str(requirements))
        self._remove_strangers()

    def install_project(self) -> None:
        """Install the checkout itself, editable."""
        _say("Installing delta-conformance itself, as an editable package.")
        self._install("--no-deps", "--editable", str(self.checkout.root))

    def _pip(self, action: str, *arguments: str) -> list[str]:
        python = str(self.checkout.python)
        if self.uv:
            return [self.uv, "pip", action, "--python", python, *arguments]
        return [python, "-m", "pip", "--disable-pip-version-check", action, *arguments]

    def _install(self, *arguments: str) -> None:
        quietly = () if self.uv else ("--progress-bar", "off", "--retries", "2")
        command = self._pip("install", *quietly, "--no-build-isolation", *arguments)
        seen: list[str] = []
        with (
            self.checkout.log.open("a") as log,
            subprocess.Popen(
                command,
                env=self.environment,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                stdin=subprocess.DEVNULL,
                text=True,
            ) as process,
            _Ticking() as ticking,
        ):
            for line in process.stdout or ():
                log.write(line)
                seen.append(line)
                if match := re.search(r"Collecting ([\w.-]+)==", line):
                    ticking.doing = match[1]
                elif match := re.search(r"Downloading ([\w.]+)-\S+ \((\d{2,}\.\d MB)\)", line):
                    ticking.doing = match[1]
                    _say(f"  {match[1]}, {match[2]}")
                elif "Installing collected packages: " in line and "pyspark" in line:
                    ticking.doing = "unpacking"
                    _say("  downloaded; unpacking")
        if process.returncode:
            raise Unable(self._explain("".join(seen)))

    def _remove_strangers(self) -> None:
        listed = self._run(self._pip("list", "--format=freeze")).splitlines()
        names = {re.split("[=@ ]", line)[0].lower().replace("_", "-") for line in listed}
        if strangers := names - set(self.packages) - {"pip", "delta-conformance"}:
            self._run(self._pip("uninstall", "-y", *sorted(strangers)))

    def _run(self, command: list[str]) -> str:
        """Run what is quick and needs no network, and return what it printed."""
        done = subprocess.run(command, env=self.environment, check=False, capture_output=True, text=True)
        if done.returncode:
            raise Unable(f"`{' '.join(command)}` failed:\n{done.stdout}{done.stderr}")
        return done.stdout

    def _explain(self, output: str) -> str:
        tail = "".join(f"  | {line}\n" for line in output.splitlines()[-12:])
        if NETWORK_TROUBLE.search(output):
            cause = "the package index could not be reached. Set-up needs the network once, or a proxy known to pip."
        elif "No space left on device" in output:
            cause = "the disk is full. The environment takes 1.2 GB, and half as much while it is made."
        else:
            cause = "a package could not be installed."
        return f"{cause}\n{tail}  The whole log: {self.checkout.log}\n  Mend it, then type the same command again."


def java_trouble(environment: Mapping[str, str] = os.environ) -> str | None:
    """Return what is wrong with the machine's Java and what to type, or None if Spark can run on it."""
    java = _java_finder()
    try:
        java.find_java(environment)
    except java.JavaError as error:
        cures = "\n".join(f"    {system + ':':<16} {line}" for system, line in java.CURES)
        return (
            f"Java {java.OLDEST} or newer is needed: {error}.\n  delta-spark and pyspark need it. The other engines run"
            f" without it, but a run then ends inconclusive (exit 3).\n{cures}"
        )
    return None


def _java_finder() -> Any:
    """Return the module that finds Java for engines. Nothing is installed yet, so it is loaded by its path."""
    spec = importlib.util.spec_from_file_location("java_finder", JAVA_FINDER)
    assert spec is not None and spec.loader is not None  # noqa: PT018, S101 - it is a file of Python
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # where dataclasses look for it
    spec.loader.exec_module(module)
    return module


def check() -> bool:
    """Say what this machine has and lacks, before anything is downloaded."""
    _say(f"Python {sys.version.split()[0]} at {sys.executable}: new enough.")
    possible = _can_make_environments() or shutil.which("uv") is not None
    _say("It can make environments." if possible else f"It can't make environments.\n{VENV_CURE}")
    trouble = java_trouble()
    _say(trouble or "Java: found, and new enough.")
    return possible and trouble is None


def _can_make_environments() -> bool:
    """Debian ships `venv` without the `ensurepip` that it needs."""
    return all(importlib.util.find_spec(name) for name in ("venv", "ensurepip"))


def _blocks(lock: str) -> dict[str, str]:
    """Split a lock file into name -> its lines: one requirement with its hashes, or several for several Pythons."""
    blocks: dict[str, str] = {}
    for block in re.findall(r"^[a-z0-9][^\n]*(?:\n[ \t]+--hash[^\n]*)+\n", lock, re.MULTILINE):
        name = re.split("[=;@ ]", block)[0]
        blocks[name] = blocks.get(name, "") + block
    return blocks


@contextlib.contextmanager
def _only_one(path: Path) -> Iterator[None]:
    """Hold a lock on this file; another process that asks for it waits until this one ends, however it ends."""
    with path.open("w") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            _say("Another ./dev is setting up .venv; waiting for it.")
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def _say(text: str) -> None:
    start = "\r\033[K" if sys.stderr.isatty() else ""
    print(f"{start}{text}", file=sys.stderr, flush=True)


class _Ticking:
    """On a terminal, one last line that shows what is being done and for how long; elsewhere nothing."""

    def __init__(self) -> None:
        self.doing = "starting"
        self._started = time.monotonic()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._tick, daemon=True)

    def __enter__(self) -> Self:
        if sys.stderr.isatty():
            self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        if self._thread.is_alive():
            self._thread.join()
            print("\r\033[K", end="", file=sys.stderr, flush=True)

    def _tick(self) -> None:
        while not self._over.wait(0.5):
            seconds = time.monotonic() - self._started
            print(f"\r\033[K  {self.doing} ({seconds:.0f} s)", end="", file=sys.stderr, flush=True)


def main(arguments: list[str]) -> int:
    """Do what the one argument says, and return the exit code."""
    checkout = Checkout()
    try:
        match arguments:
            case ["fresh"]:
                return 0 if checkout.state() is State.FRESH else 1
            case ["check"]:
                return 0 if check() else 1
            case ["make"]:
                if trouble := java_trouble():
                    _say(trouble)
                checkout.make()
                return 0
        _say(__doc__ or "")
    except Unable as error:
        _say(f"./dev: {error}")
    except OSError as error:
        _say(f"./dev: set-up can't go on: {error}")
    except KeyboardInterrupt:
        _say("./dev: stopped. A half-made .venv is made anew next time.")
        return 130
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
