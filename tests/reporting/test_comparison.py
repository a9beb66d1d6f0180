"""The comparison of two runs: what it claims from which evidence, and what it refuses."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from conformance.reporting.comparable_runs import UnlikeRuns
from conformance.reporting.comparison import Comparison, chance_of_absence, compare
from conformance.reporting.comparison_text import markdown_lines, terminal_lines
from conformance.reporting.comparison_view import as_json
from conformance.reporting.summary_reader import SummaryError, read_summary
from tests.reporting.samples import NASTY, keep

OLD_FILE = Path(__file__).parent.parent / "old_files" / "summary.json"


@dataclass
class Document:
    """A `summary.json` that a test writes: one engine, one suite, and what it adds."""

    folder: Path
    engine: str = "delta-rs@1.6.6"
    seed: int = 1
    form: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self):
        name, _, version = self.engine.partition("@")
        self.form = {
            "format": 1, "harness": "0.2.0", "command": [], "seed": self.seed, "profile": "ci", "storage": "local",
            "runs": 1, "seconds": 1.0, "verdict": "holds", "exit": 0, "reasons": [], "incomplete": [],
            "engines": [{"name": name, "version": version, "status": "tested", "why": None}],
            "suites": [{"name": "lockstep", "histories": 100, "steps": 2500 + self.seed, "complete": True}],
            "claims": [], "findings": [],
        }  # fmt: skip

    def claim(self, requirement: str, histories: int, verdict: str = "holds", **more: Any) -> Document:
        evidence = {"checks": 10 * histories, "histories": histories, "operations": 0}
        claim = {
            "requirement": requirement, "class": "must", "engine": self.engine, "role": "reader", "with": [],
            "features": [], "storage": "local", "processes": "one", "verdict": verdict, "core": False,
            "evidence": evidence, "floor": {"checks": 20, "histories": 5}, "findings": [], **more,
        }  # fmt: skip
        self.form["claims"].append(claim)
        return self

    def finding(self, name: str, histories: int, requirement: str = "read.latest", **more: Any) -> Document:
        finding = {
            "fingerprint": name, "requirement": requirement, "class": "must", "engine": self.engine, "role": "reader",
            "suite": "lockstep", "state": "new", "cause": None, "requirements": [requirement], "known": False,
            "promised": True, "steps": 12, "minimal_steps": 3, "reproduced": True, "times": 2 * histories,
            "histories": histories, "detail": "2 rows instead of 3", "folder": f"findings/{name}", **more,
        }  # fmt: skip
        self.form["findings"].append(finding)
        for claim in self.form["claims"]:
            if claim["requirement"] == requirement:
                claim["findings"].append(name)
                claim["verdict"] = "violated"
        return self

    def write(self) -> Path:
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / "summary.json").write_text(json.dumps(self.form))
        return self.folder


@pytest.fixture
def old(tmp_path):
    return Document(tmp_path / "old", "delta-rs@1.5.0").claim("read.latest", 50)


@pytest.fixture
def new(tmp_path):
    return Document(tmp_path / "new", seed=2).claim("read.latest", 50)


def comparison(old: Document, new: Document) -> Comparison:
    return compare(read_summary(old.write()), read_summary(new.write()))


def changes(old: Document, new: Document) -> dict[str, str]:
    """What became of each finding, by its cause or fingerprint."""
    (engine,) = comparison(old, new).engines
    return {
        change.finding.cause or change.finding.fingerprint: change.change
        for change in engine.findings
    }  # fmt: skip


class TestFindings:
    def test_what_only_new_has_is_regressed_if_old_would_have_met_it(self, old, new):
        new.finding("aaaaaaaa", 6)
        assert changes(old, new) == {"aaaaaaaa": "regressed"}
        assert comparison(old, new).exit == 1

    def test_what_new_saw_once_is_inconclusive_with_another_seed(self, old, new):
        new.finding("aaaaaaaa", 1)
        assert changes(old, new) == {"aaaaaaaa": "inconclusive"}
        assert comparison(old, new).exit == 3

    def test_what_new_saw_once_is_regressed_if_old_played_the_same_histories(self, old, new):
        new.form |= {"seed": 1, "suites": old.form["suites"]}
        new.finding("aaaaaaaa", 1)
        assert changes(old, new) == {"aaaaaaaa": "regressed"}

    def test_a_cut_suite_is_not_the_same_histories(self, old, new):
        old.form["suites"][0]["complete"] = False
        new.form |= {"seed": 1, "suites": old.form["suites"]}
        new.finding("aaaaaaaa", 1)
        assert changes(old, new) == {"aaaaaaaa": "inconclusive"}

    def test_what_old_had_in_many_histories_and_new_in_none_is_fixed(self, old, new):
        assert changes(old.finding("aaaaaaaa", 6), new) == {"aaaaaaaa": "fixed"}
        assert comparison(old, new).exit == 0

    def test_what_old_had_once_is_not_seen_again(self, old, new):
        assert changes(old.finding("aaaaaaaa", 1), new) == {"aaaaaaaa": "not seen again"}
        assert comparison(old, new).exit == 0

    def test_what_new_did_not_test_is_not_seen_again(self, old, new):
        old.claim("read.state", 50).finding("aaaaaaaa", 40, "read.state")
        assert changes(old, new) == {"aaaaaaaa": "not seen again"}

    def test_what_new_tested_in_another_setting_is_not_fixed(self, old, new):
        old.claim("read.state", 50, features=["deletionVectors"]).finding("aaaaaaaa", 40, "read.state")
        new.claim("read.state", 50)
        assert changes(old, new) == {"aaaaaaaa": "not seen again"}

    def test_what_old_did_not_test_is_newly_tested_and_no_regression_is_excluded(self, old, new):
        new.claim("read.state", 50).finding("aaaaaaaa", 40, "read.state")
        assert changes(old, new) == {"aaaaaaaa": "newly tested"}
        assert comparison(old, new).exit == 3

    def test_one_cause_is_one_finding_whatever_its_fingerprints(self, old, new):
        old.finding("aaaaaaaa", 3, cause="delta-rs-nan")
        new.finding("bbbbbbbb", 2, cause="delta-rs-nan").finding("cccccccc", 1, cause="delta-rs-nan")
        assert changes(old, new) == {"delta-rs-nan": "still failing"}

    def test_one_minimal_history_is_one_finding_whatever_its_requirements(self, old, new):
        old.finding("aaaaaaaa", 3)
        new.claim("read.state", 50).finding(
            "aaaaaaaa", 3, "read.state", requirements=["read.state", "read.latest"]
        )
        assert changes(old, new) == {"aaaaaaaa": "still failing"}

    @pytest.mark.parametrize("state", ("unexplained", ""))
    def test_what_was_not_shrunk_may_be_any_finding_of_its_requirement(self, old, new, state):
        old.finding("aaaaaaaa", 40)
        new.finding("bbbbbbbb", 40, state=state)
        assert changes(old, new) == {"bbbbbbbb": "inconclusive", "aaaaaaaa": "not seen again"}

    def test_what_was_not_shrunk_is_regressed_where_old_had_no_finding_of_its_requirement(self, old, new):
        assert changes(old, new.finding("bbbbbbbb", 40, state="unexplained")) == {"bbbbbbbb": "regressed"}

    def test_what_did_not_happen_again_decides_nothing(self, old, new):
        old.finding("aaaaaaaa", 40, state="unstable")
        new.finding("bbbbbbbb", 40, state="unstable")
        assert changes(old, new) == {"aaaaaaaa": "not seen again", "bbbbbbbb": "inconclusive"}

    def test_what_an_engine_does_not_promise_is_left_out_and_counted(self, old, new):
        new.finding("aaaaaaaa", 40, promised=False)
        assert changes(old, new) == {}
        assert "1 finding of NEW left out" in comparison(old, new).notes[0]

    def test_a_build_that_did_not_change_has_not_regressed_and_fixed_nothing(self, old, new):
        for document in (old, new):
            document.form["engines"][0]["build"] = "sha256:1"
        assert changes(old.finding("aaaaaaaa", 40), new.finding("bbbbbbbb", 40)) == {
            "aaaaaaaa": "not seen again",
            "bbbbbbbb": "newly tested",
        }
        assert comparison(old, new).exit == 0

    def test_the_most_severe_come_first(self, old, new):
        new.finding("aaaaaaaa", 40, minimal_steps=2, **{"class": "reference"})
        new.finding("bbbbbbbb", 40, minimal_steps=7)
        new.finding("cccccccc", 40, minimal_steps=3)
        new.finding("dddddddd", 1)
        assert list(changes(old, new)) == ["cccccccc", "bbbbbbbb", "aaaaaaaa", "dddddddd"]


class TestEvidence:
    def test_a_requirement_that_only_new_tested_enough_is_newly_tested(self, old, new):
        old.claim("read.state", 1, "not-enough-evidence")
        new.claim("read.state", 50)
        (engine,) = comparison(old, new).engines
        (change,) = engine.evidence
        assert (change.requirement, change.gained, change.after) == (
            "read.state", True, "holds, 500 checks in 50 histories",
        )  # fmt: skip
        assert comparison(old, new).exit == 0

    def test_a_requirement_of_the_core_that_new_tested_too_little_leaves_it_open(self, old, new):
        old.claim("read.state", 50, core=True)
        new.claim("read.state", 1, "not-enough-evidence")
        assert comparison(old, new).exit == 3
        assert "1 requirement of OLD's core, such as read.state" in comparison(old, new).gaps[0]

    def test_an_engine_that_could_not_run_in_new_leaves_it_open(self, old, new):
        new.form["engines"].append(
            {"name": "delta-spark", "version": None, "status": "unavailable", "why": "no Java"}
        )
        assert comparison(old, new).gaps == ("delta-spark could not run in NEW: no Java",)
        assert comparison(old, new).exit == 3

    @pytest.mark.parametrize(
        ("occurrences", "there", "elsewhere", "chance"),
        ((1, 50, 50, 0.5), (1, 1, 19, 0.05), (4, 5, 5, 5 / 210), (9, 1, 1, 0.5), (3, 10, 0, 1.0)),
    )
    def test_the_chance_that_all_occurrences_fall_into_one_run(self, occurrences, there, elsewhere, chance):
        assert chance_of_absence(occurrences, there, elsewhere) == pytest.approx(chance)


class TestUnlike:
    def refused(self, old, new) -> str:
        with pytest.raises(UnlikeRuns) as refusal:
            comparison(old, new)
        return str(refusal.value)

    def test_runs_without_a_common_engine(self, old, tmp_path):
        new = Document(tmp_path / "new", "pyspark@0.1.0").claim("read.latest", 5)
        assert "tested delta-rs@1.5.0" in self.refused(old, new)
        assert "tested pyspark@0.1.0" in self.refused(old, new)

    @pytest.mark.parametrize(
        ("members", "words"),
        (
            (
                {"incomplete": ["its footer is missing"]},
                "the run was cut, so it is no measure: its footer is missing",
            ),
            ({"verdict": "interrupted", "exit": 130}, "stopped by hand"),
            ({"verdict": "harness-fault", "exit": 2}, "the harness was at fault"),
            ({"claims": []}, "no evidence"),
            ({"storage": "s3"}, "the storage is local in"),
            ({"suites": [{"name": "races", "histories": 9, "steps": 9}]}, "no suite in common"),
        ),
        ids=("killed", "stopped", "fault", "nothing", "storage", "suites"),
    )
    def test_a_run_that_is_no_measure_is_refused(self, old, new, members, words):
        new.form |= members
        assert words in self.refused(old, new)

    def test_several_versions_of_one_engine_are_compared_only_if_it_is_clear_which(self, old, new):
        def add(document, label):
            name, _, version = label.partition("@")
            document.form["engines"].append({"name": name, "version": version, "status": "tested"})
            document.claim("read.latest", 50, engine=label)

        add(old, "delta-rs@1.6.6")
        assert [engine.before for engine in comparison(old, new).engines] == ["delta-rs@1.6.6"]
        add(new, "delta-rs@1.7.0")
        pairs = [(engine.before, engine.after) for engine in comparison(old, new).engines]
        assert pairs == [("delta-rs@1.6.6", "delta-rs@1.6.6"), ("delta-rs@1.5.0", "delta-rs@1.7.0")]
        add(new, "delta-rs@1.8.0")
        assert "delta-rs stands for several versions" in self.refused(old, new)


class TestFiles:
    def test_a_summary_of_version_0_1_0_is_read_and_compared(self, tmp_path):
        summary = read_summary(OLD_FILE)
        known = next(finding for finding in summary.findings if finding.cause)
        assert known.cause == "delta-rs-no-checksums"
        assert (known.histories, known.minimal_steps, known.identified) == (1, None, True)
        assert compare(summary, summary).exit == 0

    @pytest.mark.parametrize(
        ("content", "words"),
        (
            ("", "no JSON"),
            ("[]", "no summary.json of a run"),
            ('{"format": 1}', "no summary.json of a run"),
            ('{"format": 2, "findings": []}', "format 2, and this version reads 1"),
            ('{"format": 1, "findings": []}', "a damaged summary.json: it has no 'harness'"),
        ),
        ids=("empty", "list", "other", "newer", "damaged"),
    )
    def test_a_file_that_is_no_summary_is_named_with_what_is_wrong(self, tmp_path, content, words):
        (tmp_path / "summary.json").write_text(content)
        with pytest.raises(SummaryError) as error:
            read_summary(tmp_path)
        assert words in str(error.value)
        assert str(tmp_path / "summary.json") in str(error.value)

    @pytest.mark.parametrize("list_of", ("engines", "suites", "claims", "findings"))
    def test_a_damaged_entry_of_any_list_is_one_message(self, old, list_of):
        old.finding("aaaaaaaa", 1)
        for damage in (7, {}, {"name": None}):
            old.form[list_of] = [damage]
            with pytest.raises(SummaryError, match="a damaged summary"):
                read_summary(old.write())

    def test_a_missing_file_is_named(self, tmp_path):
        with pytest.raises(SummaryError, match="nowhere: no such file"):
            read_summary(tmp_path / "nowhere")


class TestForms:
    @pytest.fixture
    def kept(self, old, new):
        finding = keep(new.write(), "read.latest", "delta-rs@1.6.6")
        new.finding(finding.fingerprint, 1, detail=NASTY)
        return comparison(old, new), finding

    def test_the_terminal_shows_the_history_and_how_to_decide(self, kept):
        text = "\n".join(terminal_lines(kept[0]))
        assert text.startswith("INCONCLUSIVE")
        assert "delta-rs@1.5.0 -> delta-rs@1.6.6: 1 inconclusive" in text
        assert "2. [A] Delete where id = 1" in text
        assert f"findings/{kept[1].fingerprint} --engine delta-rs@1.5.0" in text
        assert "\x1b" not in text

    def test_many_findings_fit_a_screen(self, old, new):
        for number in range(40):
            new.finding(f"{number:08x}", 40)
            old.finding(f"{number + 100:08x}", 40)
            for document in (old, new):
                document.finding(f"{number + 200:08x}", 40)
        lines = list(terminal_lines(comparison(old, new)))
        assert len(lines) < 50
        assert "    and 32 more: --format markdown shows all" in lines

    def test_markdown_holds_every_finding_and_no_markup_of_an_engine(self, kept):
        text = "\n".join(markdown_lines(kept[0]))
        assert kept[1].fingerprint in text
        before, _, after = text.split("~~~~")
        assert "<img" not in before + after, "only a fence holds text as it stands, and nothing in it ends it"

    def test_json_holds_both_sides(self, kept):
        document = json.loads(json.dumps(as_json(kept[0])))
        (change,) = document["engines"][0]["findings"]
        assert (document["exit"], change["change"], change["old"]) == (3, "inconclusive", None)
        assert change["new"]["histories"] == 1
        assert len(change["history"]) == 4

    def test_a_folder_that_is_gone_is_said(self, old, new):
        (change,) = comparison(old, new.finding("aaaaaaaa", 6)).engines[0].findings
        assert change.finding.folder.name == "aaaaaaaa"
        assert any("no history in" in line for line in terminal_lines(comparison(old, new)))
