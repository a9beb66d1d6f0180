"""What a job of GitHub is told: annotations, the summary of the job, and the outputs of the step."""

from __future__ import annotations

import io
import re
from dataclasses import replace
from typing import Any

import pytest

from conformance.events.types import (
    BudgetSpent,
    CellsPlanned,
    EngineReady,
    EngineUnavailable,
    EvidenceThreshold,
    FindingFound,
    HarnessFault,
)
from conformance.reporting.atomic_write import CannotWrite
from conformance.reporting.github.commands import annotation, deaf
from conformance.reporting.github.job import MOST, conclude, conclude_failure
from conformance.reporting.github.notices import Notice, at_most, notices
from conformance.reporting.github.summary import LARGEST, LINES, job_summary
from conformance.reporting.github.terminal import GithubTerminal
from conformance.reporting.results import Results
from tests.reporting.samples import (
    FINDING,
    NASTY,
    SIGHTING,
    big_run,
    explained,
    results_of,
    shrunk,
    small_run,
)


def visible(summary: str) -> list[str]:
    """The lines that GitHub shows: what is folded counts as the line that unfolds it."""
    return re.sub(r"<details>.*</details>", "folded", summary, flags=re.DOTALL).rstrip("\n").split("\n")


def many_findings(number: int, kind: str = "new", **changes: Any) -> list[FindingFound]:
    return [
        replace(FINDING, fingerprint=f"{kind}{index}", requirement=f"{kind}.made-up-{index}", **changes)
        for index in range(number)
    ]


def concluded(results: Results, tmp_path, **variables: str) -> tuple[str, str, str]:
    """The log, the summary and the outputs of a job."""
    out = io.StringIO()
    files = {name: tmp_path / name for name in ("GITHUB_STEP_SUMMARY", "GITHUB_OUTPUT")}
    environment = {name: str(path) for name, path in files.items()} | variables
    conclude(results, tmp_path / "run", out, environment, tmp_path / "run" / "report.html")
    summary, outputs = (path.read_text("utf-8") for path in files.values())
    return out.getvalue(), summary, outputs


def obeyed(log: str) -> list[str]:
    """The commands that the runner of GitHub would carry out."""
    found, token = [], ""
    for line in log.split("\n"):
        stripped = line.strip()
        if token:
            token = "" if stripped == f"::{token}::" else token
        elif stripped.startswith("::stop-commands::"):
            token = stripped.removeprefix("::stop-commands::")
        elif stripped.startswith("::") or "##[" in line:
            found.append(stripped)
    assert not token, "GitHub listens again at the end"
    return found


