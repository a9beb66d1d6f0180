"""The checks blame the writer for a wrong log, the reader for a wrong answer, and else the harness."""

from __future__ import annotations

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
from delta_models.requirements import BY_ID, Violation
from delta_models.table import AllowedOutcome, Expectation, Table
from delta_models.values import Rows
from tests.mutants import stories

ADDED = ops.Append(stories.rows((9, "new", 9.0)))


@pytest.fixture
def seen(tmp_path) -> Observation:
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
    def test_nobody_is_blamed_for_what_is_right(self, seen):
        found = run_checks(seen)
        assert found.violations == ()
        assert found.faults == ()
        assert {"contents.append", "read.latest", "log.required-field", "stats.num-records"} <= set(
            found.evidence
        )

    def test_a_right_log_that_the_engine_reads_wrongly_is_the_readers(self, seen):
        look = replace(seen.looks[0], answer=without_the_last(seen.looks[0].answer))
        found = run_checks(replace(seen, looks=(look,)))
        assert [violation.requirement for violation in found.violations] == ["read.latest"]
        assert sides(replace(seen, looks=(look,))) == {"reader"}

    def test_a_wrong_log_that_the_engine_reads_rightly_is_the_writers_alone(self, seen):
        richer = seen.model.with_rows((*seen.model.rows, (77, "never written", None)))
        look = replace(seen.looks[0], expected=richer.as_rows)
        wrong = replace(seen, model=richer, looks=(look,))
        assert [violation.requirement for violation in run_checks(wrong).violations] == ["contents.append"]
        assert sides(wrong) == {"writer"}

    def test_a_wrong_log_that_the_engine_reads_wrongly_is_both_of_theirs(self, seen):
        richer = seen.model.with_rows((*seen.model.rows, (77, "never written", None)))
        look = replace(seen.looks[0], expected=richer.as_rows, answer=without_the_last(seen.looks[0].answer))
        assert sides(replace(seen, model=richer, looks=(look,))) == {"writer", "reader"}

    def test_a_log_that_gives_no_state_is_the_writers_and_no_reader_is_asked(self, seen):
        broken = replace(seen, after=None, commits=(), log_error=CorruptLog("no metadata"), branch=None)
        found = run_checks(broken)
        assert [violation.requirement for violation in found.violations] == ["log.loads"]
        assert found.faults == ()

    def test_a_reader_is_not_blamed_for_another_writers_outcome(self, seen):
        only_read = run_checks(replace(seen, wrote=False, outcome=Rejected("schema"), branch=None))
        assert only_read.violations == ()
        assert not {
            each for each in only_read.evidence if each.startswith(("log.", "outcome.", "contents.append"))
        }


class TestTheHarnessItself:
    def test_our_reader_failing_on_a_valid_log_is_our_own_fault(self, seen):
        found = run_checks(
            replace(seen, after=None, commits=(), log_error=ValueError("a bug of ours"), branch=None)
        )
        assert found.violations == ()
        assert "our own log reader failed at step 2" in found.faults[0]

    @pytest.mark.parametrize(
        ("broken", "is_ours"), (("checksum.each-commit", True), ("log.commit-is-json-lines", False))
    )
    def test_only_what_a_log_must_be_can_explain_that_our_reader_fails(self, seen, broken, is_ours):
        def finds(_seen: Observation, recorder: CheckRecorder) -> None:
            recorder.record(broken, "wrong")

        failing = replace(seen, after=None, commits=(), log_error=ValueError("a bug of ours"), branch=None)
        assert bool(run_checks(failing, (Check("one", (), finds),)).faults) == is_ours

    def test_a_feature_that_our_reader_does_not_know_is_our_own_fault(self, seen):
        found = run_checks(
            replace(seen, after=None, commits=(), log_error=UnsupportedFeature("geo"), branch=None)
        )
        assert "does not know a feature" in found.faults[0]

    def test_a_check_that_raises_is_our_own_fault_and_the_others_still_judge(self, seen):
        def raises(_seen: Observation, _ledger: CheckRecorder) -> None:
            message = "a bug of a check"
            raise RuntimeError(message)

        found = run_checks(seen, (Check("broken", (), raises), *CHECKS))
        assert "check broken failed at step 2" in found.faults[0]
        assert found.evidence["contents.append"] == 1


class TestCounting:
    def test_a_check_with_nothing_to_look_at_counts_nothing(self, seen):
        found = run_checks(replace(seen, looks=(), commits=()))
        assert not {
            each for each in found.evidence if each.startswith(("read.", "stats.", "dv.", "checkpoint."))
        }

    def test_files_are_counted_one_by_one(self, tmp_path):
        engine = Reference()
        engine.open(str(tmp_path))
        engine.execute(stories.CREATE, "")
        engine.execute(ops.Append(stories.rows(*stories.THREE), files=3), "")
        reader = LogReader(tmp_path)
        seen = replace(
            observed(tmp_path / "other"), reader=reader, folder=tmp_path, before=reader.snapshot(0),
            after=reader.snapshot(1), commits=reader.commits(1), branch=None, looks=(),
        )  # fmt: skip
        found = run_checks(seen)
        assert found.evidence["stats.num-records"] == 3
        assert found.evidence["log.added-file-exists"] == 3

    def test_a_requirement_that_is_not_in_the_catalogue_cannot_be_judged(self):
        with pytest.raises(KeyError, match="not in the catalogue"):
            CheckRecorder().record("no.such-rule", None)
        with pytest.raises(KeyError, match="not in the catalogue"):
            CheckRecorder().add([Violation("no.such-rule", "")])

    def test_lenient_rules_are_never_broken(self):
        free = {each.id for each in BY_ID.values() if each.strength == "lenient"}
        assert free
        assert all(each.endswith(("may-be-refused", "may-be-unknown", "may-be-kept")) for each in free)
