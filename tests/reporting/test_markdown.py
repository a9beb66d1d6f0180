"""`report.md`, a comment on a pull request, says the same as the page, and no text can break it."""

from __future__ import annotations

import re

from conformance.events.types import EngineUnavailable
from conformance.reporting.markdown import code, escape, text, write
from tests.reporting.samples import FINDING, NASTY, big_run, results_of, small_run

HOLDS = """\
## ✅ HOLDS: all of the core holds


delta-conformance 0.1.0, profile dev, seed 1: 300 steps in 12 histories, 12 s.

| Engine | Operations | holds | violated | differs | known-deviation | not-guaranteed | unsupported | not-enough-evidence |
|---|---:|---:|---:|---:|---:|---:|---:|---:|
| delta\\-rs@\u20601.6.6 | 732 | 1 | 0 | 0 | 0 | 0 | 0 | 1 |

<details><summary>Requirements and engines</summary>

| Requirement | Class | delta\\-rs@\u20601.6.6 |
|---|---|---|
| `contents.vacuum` | must | ⬜ 1 in 1 |
| `contents.rows` | unlisted | ✅ 300 in 12 **core** |

✅ holds, ❌ violated, 🟧 differs, 🟪 known-deviation, ⚪ not-guaranteed, 🚫 unsupported, ⬜ not-enough-evidence; with checks and histories.

</details>
"""  # noqa: E501 - as it is written


def test_a_run_that_holds_is_shown_in_a_table():
    assert text(results_of(*small_run())) == HOLDS


def test_a_finding_is_shown_with_the_command_that_replays_it():
    report = text(results_of(*small_run(FINDING)))
    assert "## ❌ VIOLATED" in report
    assert "- **`log.remove-names-live-file`** (must) on delta\\-rs@\u20601.6.6: " in report
    assert "`conformance replay run/findings/9f3c21aa`" in report


def test_an_unavailable_engine_is_shown_with_the_reason():
    report = text(results_of(*small_run(EngineUnavailable("delta-spark", "no Java"))))
    assert "| delta\\-spark | not available: no Java |" in report


def test_strange_text_breaks_neither_the_table_nor_the_comment(tmp_path):
    report = text(results_of(*big_run(tmp_path), home=tmp_path))
    assert "<img" not in report
    assert "\x1b" not in report
    tables = re.findall(r"(?:^\|.*\|\n)+", report, re.MULTILINE)
    assert len(tables) == 2
    for table in tables:
        bars = {len(re.findall(r"(?<!\\)\|", line)) for line in table.splitlines()}
        assert len(bars) == 1, "every row has as many cells as the head"


def test_text_is_shown_as_it_stands():
    assert escape("a*b_c <d> [e](f) #1 @user") == r"a\*b\_c &lt;d&gt; \[e\]\(f\) \#1 @" + "\u2060user"
    assert code("a`b``c") == "``` a`b``c ```"
    assert "\n" not in escape(f"{NASTY}\nmore")


def test_the_report_is_written_as_utf_8(tmp_path):
    write(results_of(*small_run()), tmp_path / "report.md")
    assert (tmp_path / "report.md").read_text(encoding="utf-8") == HOLDS
