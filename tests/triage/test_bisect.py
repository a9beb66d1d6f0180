"""A bisection finds where a failure began and ended, plays few versions, and says what it could not play."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.cli import main
from conformance.triage.bisect import bisect
from conformance.triage.bisect_command import BadRange, versions_between
from conformance.triage.on_build import COULD_NOT_RUN, FAILS, HOLDS, OTHERWISE, Verdict
from delta_adapters.releases import in_order, released_versions
from tests.triage.cause_findings import keep_finding_of

VERSIONS = tuple(f"1.{number}" for number in range(40))


def plays(failing: range, dead: frozenset[int] = frozenset()):
    """What a run over `VERSIONS` would see, by their numbers."""

    def play(version: str) -> Verdict:
        number = VERSIONS.index(version)
        return Verdict(COULD_NOT_RUN if number in dead else FAILS if number in failing else HOLDS)

    return play


class TestSearch:
    def test_a_failure_that_began_and_ended_is_found_with_few_plays(self):
        found = bisect(VERSIONS, plays(range(13, 29)), "1.20")
        assert (found.began, found.ended) == (("1.12", "1.13"), ("1.28", "1.29"))
        assert found.sentence == "Began between 1.12 and 1.13; ended between 1.28 and 1.29."
        assert len(found.tried) <= 14

    @pytest.mark.parametrize("first", range(40))
    @pytest.mark.parametrize("end", (21, 33, 40))
    def test_every_border_is_found(self, first, end):
        failing = range(min(first, end - 1), end)
        found = bisect(VERSIONS, plays(failing), VERSIONS[failing[-1]])
        began = (VERSIONS[failing[0] - 1], VERSIONS[failing[0]]) if failing[0] else None
        ended = (VERSIONS[end - 1], VERSIONS[end]) if end < len(VERSIONS) else None
        assert (found.began, found.ended) == (began, ended)

    def test_a_version_that_fails_otherwise_does_not_have_this_failure(self):
        def play(version: str) -> Verdict:
            return Verdict(FAILS if VERSIONS.index(version) >= 13 else OTHERWISE)

        assert bisect(VERSIONS, play, "1.20").began == ("1.12", "1.13")

    def test_what_always_fails_is_said_so_after_both_ends(self):
        found = bisect(VERSIONS, plays(range(40)), "1.20")
        assert found.sentence == (
            "Failed already in 1.0, the oldest of the range; still fails in 1.39, the newest of the range."
        )
        assert list(found.tried) == ["1.0", "1.20", "1.39"]

    def test_what_never_fails_is_said_so(self):
        found = bisect(VERSIONS, plays(range(0)), "1.20")
        assert not found.fails_somewhere
        assert found.sentence.startswith("It fails in none of the versions that could be played (1.0, ")

    def test_where_nothing_can_be_played_nothing_is_said(self):
        found = bisect(VERSIONS, plays(range(0), frozenset(range(40))), None)
        assert found.sentence == "No version that was tried could be played, so nothing can be said."

    def test_a_finding_of_a_version_that_is_not_in_the_range_is_bisected_all_the_same(self):
        assert bisect(VERSIONS, plays(range(30, 40)), "9.9").began == ("1.29", "1.30")

    def test_versions_that_can_not_be_played_are_skipped_and_named(self):
        found = bisect(VERSIONS, plays(range(13, 40), frozenset({11, 12})), "1.39")
        assert found.began == ("1.10", "1.13")
        assert "began between 1.10 and 1.13 (1.11, 1.12 could not be played)" in found.sentence.lower()

    @pytest.mark.parametrize("oldest", (1, 5, 12))
    def test_old_versions_that_can_not_be_played_are_not_tried_one_by_one(self, oldest):
        found = bisect(VERSIONS, plays(range(13, 40), frozenset(range(oldest))), "1.39")
        assert found.began == ("1.12", "1.13")
        assert len(found.tried) <= 14

    def test_if_all_older_versions_can_not_be_played_the_oldest_that_fails_is_named(self):
        found = bisect(VERSIONS, plays(range(40), frozenset(range(9))), "1.39")
        assert found.began is None
        assert found.sentence.startswith("Failed already in 1.9, the oldest tried that could be played")


class TestRange:
    def test_releases_are_ordered_by_number_and_previews_are_left_out(self):
        assert in_order(["1.10.0", "1.9.1", "1.10.0rc1", "0.25"]) == ("0.25", "1.9.1", "1.10.0")

    def test_both_ends_belong_to_the_range(self):
        assert versions_between(VERSIONS, "delta-rs", "1.3", "1.5") == ("1.3", "1.4", "1.5")

    def test_a_version_that_was_not_released_is_refused_with_those_near_it(self):
        with pytest.raises(BadRange, match=r"delta-rs 1\.99 was not released; near it are .*1\.39"):
            versions_between(VERSIONS, "delta-rs", "1.99", None)

    def test_a_range_that_ends_before_it_begins_is_refused(self):
        with pytest.raises(BadRange, match=r"--from 1\.5 is newer than --to 1\.3"):
            versions_between(VERSIONS, "delta-rs", "1.5", "1.3")


class TestBadInput:
    @pytest.mark.parametrize(
        ("words", "complaint"),
        (
            (("{finding}", "--engine", "delta-spark"), "released versions of delta-spark can't be played"),
            (("{finding}", "--engine", "delta-rust"), "those of delta-rs can"),
            (("/no/such/finding", "--engine", "delta-rs"), "no such folder"),
            (("{finding}",), "--engine"),
            (
                ("{finding}", "--engine", "delta-rs", "--deviations", "/no/such/folder"),
                "--deviations: /no/such/folder",
            ),
        ),
    )
    def test_what_can_not_be_bisected_is_refused_with_2(self, tmp_path, capsys, words, complaint):
        finding = keep_finding_of("delta-rs-nan-left-out-of-bounds", tmp_path)
        assert main(["bisect", *(word.format(finding=finding) for word in words)]) == 2
        assert complaint in capsys.readouterr().err

    @pytest.mark.slow  # asks pip
    @pytest.mark.engines
    def test_an_index_that_can_not_be_reached_ends_with_3(self, tmp_path, capsys, monkeypatch):
        monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")
        monkeypatch.setenv("PIP_RETRIES", "0")
        finding = keep_finding_of("delta-rs-nan-left-out-of-bounds", tmp_path)
        assert main(["bisect", str(finding), "--engine", "delta-rs"]) == 3
        assert "could not run: `pip index versions deltalake` lists no versions" in capsys.readouterr().out


@pytest.mark.slow  # installs three versions of deltalake
def test_a_catalogued_deviation_is_bisected_over_real_versions(tmp_path, capsys):
    assert {"1.3.3", "1.4.0", "1.6.6"} <= set(released_versions("delta-rs"))
    finding = keep_finding_of("delta-rs-nan-left-out-of-bounds", tmp_path)
    words = ["bisect", str(finding), "--engine", "delta-rs", "--from", "1.3.2", "--to", "1.4.1"]
    assert main(words) == 0
    printed = capsys.readouterr().out
    assert "Began between 1.3.3 and 1.4.0; still fails in 1.4.1, the newest of the range." in printed
    rows = [line.split()[:2] for line in printed.splitlines() if line.startswith("  1.")]
    assert ["1.3.3", "holds"] in rows
    assert ["1.4.0", "fails"] in rows
    assert Path(finding, "finding.json").exists()
