"""`conformance run`: check the options, plan the run, play it, and print its verdict."""

from __future__ import annotations

import argparse
import os
import sys
import traceback
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from conformance.cli.argument_types import duration, one_of, positive, profile, seed, split_part
from conformance.cli.errors import UsageError
from conformance.cli.output_format import FORMATS, listen
from conformance.events.types import HarnessFault, Interrupted
from conformance.options import STORAGES, SUITES, RunOptions
from conformance.reporting import summary_json
from conformance.reporting.atomic_write import CannotWrite
from conformance.reporting.run_folder import new_run_folder
from conformance.reporting.terminal.final_summary import closing_lines
from conformance.signals import stoppable, undisturbed

if TYPE_CHECKING:
    from conformance.planning.plan import Plan
    from conformance.reporting.recorder import Recorder

DEFAULT_PROFILE = "ci"
DEFAULT_OUT = Path("conformance-results")
MOST_JOBS = 4  # each may hold a JVM

HELP = """\
Usage: conformance run [OPTIONS]

Plays drawn histories on engines, judges every step, and writes a report.

What is tested:
  --engine NAME[@VERSION|@PATH]
                            an engine; again for more. PATH is a wheel, a checkout or a JAR: an
                            unreleased build. One that can't be tested ends the run at once.
                            Default: delta-rs and delta-spark; if one of them can't run here,
                            the run is inconclusive
  --engine MODULE:CLASS     an adapter of your own; also FILE.py:CLASS
  --engine 'NAME=COMMAND'   a program that speaks the host protocol (docs/host-protocol.md)
  --suite NAME              lockstep, shared, crashes, races or examples; again for more.
                            Default: all of the profile
  --profile NAME[:PART]|FILE
                            dev, ci, gate or nightly: how much, and the core by which the exit
                            is judged; or a file of your own that ends with .toml. gate is for
                            the CI of an engine: what it claims, in pairs. Default: ci
  --part NAME               a part of the profile gate: core, sql, features, crashes, races or
                            shared; again for more. Default: all
  --table NAME              one kind of the profile's histories alone, whole on every engine: a
                            table profile (vectors, evolving), a group of committed stories
                            (again, streams), or plain; again for more; a wrong name lists all.
                            A part of a profile has no core: inconclusive at best
  --storage NAME            where the tables are: local
  --regressions DIR         kept findings, whose histories are played first. Default: the
                            folder regressions, if there is one here
  --baseline FILE           the summary.json of an earlier run: what it found counts as known,
                            on any seed, machine and version
  --deviations DIR          causes of your own beside the known ones (docs/writing-a-cause.md)

How much:
  --budget TIME             a ceiling (90s, 4m, 1h30m); reached early, the run is inconclusive
  --examples N              histories a suite, in place of the profile's plan
  --steps M                 steps a history
  --max-findings N          end after N findings that no cause explains
  --jobs J                  chunks played at once. Default: one a processor, at most 4
  --seed S                  draw other histories. Default: the profile's own, or a new one

Where it goes:
  --out DIR                 the run makes a new folder in it, and the link `latest` points at
                            that. Default: conformance-results
  --format NAME             pretty (the default on a terminal), plain, json: an event a line,
                            or github: plain, with annotations and a summary of the job

The table [tool.conformance] of a pyproject.toml may say engines, profile, baseline,
deviations and regressions, for runs that do not.

Exit: 0 all of the core holds, 1 a requirement is violated, 2 the harness or what was asked
is at fault, 3 inconclusive, 130 stopped by Ctrl-C.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `run`."""
    parser.add_argument("--engine", action="append", default=[], dest="engines")
    parser.add_argument("--suite", action="append", default=[], dest="suites", type=one_of("suite", SUITES))
    parser.add_argument("--profile", type=profile)
    parser.add_argument("--part", action="append", default=[], dest="parts")
    parser.add_argument("--table", action="append", default=[], dest="tables")
    parser.add_argument("--storage", default="local", type=one_of("storage", STORAGES))
    parser.add_argument("--regressions", type=Path)
    parser.add_argument("--baseline", type=Path)
    parser.add_argument("--deviations", type=Path)
    parser.add_argument("--budget", type=duration)
    parser.add_argument("--examples", type=positive)
    parser.add_argument("--steps", type=positive)
    parser.add_argument("--max-findings", type=positive)
    parser.add_argument("--jobs", type=positive, default=min(_processors(), MOST_JOBS))
    parser.add_argument("--seed", type=seed)
    parser.add_argument("--out", type=Path, default=DEFAULT_OUT)
    parser.add_argument("--format", type=one_of("format", FORMATS))


def execute(arguments: argparse.Namespace) -> int:
    """Run, report, and return the exit code of the verdict."""
    options, plan = options_and_plan(with_own_settings(arguments))
    return carry_out(options, plan, arguments.format)


