"""`conformance doctor`: say what this machine lacks for a run, and the command that mends it."""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from conformance.cli.argument_types import one_of
from conformance.cli.errors import UsageError
from conformance.cli.run import DEFAULT_OUT
from conformance.reporting.text import one_line
from delta_adapters.environments import cache_folder
from delta_adapters.registry import KNOWN, availability, engine_names, java_availability, parse_engine

if TYPE_CHECKING:
    from conformance.triage.dead_causes import Examined

HELP = """\
Usage: conformance doctor [--smoke] [--causes] [--deviations DIR] [--format NAME]

Says what is missing on this machine, and the line that mends it.

  --smoke            also start each engine and drive it through a few steps
  --causes           also play the minimal history of each known cause, and say which fail
                     no more
  --deviations DIR   the same with causes of your own
  --format NAME      text (default) or json

Exit: 0 nothing is missing, 2 a run is not possible, 3 a run would be inconclusive.
"""

OK, NOTE, MISSING, IMPOSSIBLE = "ok", "note", "missing", "impossible"
EXITS = {OK: 0, NOTE: 0, MISSING: 3, IMPOSSIBLE: 2}
GIGABYTE = 2**30
OLDEST_PYTHON = (3, 11)


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """The state of one thing that a run needs, what is there, and what to type if it is missing."""

    name: str
    state: str
    seen: str
    cure: str = ""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `doctor`."""
    parser.add_argument("--smoke", action="store_true")
    parser.add_argument("--causes", action="store_true")
    parser.add_argument("--deviations", type=Path)
    parser.add_argument("--format", default="text", type=one_of("format", ("text", "json")))


def execute(arguments: argparse.Namespace) -> int:
    """Examine the machine, print the diagnoses and return the exit code of the worst."""
    diagnoses = list(examine(smoke=arguments.smoke))
    diagnoses += causes_examined(arguments.deviations, known=arguments.causes)
    if arguments.format == "json":
        sys.stdout.write(
            json.dumps({"format": 1, "findings": [asdict(diagnosis) for diagnosis in diagnoses]}, indent=1)
            + "\n"
        )
    else:
        sys.stdout.write("\n".join(line for diagnosis in diagnoses for line in lines_of(diagnosis)) + "\n")
    return max((EXITS[diagnosis.state] for diagnosis in diagnoses), key=(0, 3, 2).index)


def examine(*, smoke: bool = False) -> Iterator[Diagnosis]:
    """Examine everything that a run needs, one after the other."""
    yield _python()
    yield _java()
    yield _compiler()
    for name in engine_names():
        yield _engine(name)
    yield from _jars()
    yield _folder("results", DEFAULT_OUT, 0.2, "Give another folder with --out.")
    yield _folder("cache", cache_folder(), 0.5, "Set XDG_CACHE_HOME to a folder that you can write.")
    yield _folder(
        "temporary files", Path(tempfile.gettempdir()), 0.5, "Set TMPDIR to a folder that you can write."
    )
    if smoke:
        for name in engine_names():
            if availability(name):
                yield _smoke(name)


def causes_examined(own: Path | None, *, known: bool) -> list[Diagnosis]:
    """Say of each cause whether it is live in the installed engine. Raises UsageError for a malformed one."""
    if own is None and not known:
        return []
    from conformance.findings.catalogue import catalogue  # noqa: PLC0415 - only for causes
    from conformance.triage.dead_causes import examine_causes  # noqa: PLC0415 - the same
    from conformance.triage.liveness import Liveness  # noqa: PLC0415 - the same
    from delta_adapters.deviations import BadCause, all_causes  # noqa: PLC0415 - the same

    try:
        causes = [cause for cause in catalogue(own) if known or cause not in all_causes()]
    except BadCause as error:
        raise UsageError(f"--deviations: {error}") from error
    return [_cause(examined) for examined in examine_causes(causes, Liveness())]


def _cause(examined: Examined) -> Diagnosis:
    name = examined.cause.id
    if examined.live:
        return Diagnosis(name, OK, f"is live in {examined.cause.engine}")
    if examined.live is None:
        return Diagnosis(name, NOTE, one_line(examined.why))
    return Diagnosis(
        name, NOTE, f"fails no more: {one_line(examined.why)}",
        "It explains nothing there. Remove it, or keep it for the versions in which it is live.",
    )  # fmt: skip


def lines_of(diagnosis: Diagnosis) -> Iterator[str]:
    """A diagnosis as a line, or as two with its cure."""
    mark = {OK: "ok", NOTE: "note", MISSING: "MISSING", IMPOSSIBLE: "FAILS"}[diagnosis.state]
    yield f"{mark:<8} {diagnosis.name:<18} {diagnosis.seen}"
    if diagnosis.cure:
        yield f"{'':<8} {'':<18} {diagnosis.cure}"


def _python() -> Diagnosis:
    version = platform.python_version()
    if sys.version_info[:2] >= OLDEST_PYTHON:
        return Diagnosis("Python", OK, version)
    return Diagnosis(
        "Python", IMPOSSIBLE, f"{version}; 3.11 or newer is needed", "./dev run finds a newer one"
    )


def _java() -> Diagnosis:
    java = java_availability()
    if java:
        return Diagnosis("Java", OK, os.environ.get("JAVA_HOME") or shutil.which("java") or "found")
    return Diagnosis("Java", MISSING, f"{one_line(java.why)}. Engines on Spark can't run", java.cure)


def _compiler() -> Diagnosis:
    program = shutil.which("cc")
    if program:
        return Diagnosis("C compiler", OK, program)
    return Diagnosis(
        "C compiler", NOTE, "no cc on the PATH; tests of crashes and races will need one",
        "Debian, Ubuntu: sudo apt install gcc libc6-dev; Fedora: sudo dnf install gcc; macOS: xcode-select --install",
    )  # fmt: skip


def _engine(name: str) -> Diagnosis:
    engine = availability(name)
    if engine:
        return Diagnosis(name, OK, "can run here")
    return Diagnosis(name, MISSING if name in KNOWN else NOTE, one_line(engine.why), engine.cure)


def _jars() -> Iterator[Diagnosis]:
    if not availability("delta-spark"):
        return
    from delta_adapters.delta_spark.jars import cache_root, cached  # noqa: PLC0415 - asks for pyspark's version

    jars = cached()
    if jars:
        yield Diagnosis("delta-spark's JARs", OK, f"{len(jars)} files in {jars[0].parent}")
    else:
        yield Diagnosis(
            "delta-spark's JARs",
            NOTE,
            f"not fetched yet; the first run fetches about 90 MB into {cache_root()}",
        )


def _folder(name: str, folder: Path, gigabytes: float, cure: str) -> Diagnosis:
    """Diagnose whether a folder, or its nearest parent that exists, can be written and has room."""
    existing = folder.absolute()
    while not existing.exists() and existing != existing.parent:
        existing = existing.parent
    try:
        with tempfile.TemporaryFile(dir=existing) as file:
            file.write(b"x")
        free = shutil.disk_usage(existing).free / GIGABYTE
    except OSError as error:
        return Diagnosis(name, IMPOSSIBLE, f"{folder} can't be written: {error.strerror}", cure)
    if free < gigabytes:
        return Diagnosis(name, IMPOSSIBLE, f"{folder}: {free:.1f} GB free, {gigabytes} GB are needed", cure)
    return Diagnosis(name, OK, f"{folder}, {free:.0f} GB free")


def _smoke(name: str) -> Diagnosis:
    from delta_adapters.environments import EnvironmentProblem  # noqa: PLC0415 - only when asked for
    from delta_adapters.host_errors import HostError  # noqa: PLC0415 - the same
    from delta_adapters.smoke import SmokeFailure, smoke_engine  # noqa: PLC0415 - the same

    with tempfile.TemporaryDirectory(prefix="conformance-doctor-") as work:
        try:
            return Diagnosis(f"{name}, started", OK, f"{smoke_engine(parse_engine(name), Path(work))} works")
        except (SmokeFailure, HostError, EnvironmentProblem) as error:
            return Diagnosis(f"{name}, started", MISSING, one_line(str(error)))
