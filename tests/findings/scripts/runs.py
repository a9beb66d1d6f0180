"""Run stand-alone scripts where nothing of the project can be imported."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

from conformance.findings import Finding
from conformance.findings.scripts import scripts_for
from conformance.histories import History
from delta_adapters.deviations import Cause
from tests.findings.samples import finding

# Runs scripts one after another in one Python, and so in one JVM. A reader of a finding runs one alone.
IN_TURN = """
import os, sys
os._exit = sys.exit
for path in sys.argv[1:]:
    sys.argv, plain, ended = [path], sys.excepthook, 0
    try:
        exec(compile(open(path, encoding="utf-8").read(), path, "exec"), {"__name__": "__main__", "__file__": path,
             "__doc__": "It needs: pip install"})
    except SystemExit as end:
        ended = end.code
    except BaseException as error:
        try:
            sys.excepthook(type(error), error, error.__traceback__)
            ended = "nothing"
        except SystemExit as end:
            ended = end.code
    sys.excepthook = plain
    print(path, "ended with", ended, flush=True)
"""
BLOCKED = ("conformance", "delta_models", "delta_adapters")


def run(
    text: str,
    folder: Path,
    arguments: Sequence[str] = (),
    *,
    blocked: tuple[str, ...] = BLOCKED,
    environment: Mapping[str, str] = MappingProxyType({}),
    python: str = sys.executable,
) -> subprocess.CompletedProcess[str]:
    """Run a program in a process in which some modules can't be imported."""
    path = folder / "script.py"
    path.write_text(text, encoding="utf-8")
    nothing = folder / "blocked"
    for name in blocked:
        (nothing / name).mkdir(parents=True, exist_ok=True)
        message = f"No module named {name!r}"
        (nothing / name / "__init__.py").write_text(f"raise ModuleNotFoundError({message!r})")
    variables = {**os.environ, "PYTHONPATH": str(nothing), "TMPDIR": str(folder)} | dict(environment)
    return subprocess.run(
        [python, str(path), *arguments], capture_output=True, text=True, check=False, env=variables, timeout=900
    )  # fmt: skip


def endings(
    texts: Mapping[str, str], folder: Path, environment: Mapping[str, str] = MappingProxyType({})
) -> tuple[dict[str, str], str]:
    """The exit code of each script by its name, and all that was printed."""
    paths = {}
    for name, text in texts.items():
        paths[name] = folder / f"{name}.py"
        paths[name].write_text(text, encoding="utf-8")
    done = run(IN_TURN, folder, [*map(str, paths.values())], environment=environment)
    ended = dict(re.findall(r"^(.*) ended with (\S+)$", done.stdout, re.MULTILINE))
    return {name: ended.get(str(path), "never") for name, path in paths.items()}, done.stdout + done.stderr[
        -3000:
    ]


def script(of: Finding) -> str:
    """The one script of a finding."""
    (text,) = scripts_for(of).values()
    return text


def finding_of(cause: Cause, history: History | None = None, version: str | None = None) -> Finding:
    """A finding that a cause explains, or one like it with another history."""
    engine = f"{cause.engine}@{version}" if version else cause.engine
    found = finding(cause.requirement, engine=engine, history=history or History.from_json(cause.history))
    return replace(
        found,
        key=replace(found.key, engine=cause.engine, outcome=""),
        slots={slot: engine if name == cause.engine else name for slot, name in cause.slots.items()},
        detail="",
        state="known",
        cause=None if history else cause.id,
    )