def carry_out(options: RunOptions, plan: Plan, form: str | None) -> int:
    """Play a plan, show it in a format, report, and return the exit code of the verdict. Raises UsageError."""
    from conformance.reporting.recorder import Recorder  # noqa: PLC0415 - loads the model; --help shall not wait for it

    try:
        recorder = Recorder(options.folder)
    except CannotWrite as error:
        raise UsageError(str(error)) from error
    listener = listen(form, sys.stdout)
    recorder.bus.add(listener)
    try:
        play(options, plan, recorder)
        with undisturbed():
            results = recorder.finish() if recorder.began else None
    except CannotWrite as error:
        raise UsageError(str(error)) from error
    finally:
        listener.close()
    if results is None:
        raise UsageError("the run ended before it began", "Nothing was tested; the folder holds no report.")
    report = options.folder / "report.html"
    if form == "github":
        from conformance.reporting.github.job import conclude  # noqa: PLC0415 - loads the model, as Recorder does

        try:
            conclude(results, options.folder, sys.stdout, os.environ, report)
        except CannotWrite as error:
            raise UsageError(str(error)) from error
    elif form != "json":
        sys.stdout.write("\n".join(closing_lines(results, report)) + "\n")
    return results.outcome.exit


def with_own_settings(arguments: argparse.Namespace) -> argparse.Namespace:
    """The arguments, with what the project's own pyproject.toml says where they say nothing. Raises UsageError."""
    from conformance.planning.own_settings import own_settings  # noqa: PLC0415 - --help needs no settings
    from conformance.planning.profile import PlanError  # noqa: PLC0415 - as above

    try:
        own = own_settings(Path.cwd())
    except PlanError as error:
        raise UsageError(str(error)) from error
    return argparse.Namespace(
        **{
            **vars(arguments),
            "engines": arguments.engines or list(own.engines),
            "profile": arguments.profile or own.profile or DEFAULT_PROFILE,
            "baseline": arguments.baseline or own.baseline,
            "deviations": arguments.deviations or own.deviations,
            "regressions": arguments.regressions or own.regressions,
        }
    )


def options_and_plan(arguments: argparse.Namespace) -> tuple[RunOptions, Plan]:
    """The options of the run, checked, its plan, and its folder made. Raises UsageError."""
    options, plan = checked_options(arguments)
    try:
        folder = new_run_folder(arguments.out)
    except CannotWrite as error:
        raise UsageError(str(error)) from error
    return replace(options, folder=folder), plan


def checked_options(arguments: argparse.Namespace) -> tuple[RunOptions, Plan]:
    """The options of the run, checked, and its plan. Nothing is written. Raises UsageError."""
    from conformance.planning.kept import kept_folder  # noqa: PLC0415 - --help needs no plan
    from conformance.planning.plan import plan_run, seed_of_run  # noqa: PLC0415 - --help needs no plan
    from conformance.planning.profile import PlanError  # noqa: PLC0415 - --help needs no plan
    from delta_adapters.deviations import BadCause  # noqa: PLC0415 - nor causes
    from delta_adapters.registry import UnknownEngine, parse_engine  # noqa: PLC0415 - and no engine

    if arguments.budget is not None and arguments.examples is not None:
        raise UsageError("--budget and --examples are two ways to say how much", "Give one of them.")
    profile_name, part = split_part(arguments.profile)
    try:
        engines = tuple(dict.fromkeys(str(parse_engine(engine)) for engine in arguments.engines))
        run_seed = seed_of_run(profile_name, arguments.seed)
    except UnknownEngine as error:
        raise UsageError(str(error), "See: conformance engines") from error
    except PlanError as error:
        raise UsageError(str(error)) from error
    options = RunOptions(
        folder=arguments.out,
        engines=engines,
        suites=tuple(dict.fromkeys(arguments.suites)),
        tables=tuple(dict.fromkeys(arguments.tables)),
        profile=profile_name,
        parts=tuple(dict.fromkeys((*part, *arguments.parts))),
        seed=run_seed,
        budget=arguments.budget,
        examples=arguments.examples,
        steps=arguments.steps,
        jobs=arguments.jobs,
        storage=arguments.storage,
        max_findings=arguments.max_findings,
        deviations=arguments.deviations,
        command=("conformance", *sys.argv[1:]),
        regressions=kept_folder(arguments.regressions),
    )
    try:
        known = summary_json.baseline(arguments.baseline) if arguments.baseline else frozenset()
    except summary_json.SummaryError as error:
        raise UsageError(str(error)) from error
    if arguments.deviations is not None:
        from conformance.findings.catalogue import catalogue  # noqa: PLC0415 - loads all checks

        try:
            catalogue(arguments.deviations)
        except BadCause as error:
            raise UsageError(f"--deviations: {error}") from error
    try:
        plan = plan_run(options)  # last of what can be wrong with the options, because it takes a second
    except PlanError as error:
        raise UsageError(str(error)) from error
    return replace(options, known=known), plan


def play(options: RunOptions, plan: Plan, recorder: Recorder) -> None:
    """Play the plan, and turn what ends it early into an event, so that the record has a proper end."""
    from conformance.runner.coordinator import run_plan  # noqa: PLC0415 - loads Hypothesis; --help shall not wait for it

    try:
        with stoppable(recorder.bus.interrupt, ignore_afterwards=True):
            run_plan(options, plan, recorder.bus)
    except KeyboardInterrupt as stop:
        recorder.bus.emit(Interrupted(str(stop) or "SIGINT"))
    except CannotWrite:
        raise
    except Exception as error:
        if not recorder.began:
            raise
        recorder.bus.emit(HarnessFault(f"{type(error).__name__}: {error}", traceback.format_exc()))


def _processors() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
