"""The checks blame the writer for a wrong log, the reader for a wrong answer, and else the harness."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from conformance.checks import CHECKS, Check, run_checks
from conformance.checks.recorder import CheckRecorder
from conformance.observations.observation import Observation, ReadObservation
from delta_adapters.reference import Reference
from delta_models import operations as ops
from delta_models.log import CorruptLog, LogReader, UnsupportedFeature
from delta_models.outcomes import Committed, Rejected
from delta_models.requirements import BY_ID, Checked, checked
from delta_models.table import AllowedOutcome, Expectation, Table
from delta_models.values import Rows
from tests.mutants import stories

ADDED = ops.Append(stories.rows((9, "new", 9.0)))


@pytest.fixture
def observation(tmp_path) -> Observation:
    """An honest append, and an honest read of the table after it."""
    return observed(tmp_path / "table")


def observed(folder: Path) -> Observation:
    engine = Reference()
    engine.open(str(folder))
    for operation in stories.PLAIN:
        engine.execute(operation, "")
    reader = LogReader(folder)
    before = reader.snapshot()
    engine.execute(ADDED, "")
    after = reader.snapshot()
    rows = reader.rows(after)
    model = Table(exists=True, schema=after.schema, rows=rows.rows)
    branch = AllowedOutcome(Committed(), (1, 1), model, "contents.append")
    fields: dict[str, Any] = {
        "engine": "reference@1", "step": 2, "operation": ADDED, "folder": folder, "expectation": Expectation((branch,)),
        "outcome": Committed(), "branch": branch, "model": model, "reader": reader, "before": before, "after": after,
        "commits": reader.commits(2), "looks": (ReadObservation("latest", ops.Read(), rows, rows, version=2),),
    }  # fmt: skip
    return Observation(**fields)


def without_the_last(rows: Rows | None) -> Rows:
    assert rows is not None
    return Rows(rows.schema, rows.rows[:-1])


def sides(observation: Observation) -> set[str]:
    return {BY_ID[violation.requirement].role for violation in run_checks(observation).violations}


class TestSides:
    def test_a_right_step_violates_nothing(self, observation):
        report = run_checks(observation)
        assert report.violations == ()
        assert report.faults == ()
        assert {"contents.append", "read.latest", "log.required-field", "stats.num-records"} <= set(
            report.evidence
        )

    def test_a_wrong_read_of_a_right_log_blames_the_reader(self, observation):
        look = replace(observation.looks[0], answer=without_the_last(observation.looks[0].answer))
        report = run_checks(replace(observation, looks=(look,)))
        assert [violation.requirement for violation in report.violations] == ["read.latest"]
        assert sides(replace(observation, looks=(look,))) == {"reader"}

    def test_a_right_read_of_a_wrong_log_blames_the_writer_alone(self, observation):
        richer = observation.model.with_rows((*observation.model.rows, (77, "never written", None)))
        look = replace(observation.looks[0], expected=richer.as_rows)
        wrong = replace(observation, model=richer, looks=(look,))
        assert [violation.requirement for violation in run_checks(wrong).violations] == ["contents.append"]
        assert sides(wrong) == {"writer"}

    def test_a_wrong_read_of_a_wrong_log_blames_both(self, observation):
        richer = observation.model.with_rows((*observation.model.rows, (77, "never written", None)))
        look = replace(
            observation.looks[0],
            expected=richer.as_rows,
            answer=without_the_last(observation.looks[0].answer),
        )
        assert sides(replace(observation, model=richer, looks=(look,))) == {"writer", "reader"}

    def test_a_log_without_a_state_blames_the_writer_alone(self, observation):
        broken = replace(
            observation, after=None, commits=(), log_error=CorruptLog("no metadata"), branch=None
        )
        report = run_checks(broken)
        assert [violation.requirement for violation in report.violations] == ["log.loads"]
        assert report.faults == ()

    def test_a_reader_is_not_blamed_for_the_outcome_of_a_writer(self, observation):
        only_read = run_checks(replace(observation, wrote=False, outcome=Rejected("schema"), branch=None))
        assert only_read.violations == ()
        assert not {
            requirement
            for requirement in only_read.evidence
            if requirement.startswith(("log.", "outcome.", "contents.append"))
        }


class TestTheHarnessItself:
    def test_our_reader_failing_on_a_valid_log_is_a_harness_fault(self, observation):
        report = run_checks(
            replace(observation, after=None, commits=(), log_error=ValueError("a bug of ours"), branch=None)
        )
        assert report.violations == ()
        assert "our own log reader failed at step 2" in report.faults[0]

    @pytest.mark.parametrize(
        ("broken", "is_ours"), (("checksum.each-commit", True), ("log.commit-is-json-lines", False))
    )
    def test_only_a_violated_must_excuses_our_reader_for_failing(self, observation, broken, is_ours):
        def finds(_observation: Observation, _recorder: CheckRecorder) -> Iterator[Checked]:
            yield checked(broken, "wrong")

        failing = replace(
            observation, after=None, commits=(), log_error=ValueError("a bug of ours"), branch=None
        )
        assert bool(run_checks(failing, (Check("one", (), finds),)).faults) == is_ours

    def test_a_feature_that_our_reader_does_not_know_is_a_harness_fault(self, observation):
        report = run_checks(
            replace(observation, after=None, commits=(), log_error=UnsupportedFeature("geo"), branch=None)
        )
        assert "does not know a feature" in report.faults[0]

    def test_a_check_that_raises_is_a_harness_fault_and_the_others_run(self, observation):
        def raises(_observation: Observation, _recorder: CheckRecorder) -> Iterator[Checked]:
            yield checked("read.nan-order", "judged before the bug")
            message = "a bug of a check"
            raise RuntimeError(message)

        report = run_checks(observation, (Check("broken", (), raises), *CHECKS))
        assert "check broken failed at step 2" in report.faults[0]
        assert report.evidence["contents.append"] == 1
        assert [violation.detail for violation in report.violations] == ["judged before the bug"]

    def test_a_check_reads_what_it_has_yielded(self, observation):
        def reads(_observation: Observation, recorder: CheckRecorder) -> Iterator[Checked]:
            yield checked("read.latest", "wrong")
            yield checked("read.state", "the first is recorded" if recorder.has("read.latest") else None)

        report = run_checks(observation, (Check("one", (), reads),))
        assert [violation.requirement for violation in report.violations] == ["read.latest", "read.state"]


class TestCounting:
    def test_a_check_without_anything_to_judge_counts_nothing(self, observation):
        report = run_checks(replace(observation, looks=(), commits=()))
        assert not {
            requirement
            for requirement in report.evidence
            if requirement.startswith(("read.", "stats.", "dv.", "checkpoint."))
        }

    def test_each_file_counts_as_evidence(self, tmp_path):
        engine = Reference()
        engine.open(str(tmp_path))
        engine.execute(stories.CREATE, "")
        engine.execute(ops.Append(stories.rows(*stories.THREE), files=3), "")
        reader = LogReader(tmp_path)
        observation = replace(
            observed(tmp_path / "other"), reader=reader, folder=tmp_path, before=reader.snapshot(0),
            after=reader.snapshot(1), commits=reader.commits(1), branch=None, looks=(),
        )  # fmt: skip
        report = run_checks(observation)
        assert report.evidence["stats.num-records"] == 3
        assert report.evidence["log.added-file-exists"] == 3

    def test_a_requirement_that_is_not_in_the_catalogue_cannot_be_judged(self, observation):
        def judges(_observation: Observation, _recorder: CheckRecorder) -> Iterator[Checked]:
            yield checked("no.such-rule")

        report = run_checks(observation, (Check("one", (), judges),))
        assert "'no.such-rule', which is not in the catalogue" in report.faults[0]
        assert report.evidence == {}

    def test_lenient_rules_are_about_what_an_engine_may_do(self):
        free = {rule.id for rule in BY_ID.values() if rule.strength == "lenient"}
        assert free
        assert all(rule.endswith(("may-be-refused", "may-be-unknown", "may-be-kept")) for rule in free)
