"""Findings are grouped by kind, the most severe first, and each says what it is in a sentence."""

from __future__ import annotations

from dataclasses import replace

from conformance.events.types import Event, FindingFound
from conformance.reporting import html, junit, markdown
from conformance.reporting.finding_groups import finding_groups, says
from conformance.reporting.terminal.final_summary import closing_lines
from delta_models.requirements import BY_ID
from tests.reporting.samples import FINDING, SIGHTING, explained, results_of, shrunk, small_run, triaged


def sighting(number: int, **changes: object) -> FindingFound:
    return replace(SIGHTING, fingerprint=f"{number:08x}", folder=f"sightings/{number:08x}", **changes)  # type: ignore[arg-type]


def one_of_each() -> list[Event]:
    """A run with a finding of each kind, the least severe first."""
    lenient = sighting(1, promised=False, requirement="read.cold")
    known = sighting(2)
    difference = sighting(3, strength="should", requirement="log.path-is-uri")
    unstable, unexplained, new = sighting(4), sighting(5), sighting(6)
    return [
        lenient, known, explained(known), difference, shrunk(difference, fingerprint="ab000003"),
        unstable, triaged("unstable", unstable), unexplained, new, shrunk(new, fingerprint="ab000006"),
    ]  # fmt: skip


def test_the_most_severe_kind_comes_first():
    groups = finding_groups(results_of(*small_run(*one_of_each())).findings)
    assert [group.kind.name for group in groups] == [
        "new", "unexplained", "unstable", "difference", "known", "not guaranteed",
    ]  # fmt: skip
    assert [len(group.findings) for group in groups] == [1] * 6


def test_a_finding_of_an_old_recording_is_new():
    (group,) = finding_groups(results_of(*small_run(FINDING)).findings)
    assert group.kind.name == "new"


def test_a_finding_says_its_cause_or_the_sentence_of_its_requirement():
    (known,) = results_of(*small_run(SIGHTING, explained())).findings
    assert says(known) == "Removes are repeated."
    (new,) = results_of(*small_run(SIGHTING, shrunk())).findings
    assert says(new) == "A removed file was live."


def test_the_last_lines_group_the_findings(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lines = closing_lines(results_of(*small_run(*one_of_each()), home=tmp_path), None)
    sentence = "A removed file was live."
    found = lines[lines.index("1 new violation:") :]
    assert found == [
        "1 new violation:",
        f"  ab000006 delta-rs@1.6.6 log.remove-names-live-file (must): {sentence}",
        "    commit 3 removes part-0.parquet, which is not live",
        "    3 steps, from 7",
        "    conformance replay findings/ab12cd34",
        "",
        "1 unexplained violation:",
        f"  00000005 delta-rs@1.6.6 log.remove-names-live-file (must): {sentence}",
        "    commit 3 removes part-0.parquet, which is not live",
        "    7 steps",
        "    conformance replay sightings/00000005",
        "",
        "1 unstable violation:",
        f"  00000004 delta-rs@1.6.6 log.remove-names-live-file (must): {sentence}",
        "    commit 3 removes part-0.parquet, which is not live",
        "    7 steps",
        "    conformance replay sightings/00000004",
        "",
        "1 difference:",
        f"  ab000003 delta-rs@1.6.6 log.path-is-uri (should): {BY_ID['log.path-is-uri'].sentence}",
        "    commit 3 removes part-0.parquet, which is not live",
        "    3 steps, from 7",
        "    conformance replay findings/ab12cd34",
        "",
        "1 known cause seen; `conformance explain CAUSE` tells each:",
        "  a-cause (delta-rs@1.6.6, 1 sighting of 1 requirement): Removes are repeated.",
        "",
        "1 difference in what an engine does not guarantee:",
        f"  delta-rs@1.6.6 read.cold: {BY_ID['read.cold'].sentence}",
        "",
        "Left unshrunk, for want of time: 1 finding. To go on:",
        "  conformance shrink sightings/00000005",
    ]


def test_every_report_names_the_cause_and_what_is_left_unshrunk(tmp_path):
    results = results_of(*small_run(*one_of_each()), home=tmp_path)
    for text in (markdown.text(results), html.page(results, tmp_path)):
        assert "a-cause" in text
        assert "Removes are repeated" in text
        assert "conformance shrink" in text
        assert (
            text.index("ab000006") < text.index("00000005") < text.index("00000004") < text.index("a-cause")
        )


def test_a_claim_whose_findings_are_known_is_skipped_with_the_cause():
    document = junit.text(results_of(*small_run(SIGHTING, explained())))
    assert 'skipped message="known: a-cause: Removes are repeated."' in document
    assert "<failure" not in document


def test_a_claim_with_an_unexplained_violation_is_a_failure():
    known = sighting(2)
    document = junit.text(results_of(*small_run(SIGHTING, triaged("unstable"), known, explained(known))))
    assert "unstable (7 steps): commit 3 removes" in document
    assert document.count("<failure") == 1


def test_what_is_not_identified_yet_is_shown_once_for_each_requirement(tmp_path):
    alike = [sighting(number, steps=20 - number) for number in range(1, 6)]
    other = sighting(9, requirement="read.latest", steps=3)
    results = results_of(*small_run(*alike, other), home=tmp_path)
    lines = closing_lines(results, None)
    assert "6 unexplained violations:" in lines
    assert sum(line.startswith("  00000005 ") for line in lines) == 1
    assert "    and 4 more that break it, in the report" in lines
    assert sum("log.remove-names-live-file (must)" in line for line in lines) == 1
    assert "and 4 more that break it" in markdown.text(results)