class TestAnnotations:
    def test_text_is_escaped_as_github_wants_it(self):
        line = annotation(Notice("error", "a: 50%, b", ("first", "100% ::error::", "x\ry")))
        assert line == "::error title=a%3A 50%25%2C b::first%0A100%25 ::error::%0Ax\\x0dy"

    def test_a_violation_is_an_error_with_its_replay(self, tmp_path):
        log, _, _ = concluded(results_of(*small_run(FINDING), home=tmp_path), tmp_path)
        said = "%0A".join(notices_of(FINDING, tmp_path))
        assert obeyed(log) == [f"::error title=delta-rs@1.6.6 violates log.remove-names-live-file::{said}"]

    def test_what_is_known_is_one_notice(self, tmp_path):
        log, _, _ = concluded(results_of(*small_run(SIGHTING, explained())), tmp_path)
        assert obeyed(log) == ["::notice title=1 known cause seen::a-cause"]

    @pytest.mark.parametrize(("promises", "level"), (((), "warning"), (("delta-spark",), "error")))
    def test_a_difference_is_an_error_only_where_it_fails_the_run(self, promises, level):
        difference = replace(FINDING, strength="reference", engine="pyspark@0.1.0")
        results = results_of(*small_run(EngineReady("pyspark@0.1.0", compatible_with=promises), difference))
        assert [notice.level for notice in notices(results)] == [level]

    def test_too_little_evidence_is_an_error_where_it_decides_and_a_warning_beside_a_violation(self):
        rare = (EvidenceThreshold("contents.vacuum", "delta-rs"),)
        alone = notices(results_of(*small_run(core=rare)))
        assert [(notice.level, notice.title) for notice in alone] == [("error", "inconclusive")]
        assert "contents.vacuum for delta-rs@1.6.6: not enough evidence (1 of 20 checks" in alone[0].lines[0]
        beside = notices(results_of(*small_run(FINDING, core=rare)))
        assert [notice.level for notice in beside] == ["error", "warning"]

    def test_many_reasons_are_one_annotation_that_says_how_many_there_are(self, tmp_path):
        rare = tuple(EvidenceThreshold(f"made.up-{number}", "delta-rs") for number in range(15))
        log, summary, _ = concluded(results_of(*small_run(core=rare)), tmp_path)
        (command,) = obeyed(log)
        assert command.startswith(
            "::error title=inconclusive%2C for 15 reasons::made.up-0 for delta-rs@1.6.6: not"
        )
        assert command.endswith("%0Aand 3 more")
        assert "made.up\\-11 for" in summary.split("<details>", 1)[1]

    def test_every_run_that_fails_has_an_error_and_none_that_holds_has(self):
        for extra in ((), (FINDING,), (HarnessFault("x"),), (BudgetSpent(1.0),), (SIGHTING, explained())):
            results = results_of(*small_run(*extra))
            levels = {notice.level for notice in notices(results)}
            assert ("error" in levels) == (results.outcome.exit != 0), extra

    def test_the_most_severe_come_first_and_the_last_one_counts_those_that_github_would_drop(self, tmp_path):
        differences = many_findings(4, "odd", strength="should")
        events = small_run(*differences, *many_findings(12), HarnessFault("our reader"))
        log, _, _ = concluded(results_of(*events), tmp_path)
        commands = obeyed(log)
        assert len(commands) == MOST
        assert commands[0] == "::error title=the harness is at fault::our reader"
        assert {command.split(" ")[0] for command in commands} == {"::error"}
        assert commands[-1].startswith("::error title=and 8 more::")

    def test_as_many_as_there_is_room_for_are_all_shown(self):
        ten = [Notice("error", str(number), ()) for number in range(10)]
        assert at_most(10, ten, "there") == tuple(ten)
        assert [notice.title for notice in at_most(9, ten, "there")][-1] == "and 2 more"

    def test_nothing_that_an_engine_says_is_obeyed(self, tmp_path):
        evil = "\n::error::planted\n  ::add-mask::x\n##[error]planted\n"
        out = io.StringIO()
        terminal = GithubTerminal(out)
        for event in (
            *small_run(replace(FINDING, detail=evil)),
            EngineUnavailable("delta-spark", evil, evil),
        ):
            terminal(event)
        terminal.close()
        assert "planted" in out.getvalue()
        assert obeyed(out.getvalue()) == ["::group::conformance run", "::endgroup::"]
        log, summary, outputs = concluded(results_of(*small_run(replace(FINDING, detail=evil))), tmp_path)
        assert [line.split("::")[1].split(" ")[0] for line in obeyed(log)] == ["error"]
        assert "\n::" not in summary
        assert len(outputs.splitlines()) == 5

    def test_github_listens_again_after_an_error(self):
        out = io.StringIO()
        with pytest.raises(ZeroDivisionError), deaf(out):
            raise ZeroDivisionError
        assert obeyed(out.getvalue()) == []


def notices_of(finding, home) -> tuple[str, ...]:
    (notice,) = notices(results_of(*small_run(finding), home=home))
    assert notice.lines[1] == finding.detail
    assert notice.lines[2].startswith("7 steps, finding 9f3c21aa. conformance replay ")
    return notice.lines


