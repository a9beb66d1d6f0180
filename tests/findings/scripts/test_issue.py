"""An issue is ready to paste: what was done, what the protocol says, what happened, and with which versions."""

from __future__ import annotations

import pytest

from conformance.findings.scripts import issue_for
from delta_adapters.deviations import all_causes
from delta_models import operations as ops
from delta_models.schema import STRING, struct
from delta_models.values import Rows
from tests.findings.samples import finding, history
from tests.findings.scripts.runs import finding_of, script
from tests.mutants import stories

HEADINGS = ["What was done", "What the protocol says", "What happened", "Versions", "How it was found"]
CAUSES = all_causes()


def issue(of):
    return issue_for(of, script(of))


def headings(text):
    """The headings outside of fences."""
    fenced, found = False, []
    for line in text.splitlines():
        if line.startswith("```"):
            fenced = not fenced
        elif not fenced and line.startswith("## "):
            found.append(line.removeprefix("## "))
    return found


@pytest.mark.parametrize("cause", CAUSES, ids=[cause.id for cause in CAUSES])
def test_the_issue_of_a_cause_is_short_and_whole(cause):
    text = issue(finding_of(cause, version="1.6.6"))
    assert headings(text) == HEADINGS
    most = 85 if len(cause.history["steps"]) <= 3 and not cause.slots else 95
    assert len(text.splitlines()) <= most
    assert text.startswith("# ")
    assert "chunk" not in text


def test_the_protocol_is_quoted_with_a_link_to_its_section():
    text = issue(finding("stats.min-values", history=history(*stories.TWICE)))
    assert "> " in text
    link = "https://github.com/delta-io/delta/blob/master/PROTOCOL.md#per-file-statistics"
    assert f"[Per-file Statistics]({link})" in text


def test_where_the_protocol_is_silent_the_issue_says_so():
    text = issue(finding("metrics.files", history=history(*stories.TWICE)))
    assert "The protocol is silent here. delta-spark, the reference, does it so (operation metrics)." in text


def test_the_values_that_were_expected_and_observed_are_told():
    text = issue(finding(detail="3 rows; missing (1, 'a')"))
    assert "```text\n3 rows; missing (1, 'a')\n```" in text


def test_the_versions_are_those_of_the_engine_the_harness_python_and_the_system():
    text = issue(finding(versions={"harness": "0.1.0", "delta-rs@1.6.6": "delta-rs"}))
    assert "deltalake 1.6.6, delta-conformance 0.1.0, Python 3." in text


def test_without_a_script_the_steps_are_listed():
    by_position = ops.Append(Rows(stories.SCHEMA, stories.THREE), by_name=False)
    text = issue(finding(history=history(stories.CREATE, by_position)))
    assert "1. Create" in text
    assert "There is no program for this: deltalake writes by name only." in text


def test_no_value_breaks_out_of_its_fence_or_hides():
    schema = struct(("name", STRING))
    nasty = Rows(schema, (("```\n# not a heading",), ("a\x00b\u202e",)))
    text = issue(
        finding(history=history(ops.Create(schema), ops.Append(nasty)), detail="```\n# no\x00 heading\u202e")
    )
    assert headings(text) == HEADINGS
    assert "\x00" not in text
    assert "\u202e" not in text


def test_the_title_is_one_line_without_markup():
    title = issue(finding(detail="<b>*bold*</b>\nand more " + "x" * 300)).splitlines()[0]
    assert len(title) <= 170
    assert "\\<b\\>\\*bold\\*" in title


def test_a_smaller_history_is_said_to_be_smaller():
    small = history(*stories.PLAIN)
    text = issue(finding(minimal=small, minimal_step=1, state="new"))
    assert f"Its 10 steps were made {len(small.steps)}." in text
