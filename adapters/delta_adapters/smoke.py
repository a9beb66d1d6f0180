"""The least that tells a wrong adapter from a wrong engine: `python -m delta_adapters.smoke ENGINE...`.

It performs a few steps on one tiny table. Any working engine gives the same answer to each. It stops at the first other
answer, and reports the step, the answer and the expected one.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa

from delta_adapters.environments import EnvironmentProblem
from delta_adapters.host_client import HostClient, ReadReply
from delta_adapters.host_errors import HostError
from delta_adapters.registry import EngineSpec, UnknownEngine, availability, parse_engine
from delta_models.expressions import Column, Compare, Literal
from delta_models.operations import Append, AtVersion, Create, Delete, Operation, Read
from delta_models.outcomes import Committed, Rejected
from delta_models.schema import LONG, STRING, struct
from delta_models.values import Rows

SCHEMA = struct(("id", LONG), ("letter", STRING))
FIRST = Rows(SCHEMA, ((1, "a"), (2, None)))
SECOND = Rows(SCHEMA, ((3, "c"),))
UNFIT = Rows(struct(("id", LONG), ("number", LONG), ("more", STRING)), ((4, 4, "d"),))
Step = tuple[str, Callable[[HostClient], str | None]]


class SmokeFailure(Exception):
    """A step of the smoke test got another answer than any working engine gives."""


def smoke(host: HostClient, folder: Path) -> None:
    """Perform the steps on a table at `folder`. Raises SmokeFailure, or the host's own HostError."""
    host.open(str(folder))
    for name, step in STEPS:
        problem = step(host)
        if problem is not None:
            raise SmokeFailure(f"{host.identity} fails its smoke test at: {name}. {problem}")


def smoke_engine(spec: EngineSpec, work: Path) -> str:
    """Start a host, perform the steps, stop it, and return the engine's identity."""
    with HostClient.start(spec, work / "host") as host:
        smoke(host, work / "table")
        return str(host.identity)


def _commits(operation: Operation) -> Callable[[HostClient], str | None]:
    def step(host: HostClient) -> str | None:
        outcome = host.execute(operation, "smoke").outcome
        return None if outcome == Committed() else f"{operation} should be committed, and came to {outcome}"

    return step


def _rejects(operation: Operation, kind: str) -> Callable[[HostClient], str | None]:
    def step(host: HostClient) -> str | None:
        outcome = host.execute(operation, "smoke").outcome
        if isinstance(outcome, Rejected) and outcome.kind == kind:
            return None
        return f"{operation} should be rejected as {kind!r}, and came to {outcome}"

    return step


def _reads(read: Read, *expected: Rows) -> Callable[[HostClient], str | None]:
    expected_rows = sorted(row for rows in expected for row in rows.rows)

    def step(host: HostClient) -> str | None:
        rows = _rows(host.read(read))
        return None if rows == expected_rows else f"{read} should find {expected_rows}, and found {rows}"

    return step


def _rows(reply: ReadReply) -> object:
    if reply.table is None:
        return reply.outcome
    table: pa.Table = reply.table
    if table.column_names != list(SCHEMA.names):
        return f"columns {table.column_names}"
    return sorted(zip(table["id"].to_pylist(), table["letter"].to_pylist(), strict=True))


STEPS: tuple[Step, ...] = (
    ("create", _commits(Create(SCHEMA))),
    ("append", _commits(Append(FIRST))),
    ("read back", _reads(Read(), FIRST)),
    ("append more", _commits(Append(SECOND))),
    ("refuse rows that do not fit the schema", _rejects(Append(UNFIT), "schema")),
    ("read with a filter", _reads(Read(where=Compare("=", Column(("id",)), Literal(LONG, 3))), SECOND)),
    ("delete", _commits(Delete(Compare("=", Column(("letter",)), Literal(STRING, "a"))))),
    ("read after the delete", _reads(Read(), Rows(SCHEMA, ((2, None), (3, "c"))))),
    ("travel back to the first rows", _reads(Read(AtVersion(1)), FIRST)),
)


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
        usable = availability(spec)
        if not usable:
            print(f"{text}: can't run here: {usable.why}. {usable.cure}")  # noqa: T201 - a command's answer
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
