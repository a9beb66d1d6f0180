"""`conformance needs`: say what a run has to find beside this package, for whoever sets its machine up."""

from __future__ import annotations

import argparse
import json
import os
import sys
from dataclasses import asdict, dataclass
from pathlib import Path

from conformance.cli.argument_types import one_of, profile, split_part
from conformance.cli.errors import UsageError
from conformance.cli.run import with_own_settings
from conformance.options import RunOptions
from conformance.reporting.atomic_write import CannotWrite
from conformance.reporting.github.outputs import set_outputs
from delta_adapters.registry import KNOWN, EngineSpec, UnknownEngine, parse_engine

HELP = """\
Usage: conformance needs [--engine NAME]... [--profile NAME[:PART]|FILE] [--part NAME]...
                         [--format NAME]

Says what a run with these options needs beside this package: which extras, and whether Java.
It starts and downloads nothing, so a machine can be set up by its answer.

  --engine, --profile, --part   as in `conformance run`
  --format NAME                 text (default), json, or github: outputs of a step
"""


@dataclass(frozen=True, slots=True)
class Needs:
    """What a run needs: extras of this package, and Java."""

    extras: tuple[str, ...]
    java: bool

    @property
    def requirement(self) -> str:
        """What pip installs."""
        return f"delta-conformance[{','.join(self.extras)}]" if self.extras else "delta-conformance"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `needs`."""
    parser.add_argument("--engine", action="append", default=[], dest="engines")
    parser.add_argument("--profile", type=profile)
    parser.add_argument("--part", action="append", default=[], dest="parts")
    parser.add_argument("--format", default="text", type=one_of("format", ("text", "json", "github")))


def execute(arguments: argparse.Namespace) -> int:
    """Print what the run needs."""
    # Nothing of the project's own settings but engines and profile decides what is needed.
    settings = argparse.Namespace(**vars(arguments), baseline=None, deviations=None, regressions=None)
    own = with_own_settings(settings)
    needs = needs_of(own.engines, own.profile, own.parts)
    if arguments.format == "json":
        sys.stdout.write(json.dumps(asdict(needs) | {"requirement": needs.requirement}) + "\n")
        return 0
    sys.stdout.write(f"pip install '{needs.requirement}'\n" + ("Java 17 or newer\n" if needs.java else ""))
    if arguments.format == "github":
        try:
            set_outputs({"extras": ",".join(needs.extras), "java": str(needs.java).lower()}, os.environ)
        except CannotWrite as error:
            raise UsageError(str(error)) from error
    return 0


def needs_of(engines: list[str], profile_name: str, parts: list[str]) -> Needs:
    """What the engines of a run need, the partners of shared tables among them. Raises UsageError."""
    from conformance.planning.plan import default_engines, selected_parts  # noqa: PLC0415 - --help needs no plan
    from conformance.planning.profile import PlanError, load_profile  # noqa: PLC0415 - as above

    name, part = split_part(profile_name)
    try:
        options = RunOptions(Path(), profile=name, parts=tuple(dict.fromkeys((*part, *parts))))
        partners = {part.partner for part in selected_parts(load_profile(name), options) if part.partner}
        specs = [parse_engine(engine) for engine in (*(engines or default_engines()), *sorted(partners))]
    except UnknownEngine as error:
        raise UsageError(str(error), "See: conformance engines") from error
    except PlanError as error:
        raise UsageError(str(error)) from error
    known = [(spec, KNOWN[spec.name]) for spec in specs if spec.name in KNOWN]
    extras = {engine.extra for spec, engine in known if engine.extra and not _elsewhere(spec)}
    return Needs(tuple(sorted(extras)), any(engine.java for _, engine in known))


def _elsewhere(spec: EngineSpec) -> bool:
    """Whether the harness makes an environment of its own for the engine."""
    return bool(KNOWN[spec.name].elsewhere) and (spec.version is not None or spec.path is not None)