class TestSummary:
    def test_of_a_run_that_holds(self):
        assert visible(job_summary(results_of(*small_run()))) == [
            "## ✅ HOLDS: all of the core holds",
            "",
            "delta\\-conformance 0.1.0, profile dev, seed 1: 300 steps in 12 histories, 12 s",
            "",
            "| Engine | Operations | Claims |",
            "|---|---:|---|",
            "| delta\\-rs@\u20601.6.6 | 732 | ✅ 1 holds, ⬜ 1 not-enough-evidence |",
            "",
            "",
            "folded",
        ]

    def test_it_names_the_parts_that_were_played(self):
        results = results_of(
            *small_run(CellsPlanned("core", "delta-rs", 9, 9), CellsPlanned("sql", "delta-rs", 9, 9))
        )
        assert visible(job_summary(results))[2].endswith("12 s; 2 parts: core, sql")

    @pytest.mark.parametrize("findings", (0, 1, 7, 300))
    @pytest.mark.parametrize("engines", (0, 3, 40))
    def test_at_most_twenty_lines_are_not_folded(self, findings, engines):
        more = [EngineReady(f"engine-{number}@1") for number in range(engines)]
        lost = [EngineUnavailable(f"gone-{number}", NASTY) for number in range(engines)]
        results = results_of(*small_run(*many_findings(findings, detail=NASTY), *more, *lost))
        shown = visible(job_summary(results))
        assert len(shown) <= LINES
        assert shown.count("folded") == 1

    def test_the_details_are_those_of_the_report(self, tmp_path):
        results = results_of(*big_run(tmp_path), home=tmp_path)
        folded = job_summary(results).split("<details>", 1)[1]
        assert "Requirements and engines" in folded
        assert all(finding.event.fingerprint in folded for finding in results.findings if finding.event.fresh)
        assert folded.count("</details>") == folded.count("<details>") + 1

    def test_one_that_github_would_refuse_leaves_its_details_out(self):
        results = results_of(*small_run(*many_findings(3000, detail="é" * 400)))
        text = job_summary(results)
        assert len(text.encode()) < LARGEST
        assert "report.html has them" in text

    def test_strange_text_breaks_no_line(self, tmp_path):
        summary = job_summary(results_of(*big_run(tmp_path), home=tmp_path))
        assert "<img" not in summary
        assert "\x1b" not in summary


class TestOutputs:
    def test_a_step_says_its_verdict_its_exit_and_where_the_report_is(self, tmp_path):
        _, _, outputs = concluded(results_of(*small_run(SIGHTING, shrunk())), tmp_path)
        assert outputs == (
            f"verdict=violated\nexit=1\nnew=1\nfolder={tmp_path}/run\nreport={tmp_path}/run/report.html\n"
        )

    def test_without_the_files_of_a_job_the_log_is_all(self, tmp_path):
        out = io.StringIO()
        conclude(results_of(*small_run(FINDING)), None, out, {})
        assert "::error title=delta-rs@1.6.6 violates" in out.getvalue()

    def test_what_other_steps_wrote_stays(self, tmp_path):
        (tmp_path / "GITHUB_OUTPUT").write_text("mine=1\n")
        _, _, outputs = concluded(results_of(*small_run()), tmp_path)
        assert outputs.startswith("mine=1\nverdict=holds\n")

    def test_a_file_that_cannot_be_written_is_named_after_the_verdict_was_shown(self, tmp_path):
        out = io.StringIO()
        with pytest.raises(CannotWrite, match="GITHUB_STEP_SUMMARY"):
            conclude(results_of(*small_run(FINDING)), None, out, {"GITHUB_STEP_SUMMARY": str(tmp_path)})
        assert "VIOLATED" in out.getvalue()

    def test_a_command_that_could_do_nothing_tells_the_job_so(self, tmp_path):
        out = io.StringIO()
        files = {name: str(tmp_path / name) for name in ("GITHUB_STEP_SUMMARY", "GITHUB_OUTPUT")}
        conclude_failure("conformance: unknown part 'x'\n  There are: core, sql.", out, files)
        assert obeyed(out.getvalue()) == [
            "::error title=nothing was tested::conformance: unknown part 'x'%0AThere are: core, sql."
        ]
        assert (tmp_path / "GITHUB_STEP_SUMMARY").read_text().startswith("## 🛠️ Nothing was tested\n")
        assert (tmp_path / "GITHUB_OUTPUT").read_text() == "verdict=harness-fault\nexit=2\n"
