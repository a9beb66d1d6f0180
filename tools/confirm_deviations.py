"""Confirms the known deviations with nothing but their engine: a stand-alone script of each smallest history is run.

python tools/confirm_deviations.py [ENTRY | ENGINE...]    all, or those named; their rows go into reports/deviations.md

A script ends with 1 where the deviation shows, and with 2 where a person has to judge from what it prints.
Histories that need two engines, a fault, a race or a word that scripts do not have, have one in `tools/deviations` that
a person wrote: what the other engine leaves in the log is written there by hand. Those of delta-spark run one after
another on one JVM. Exit 1 if a script says that its deviation does not show, or if an entry has none.
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
sys.path.insert(0, str(ROOT))  # for the stage, which lives in the tests

from conformance.engine_pool import call_timeout  # noqa: E402
from conformance.execution.engine_session import EngineSession  # noqa: E402
from conformance.execution.step_result import StepResult  # noqa: E402
from conformance.execution.table_session import TableSession  # noqa: E402
from conformance.findings import Finding, key_of  # noqa: E402
from conformance.findings.known_deviations import known_deviation  # noqa: E402
from conformance.findings.scripts import scripts_for  # noqa: E402
from conformance.histories import History  # noqa: E402
from delta_adapters.delta_rs import DeltaRs  # noqa: E402
from delta_adapters.delta_spark import jars  # noqa: E402
from delta_adapters.deviations import Deviation, all_deviations  # noqa: E402
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
`delta_adapters/deviations/known`, as a program for its engine alone, without the harness. Scripts are made of the
history, but for those in `tools/deviations`, which were written by hand: for what needs two engines, a fault, a race,
or a person to judge. Where the script of a history does not show it, fails or is none, one by hand is
still to be written.

| entry | rule | script | it says | its last line |
|---|---|---|---|---|
"""
# Scripts one after another in one Python, and so on one JVM.
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
    """Run the scripts, and write what they say."""
    asked = [
        deviation
        for deviation in all_deviations()
        if deviation.engine in SCRIPTS and (not names or {deviation.name, deviation.engine} & set(names))
    ]
    scripts = {each.name: each for each in asked}
    texts = {name: script_of(script) for name, script in scripts.items()}
    on_spark = {name: text for name, (_, text) in texts.items() if text and scripts[name].engine == SPARK}
    told = dict(zip(on_spark, run_in_turn(list(on_spark.values())), strict=True)) if on_spark else {}
    rows = _rows_before()
    missing = 0
    for entry in asked:
        by_hand, text = texts[entry.name]
        code, last = NONE if text is None else told.get(entry.name) or run(text)
        missing += code in {0, 3}
        said = ANSWERS.get(code, f"exit {code}")
        origin = "by hand" if by_hand else "of the history"
        rows[entry.name] = f"| `{entry.name}` | `{entry.requirement}` | {origin} | {said} | {last} |"
        print(rows[entry.name])
    kept = [rows[deviation.name] for deviation in all_deviations() if deviation.name in rows]
    REPORT.write_text(HEAD + "\n".join(kept) + "\n", encoding="utf-8")
    return int(missing > 0)


def _rows_before() -> dict[str, str]:
    """The rows of the report as it is, by their entries."""
    lines = REPORT.read_text("utf-8").splitlines() if REPORT.exists() else []
    return {line.split("`")[1]: line for line in lines if line.startswith("| `")}


def script_of(entry: Deviation) -> tuple[bool, str | None]:
    """An entry's script, and whether a person wrote it; None where there is none."""
    written = WRITTEN / f"{entry.name.replace('-', '_')}.py"
    if written.exists():
        return True, written.read_text(encoding="utf-8")
    found = next(findings(entry, History.from_json(entry.history)), None)
    return False, None if found is None else scripts_for(found).get(SCRIPTS[entry.engine])


def run(text: str) -> tuple[int, str]:
    """The exit of a script and the line in which it says what it saw."""
    with tempfile.TemporaryDirectory(prefix="confirm-") as folder:
        path = Path(folder, "script.py")
        path.write_text(text, encoding="utf-8")
        done = subprocess.run(
            [sys.executable, "-P", str(path)],
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
            cwd=folder,
        )
    return _said(done.returncode, done.stdout, done.stderr)


def run_in_turn(texts: list[str]) -> list[tuple[int, str]]:
    """The same of scripts of delta-spark, on one JVM."""
    with tempfile.TemporaryDirectory(prefix="confirm-") as name:
        folder = Path(name)
        paths = [folder / f"script-{number}.py" for number in range(len(texts))]
        for path, text in zip(paths, texts, strict=True):
            path.write_text(text, encoding="utf-8")
        (folder / "in_turn.py").write_text(IN_TURN, encoding="utf-8")
        done = subprocess.run(
            [sys.executable, "-P", str(folder / "in_turn.py"), *map(str, paths)],
            capture_output=True,
            text=True,
            check=False,
            timeout=600,
            cwd=folder,
            env={**os.environ, "DELTA_JARS": ",".join(map(str, jars.resolve()))},
        )
    found, lines = [], []
    for line in done.stdout.splitlines():
        if line.startswith("ENDED "):
            code, _, why = line.removeprefix("ENDED ").partition(" ")
            found.append(_said(int(code), "\n".join(lines), why))
            lines = []
        else:
            lines.append(line)
    return found + [(3, (done.stderr.strip().splitlines() or [""])[-1])] * (len(texts) - len(found))


def _said(code: int, out: str, wrong: str) -> tuple[int, str]:
    """The exit, and the line in which it says what it saw; a script that breaks shows nothing."""
    last = (out.strip().splitlines() or [""])[-1]
    if code == 3 or (
        code == 1 and not last.startswith("DEVIATION: ")
    ):  # Python ends with 1 where a script breaks
        return 3, (wrong.strip().splitlines() or [last])[-1][:200]
    return code, last.replace("|", "\\|")[:200]


def findings(entry: Deviation, history: History) -> Iterator[Finding]:
    """What the harness finds in the smallest history; what the entry is named for comes first."""
    with tempfile.TemporaryDirectory(prefix="confirm-") as folder:
        table, operations = Path(folder) / "table", [step.operation for step in history.steps]
        played = (
            play(DeltaRs(), table, operations).result if entry.engine == RS else _on_spark(table, history)
        )
    seen = [(judged.observation, violation) for judged in played for violation in judged.violations]
    for each, violation in sorted(seen, key=lambda pair: pair[1].requirement != entry.requirement):
        key = key_of(each, violation)
        if known_deviation(key, history=history) == entry.name:
            yield Finding(
                key, "must", each.engine, "writer", each.step, "", violation.detail, history, violation.where,
                known=True, look=violation.read,
            )  # fmt: skip


def _on_spark(table: Path, history: History) -> list[StepResult]:
    """A history on delta-spark, in a host that all entries share."""
    host = _spark()
    desk = TableSession(
        table,
        [EngineSession(str(host.identity), host, host.capabilities, call_timeout(heavy=True))],
        1,
        "confirm",
    )
    judged = desk.open_all()
    for step in history.steps:
        judged += desk.execute(step)
    return judged


@cache
def _spark() -> HostClient:
    folder = tempfile.mkdtemp(prefix="confirm-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    host = HostClient.start(parse_engine(SPARK), Path(folder))
    atexit.register(host.kill)
    return host.ready()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
