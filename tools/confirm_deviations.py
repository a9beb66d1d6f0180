"""Confirms the known deviations without the harness: runs a stand-alone script of each smallest history.

python tools/confirm_deviations.py [ENTRY | ENGINE...]    all, or those named; their rows go into reports/deviations.md

A script exits with 1 if the deviation shows, and with 2 if a person has to judge from its output. If a history needs
two engines, a fault, a race or an operation that scripts do not have, a person wrote its script in `tools/deviations`.
Such a script writes the other engine's part of the log itself. Scripts of delta-spark run one after another on one JVM.

What the installed version has mended is run in the version that the entry names (`shown_in`), in an environment of its
own.

Exit 1 if a deviation does not show, or if an entry has no script.
"""

from __future__ import annotations

import atexit
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))  # the stage is part of the tests

from conformance.engine_pool import call_timeout  # noqa: E402
from conformance.execution.engine_session import EngineSession  # noqa: E402
from conformance.execution.step_result import StepResult  # noqa: E402
from conformance.execution.table_session import TableSession  # noqa: E402
from conformance.findings import Finding, candidate_causes, key_of  # noqa: E402
from conformance.findings.scripts import scripts_for  # noqa: E402
from conformance.histories import History  # noqa: E402
from delta_adapters.delta_rs import DeltaRs  # noqa: E402
from delta_adapters.delta_spark import jars  # noqa: E402
from delta_adapters.deviations import Cause, all_causes  # noqa: E402
from delta_adapters.environments import ensure_environment  # noqa: E402
from delta_adapters.host_client import HostClient  # noqa: E402
from delta_adapters.registry import parse_engine  # noqa: E402
from tests.mutants.stage import play  # noqa: E402

RS, SPARK = "delta-rs", "delta-spark"
SCRIPTS = {RS: "script_delta_rs.py", SPARK: "script_delta_spark.py"}
REPORT = ROOT / "reports" / "deviations.md"
WRITTEN = ROOT / "tools" / "deviations"
ANSWERS = {0: "DOES NOT SHOW", 1: "shows", 2: "a person judges", 3: "A STEP FAILED"}
NONE = (3, "there is no script, and none in tools/deviations")
HEAD = """# Known deviations of released engines, each by a script of its own

Written by `python tools/confirm_deviations.py`: the smallest history of each entry in
`delta_adapters/deviations/known`, as a program for its engine alone, without the harness. The harness makes a script
from the history. If the history needs two engines, a fault, a race, or a person to judge, a person wrote the script in
`tools/deviations`. If a script fails, does not show the deviation, or is missing, a person has yet to write one.

| entry | rule | script | it says | its last line |
|---|---|---|---|---|
"""
# Runs scripts one after another in one Python process, and so on one JVM.
IN_TURN = """
import os, runpy, sys
os._exit = sys.exit
for path in sys.argv[1:]:
    try:
        runpy.run_path(path, run_name="__main__")
        ended = 0
    except SystemExit as end:
        ended = end.code or 0
    except BaseException as error:
        ended = f"3 {type(error).__name__}: {error}".splitlines()[0]
    print("ENDED", ended, flush=True)
"""


def main(names: list[str]) -> int:
    """Run the scripts and write the report. Return 1 if one shows nothing or is missing."""
    entries = [
        cause
        for cause in all_causes()
        if cause.engine in SCRIPTS and (not names or {cause.id, cause.engine} & set(names))
    ]
    by_name = {entry.id: entry for entry in entries}
    texts = {name: script_of(entry) for name, entry in by_name.items()}
    on_spark = {name: text for name, (_, text) in texts.items() if text and by_name[name].engine == SPARK}
    answers = dict(zip(on_spark, run_in_turn(list(on_spark.values())), strict=True)) if on_spark else {}
    rows = _rows_before()
    missing = 0
    for entry in entries:
        by_hand, text = texts[entry.id]
        code, last = NONE if text is None else answers.get(entry.id) or run(text, python_for(entry))
        missing += code in {0, 3}
        answer = ANSWERS.get(code, f"exit {code}")
        origin = "by hand" if by_hand else "of the history"
        rows[entry.id] = f"| `{entry.id}` | `{entry.requirement}` | {origin} | {answer} | {last} |"
        print(rows[entry.id])
    kept = [rows[cause.id] for cause in all_causes() if cause.id in rows]
    REPORT.write_text(HEAD + "\n".join(kept) + "\n", encoding="utf-8")
    return int(missing > 0)


def _rows_before() -> dict[str, str]:
    """Return the rows of the present report, by their entries."""
    lines = REPORT.read_text("utf-8").splitlines() if REPORT.exists() else []
    return {line.split("`")[1]: line for line in lines if line.startswith("| `")}


