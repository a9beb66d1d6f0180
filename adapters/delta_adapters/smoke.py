"""The least that tells a wrong adapter from a wrong engine: `python -m delta_adapters.smoke ENGINE...`.

It performs a few steps on one tiny table. Any working engine gives the same answer to each. Steps that the adapter does
not claim are left out. The test stops at the first other answer, and reports the step, the answer and the expected one.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from delta_adapters.environments import EnvironmentProblem
from delta_adapters.host_errors import HostError
from delta_adapters.registry import KNOWN, EngineSpec, UnknownEngine, parse_engine, prepare
from delta_models.expressions import Column, Compare, Literal
from delta_models.operations import Append, AtVersion, Create, Delete, Operation, Read
from delta_models.outcomes import Committed
from delta_models.schema import LONG, struct
from delta_models.values import Rows

if TYPE_CHECKING:
    import pyarrow as pa

    from delta_adapters.host_client import HostClient, ReadReply

SCHEMA = struct(("id", LONG), ("amount", LONG))
FIRST = Rows(SCHEMA, ((1, 10), (2, None)))
SECOND = Rows(SCHEMA, ((3, 30),))
TABLE = "smoke-test"  # the name of the folder of the table
NATIVE_SECONDS, JVM_SECONDS = 15.0, 30.0
TIMEOUT_VARIABLE = "CONFORMANCE_CALL_TIMEOUT"


class SmokeFailure(Exception):
    """A step of the smoke test got another answer than any working engine gives."""


@dataclass(frozen=True, slots=True)
class SmokeStep:
    """A step: its name, what is asked, and the rows that a read must find."""

    name: str
    ask: Operation
    expected: Rows | None = None


def steps(host: HostClient) -> Iterator[SmokeStep]:
    """The steps that the adapter of a host claims, in their order."""
    delete = Delete(Compare("=", Column(("amount",)), Literal(LONG, 10)))
    wanted = [
        SmokeStep("create", Create(SCHEMA)),
        SmokeStep("append", Append(FIRST)),
        SmokeStep("read back", Read(), FIRST),
        SmokeStep("append more", Append(SECOND)),
        SmokeStep("read with a filter", Read(where=Compare("=", Column(("id",)), Literal(LONG, 3))), SECOND),
        SmokeStep("read before the delete", Read(), Rows(SCHEMA, (*FIRST.rows, *SECOND.rows))),
        SmokeStep("travel back to the first rows", Read(AtVersion(1)), FIRST),
        SmokeStep("delete", delete),
        SmokeStep("read after the delete", Read(), Rows(SCHEMA, ((2, None), (3, 30)))),
    ]
    claims = host.capabilities.covers
    if any(claims(step.ask) for step in wanted[:2]):  # it makes no table that could be read
        wanted = []
    if claims(delete):
        wanted = wanted[:-2]
    yield from (step for step in wanted if claims(step.ask) is None)


def smoke(host: HostClient, folder: Path, within: float | None = None) -> None:
    """Perform the steps on a table at `folder`, within some seconds, the host's start included.

    Raises SmokeFailure, or the host's own HostError.
    """
    deadline = time.monotonic() + (time_limit(host.spec) if within is None else within)

    def left() -> float:
        return max(0.1, deadline - time.monotonic())

    host.ready(left())
    host.open(str(folder), left())
    for step in steps(host):
        problem = _problem(host, step, left())
        if problem is not None:
            raise SmokeFailure(f"{host.identity} fails its smoke test at: {step.name}. {problem}")


def time_limit(spec: EngineSpec) -> float:
    """Return how many seconds an engine has for its start and its smoke test.

    It is more on a machine with more to do than it has processors. `CONFORMANCE_CALL_TIMEOUT` in the environment
    replaces it.
    """
    configured = os.environ.get(TIMEOUT_VARIABLE)
    if configured:
        return float(configured)
    known = KNOWN.get(spec.name)
    busy = os.getloadavg()[0] / (os.cpu_count() or 1)
    return (JVM_SECONDS if known is not None and known.java else NATIVE_SECONDS) * max(1.0, busy)


def smoke_engine(spec: EngineSpec, work: Path) -> str:
    """Start a host, perform the steps, stop it, and return the engine's identity."""
    from delta_adapters.host_client import HostClient  # noqa: PLC0415 - loads pyarrow; who has a host has it already

    with HostClient.start(spec, work / "host") as host:
        smoke(host, work / TABLE)
        return str(host.identity)


def _problem(host: HostClient, step: SmokeStep, timeout: float) -> str | None:
    if step.expected is not None and isinstance(step.ask, Read):
        expected = sorted(step.expected.rows)
        rows = _rows(host.read(step.ask, timeout))
        return None if rows == expected else f"{step.ask} should find {expected}, and found {rows}"
    outcome = host.execute(step.ask, "smoke", timeout).outcome
    return None if outcome == Committed() else f"{step.ask} should be committed, and came to {outcome}"


def _rows(reply: ReadReply) -> object:
    if reply.table is None:
        return reply.outcome
    table: pa.Table = reply.table
    if table.column_names != list(SCHEMA.names):
        return f"columns {table.column_names}"
    return sorted(zip(*(table[name].to_pylist() for name in SCHEMA.names), strict=True))


def main(arguments: list[str] | None = None) -> int:
    """Return 0 if every named engine passes, 1 if one fails, 3 if one can't run here."""
    parser = argparse.ArgumentParser(
        prog="python -m delta_adapters.smoke", description=__doc__.splitlines()[0]
    )
    parser.add_argument("engine", nargs="+", help="an engine, as `conformance run --engine` takes it")
    worst = 0
    for text in parser.parse_args(arguments).engine:
        with tempfile.TemporaryDirectory(prefix="delta-smoke-") as work:
            worst = max(worst, _report(text, Path(work)))
    return worst


def _report(text: str, work: Path) -> int:
    try:
        spec = parse_engine(text)
        usable = prepare(spec)
        if not usable:
            print(f"{text}: can't run here: {usable.why}. {usable.cure}", file=sys.stderr)  # noqa: T201 - as below
            return 3
        print(f"{smoke_engine(spec, work)}: works")  # noqa: T201 - a command's answer
    except (UnknownEngine, EnvironmentProblem) as error:
        print(f"{text}: {error}", file=sys.stderr)  # noqa: T201 - a command's answer
        return 3
    except (SmokeFailure, HostError) as error:
        print(f"{text}: {error}", file=sys.stderr)  # noqa: T201 - a command's answer
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
