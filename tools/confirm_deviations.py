"""Confirms the known deviations with nothing but their engine: a stand-alone script of each smallest history is run.

python tools/confirm_deviations.py [ENTRY...]     all of delta-rs, or those named; writes reports/deviations.md

A script ends with 1 where the deviation shows, and with 2 where a person has to judge from what it prints.
Histories that need two engines, a fault, a race or a word that scripts do not have, have one in `tools/deviations` that
a person wrote: what the other engine leaves in the log is written there by hand. Exit 1 if a script says that its
deviation does not show, or if an entry has none.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))  # for the stage, which lives in the tests

from conformance.findings import Finding, key_of  # noqa: E402
from conformance.findings.causes import known_deviation  # noqa: E402
from conformance.findings.scripts import scripts_for  # noqa: E402
from conformance.history import History  # noqa: E402
from delta_adapters.delta_rs import DeltaRs  # noqa: E402
from delta_adapters.deviations import Deviation, all_deviations  # noqa: E402
from tests.liars.stage import play  # noqa: E402

ENGINE = "delta-rs"
WRITTEN = ROOT / "tools" / "deviations"
SCRIPT = "script_delta_rs.py"
ANSWERS = {0: "DOES NOT SHOW", 1: "shows", 2: "a person judges", 3: "A STEP FAILED"}
HEAD = """# Known deviations of delta-rs, each by a script of its own

Written by `python tools/confirm_deviations.py`: the smallest history of each entry in
`delta_adapters/deviations/known`, as a program for deltalake alone, without the harness. Scripts are made of the
history, but for those in `tools/deviations`, which were written by hand: for what needs two engines, a fault, a race,
or a person to judge.

| entry | rule | script | it says | its last line |
|---|---|---|---|---|
"""


def main(names: list[str]) -> int:
    """Run the scripts, and write what they say."""
    lines = []
    missing = 0
    for entry in all_deviations():
        if entry.engine != ENGINE or (names and entry.name not in names):
            continue
        by_hand, text = script_of(entry)
        code, told = (3, "there is no script, and none in tools/deviations") if text is None else run(text)
        missing += code in {0, 3}
        said = ANSWERS.get(code, f"exit {code}")
        origin = "by hand" if by_hand else "of the history"
        lines.append(f"| `{entry.name}` | `{entry.requirement}` | {origin} | {said} | {told} |")
        print(lines[-1])
    if not names:
        (ROOT / "reports" / "deviations.md").write_text(HEAD + "\n".join(lines) + "\n", encoding="utf-8")
    return int(missing > 0)


def script_of(entry: Deviation) -> tuple[bool, str | None]:
    """An entry's script, and whether a person wrote it; None where there is none."""
    written = WRITTEN / f"{entry.name.replace('-', '_')}.py"
    if written.exists():
        return True, written.read_text(encoding="utf-8")
    found = next(findings(entry, History.from_json(entry.history)), None)
    return False, None if found is None else scripts_for(found).get(SCRIPT)


def run(text: str) -> tuple[int, str]:
    """The exit of a script and the line in which it says what it saw."""
    with tempfile.TemporaryDirectory(prefix="confirm-") as folder:
        path = Path(folder, SCRIPT)
        path.write_text(text, encoding="utf-8")
        done = subprocess.run(
            [sys.executable, "-P", str(path)],
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
            cwd=folder,
        )
    last = (done.stdout.strip().splitlines() or [""])[-1]
    if done.returncode == 1 and not last.startswith("DEVIATION: "):
        return 3, (done.stderr.strip().splitlines() or [last])[-1][
            :200
        ]  # Python ends so, too, where a script breaks
    return done.returncode, last.replace("|", "\\|")[:200]


def findings(entry: Deviation, history: History) -> Iterator[Finding]:
    """What the harness finds in the smallest history; what the entry is named for comes first."""
    with tempfile.TemporaryDirectory(prefix="confirm-") as folder:
        played = play(DeltaRs(), Path(folder) / "table", [each.operation for each in history.steps])
    seen = [(judged.seen, breach) for judged in played.judged for breach in judged.breaches]
    for each, breach in sorted(seen, key=lambda pair: pair[1].requirement != entry.requirement):
        key = key_of(each, breach)
        if known_deviation(key, history=history) == entry.name:
            yield Finding(
                key, "must", each.engine, "writer", each.step, "", breach.detail, history, breach.where,
                known=True, look=breach.read,
            )  # fmt: skip


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