def script_of(entry: Cause) -> tuple[bool, str | None]:
    """Return whether a person wrote the script of an entry, and the script, or None if there is none."""
    written = WRITTEN / f"{entry.id.replace('-', '_')}.py"
    if written.exists():
        return True, written.read_text(encoding="utf-8")
    finding = next(findings(entry, History.from_json(entry.history)), None)
    return False, None if finding is None else scripts_for(finding).get(SCRIPTS[entry.engine])


def python_for(entry: Cause) -> str:
    """The Python whose packages include the version that shows an entry."""
    return str(ensure_environment(parse_engine(entry.spec))) if entry.shown_in else sys.executable


def run(text: str, python: str = sys.executable) -> tuple[int, str]:
    """Run a script. Return its exit code and the line that says what it observed."""
    with tempfile.TemporaryDirectory(prefix="confirm-") as folder:
        path = Path(folder, "script.py")
        path.write_text(text, encoding="utf-8")
        completed = subprocess.run(
            [python, "-P", str(path)],
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
            cwd=folder,
        )
    return _answer_of(completed.returncode, completed.stdout, completed.stderr)


def run_in_turn(texts: list[str]) -> list[tuple[int, str]]:
    """Run scripts of delta-spark on one JVM. Return the same for each of them."""
    with tempfile.TemporaryDirectory(prefix="confirm-") as name:
        folder = Path(name)
        paths = [folder / f"script-{number}.py" for number in range(len(texts))]
        for path, text in zip(paths, texts, strict=True):
            path.write_text(text, encoding="utf-8")
        (folder / "in_turn.py").write_text(IN_TURN, encoding="utf-8")
        completed = subprocess.run(
            [sys.executable, "-P", str(folder / "in_turn.py"), *map(str, paths)],
            capture_output=True,
            text=True,
            check=False,
            timeout=600,
            cwd=folder,
            env={**os.environ, "DELTA_JARS": ",".join(map(str, jars.resolve()))},
        )
    answers: list[tuple[int, str]] = []
    lines: list[str] = []
    for line in completed.stdout.splitlines():
        if line.startswith("ENDED "):
            code, _, why = line.removeprefix("ENDED ").partition(" ")
            answers.append(_answer_of(int(code), "\n".join(lines), why))
            lines = []
        else:
            lines.append(line)
    return answers + [(3, (completed.stderr.strip().splitlines() or [""])[-1])] * (len(texts) - len(answers))


def _answer_of(code: int, output: str, errors: str) -> tuple[int, str]:
    """Return the exit code and the line that says what the script observed. A script that breaks shows nothing."""
    lines = output.strip().splitlines() or [""]
    told = [
        line for line in lines if line.startswith("DEVIATION: ")
    ]  # what an engine said may have more lines
    last = (told or lines)[-1]
    if code == 3 or (
        code == 1 and not last.startswith("DEVIATION: ")
    ):  # Python exits with 1 if a script breaks
        return 3, (errors.strip().splitlines() or [last])[-1][:200]
    return code, last.replace("|", "\\|")[:200]


def findings(entry: Cause, history: History) -> Iterator[Finding]:
    """Yield the findings of the smallest history, those of the entry's own requirement first."""
    with tempfile.TemporaryDirectory(prefix="confirm-") as folder:
        table, operations = Path(folder) / "table", [step.operation for step in history.steps]
        if entry.engine == SPARK or entry.shown_in:
            played = _in_a_host(entry.spec, table, history)
        else:
            played = play(DeltaRs(), table, operations).result
    violations = [(result.observation, violation) for result in played for violation in result.violations]
    for observation, violation in sorted(
        violations, key=lambda pair: pair[1].requirement != entry.requirement
    ):
        key = key_of(observation, violation)
        if candidate_causes(observation, violation, history, (entry,)):
            yield Finding(
                key, "must", observation.engine, "writer", observation.step, "", violation.detail, history,
                violation.where, known=True, look=violation.read,
            )  # fmt: skip


def _in_a_host(spec: str, table: Path, history: History) -> list[StepResult]:
    """Play a history on an engine, in a host that all its entries share."""
    host = _host(spec)
    table_session = TableSession(
        table,
        [EngineSession(str(host.identity), host, host.capabilities, call_timeout(on_jvm=spec == SPARK))],
        1,
        "confirm",
    )
    results = table_session.open_all()
    for step in history.steps:
        results += table_session.execute(step)
    return results


@cache
def _host(spec: str) -> HostClient:
    folder = tempfile.mkdtemp(prefix="confirm-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    host = HostClient.start(parse_engine(spec), Path(folder))
    atexit.register(host.kill)
    return host.ready()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
