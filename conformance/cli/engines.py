"""`conformance engines`: list the engines, whether they can run here, and what they declare."""

from __future__ import annotations

import argparse
import json
import sys
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from conformance.cli.argument_types import one_of
from conformance.cli.describe import NotDescribed, describe
from conformance.reporting.text import one_line
from delta_adapters.engine_id import EngineId
from delta_adapters.registry import Availability, availability, engine_names, installed_version, parse_engine

HELP = """\
Usage: conformance engines [--format NAME]

Lists the engines by the names that `conformance run --engine` takes: which of them can run
here, if not why and what to type, and what each declares. NAME@VERSION asks for another
version than the installed one, which is then set up in an environment of its own. NAME@PATH
asks for a build that was not released: a wheel or a checkout of deltalake (delta-rs), a
folder with pyspark_delta (pyspark), or a JAR (delta-spark).

  --format NAME    text (default) or json
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `engines`."""
    parser.add_argument("--format", default="text", type=one_of("format", ("text", "json")))


@dataclass(frozen=True, slots=True)
class EngineListing:
    """One engine, with what is known without starting it."""

    name: str
    version: str | None
    available: Availability
    identity: dict[str, Any] = field(default_factory=dict)
    capabilities: dict[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """The JSON form."""
        return {
            "name": self.name,
            "version": self.version,
            "available": self.available.available,
            "why": self.available.why or None,
            "cure": self.available.cure or None,
            "homepage": self.identity.get("homepage"),
            "compatible_with": list(self.identity.get("compatible_with", ())),
            "capabilities": self.capabilities or None,
        }


def execute(arguments: argparse.Namespace) -> int:
    """List the engines; the exit code is always 0."""
    listings = [entry_of(name) for name in engine_names()]
    if arguments.format == "json":
        sys.stdout.write(
            json.dumps({"format": 1, "engines": [listing.to_json() for listing in listings]}, indent=1) + "\n"
        )
    else:
        sys.stdout.write("\n".join(line for listing in listings for line in lines_of(listing)))
    return 0


def entry_of(name: str) -> EngineListing:
    """The listing of one engine."""
    spec = parse_engine(name)
    available = availability(spec)
    version = installed_version(name)
    try:
        description = describe(spec.adapter)
    except NotDescribed as error:
        if available:
            available = Availability(available=False, why=str(error), cure="conformance doctor")
        return EngineListing(name, version, available)
    return EngineListing(
        name,
        description["identity"]["version"],
        available,
        description["identity"],
        description["capabilities"],
    )


def lines_of(entry: EngineListing) -> Iterator[str]:
    """The lines that describe an engine."""
    label = EngineId(entry.name, entry.version)
    if entry.available:
        yield f"{label}  can run here"
    else:
        yield f"{label}  can't run here: {one_line(entry.available.why)}"
        if entry.available.cure:
            yield f"  to mend it: {entry.available.cure}"
    if entry.identity.get("compatible_with"):
        yield f"  promises to be compatible with {', '.join(entry.identity['compatible_with'])}"
    for title, words in _declared(entry.capabilities):
        yield textwrap.fill(
            ", ".join(words) or "none", 92, initial_indent=f"  {title:<18}", subsequent_indent=" " * 20,
            break_on_hyphens=False,
        )  # fmt: skip
    yield ""


def _declared(document: dict[str, Any]) -> Iterator[tuple[str, list[str]]]:
    if not document:
        return
    yield "operations", list(document["operations"])
    yield "types", list(document["types"]["data"])
    yield "features read", list(document["features"]["read"])
    yield "features written", list(document["features"]["write"])
    yield "storages", list(document["storages"])
    promised = document["guarantees"]
    yield "promises", [guarantee for guarantee, holds in promised.items() if holds]
    yield "no promise of", [guarantee for guarantee, holds in promised.items() if not holds]
