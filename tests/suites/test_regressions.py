"""Kept histories: what a folder may hold, and that every kind of history is played and judged as a run's own."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from conformance.events.types import ChunkEnded, Event, Evidence, FindingFound, HistoryEnded, Note
from conformance.histories import REGRESSIONS, Chunk, History, Step
from conformance.options import RunOptions
from conformance.planning.kept import kept_chunks
from conformance.planning.plan import plan_run
from conformance.planning.profile import PlanError
from conformance.suites.kept_histories import BadRegression, KeptHistory, read_kept
from conformance.triage.replay import FAILS, replay
from delta_adapters.registry import parse_engine
from delta_models.operations import Append, Create, Delete, Interleave, KillAt
from delta_models.schema import LONG, STRING, struct
from delta_models.values import Rows
from tests.suites.chunks import play_chunks

OLD_FINDINGS = Path(__file__).parents[1] / "old_files" / "findings"
MUTANTS = Path(__file__).parents[1] / "mutants" / "reads.py"
SCHEMA = struct(("id", LONG), ("letter", STRING))
CREATE, APPEND = Create(SCHEMA), Append(Rows(SCHEMA, ((1, "a"), (2, "b"))))


def history(*steps: Step) -> History:
    return History("lockstep", "ci", 3, 77, steps)


def keep(folder: Path, name: str, kept: History) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(json.dumps(kept.to_json()))
    return folder


def play(kept: tuple[KeptHistory, ...], folder: Path, *engines: str) -> list[Event]:
    chunks = kept_chunks(kept, "dev", len(engines))
    return play_chunks([parse_engine(engine) for engine in engines], chunks, folder, kept=kept)


def found(events: list[Event], engine: str) -> set[str]:
    return {
        event.requirement
        for event in events
        if isinstance(event, FindingFound) and event.engine.startswith(engine)
    }  # fmt: skip


class TestFolder:
    def test_findings_and_histories_are_read_by_name_and_notes_are_passed_over(self, tmp_path):
        folder = keep(tmp_path / "regressions", "b-append.json", history(Step(CREATE), Step(APPEND)))
        shutil.copytree(OLD_FINDINGS / "4a9dbd72", folder / "4a9dbd72")
        (folder / "README.md").write_text("why we keep these")
        (folder / ".gitattributes").write_text("")
        race, append = read_kept(folder)
        assert (race.name, race.kind, race.writers) == ("4a9dbd72", "races", ("delta-rs",))
        assert (append.name, append.kind, append.history.seed) == ("b-append", "lockstep", 77)
        assert KeptHistory.from_json(json.loads(json.dumps(race.to_json()))) == race

    def test_the_minimal_history_of_a_finding_goes_before_the_original(self, tmp_path):
        shutil.copytree(OLD_FINDINGS / "4a9dbd72", tmp_path / "kept" / "4a9dbd72")
        keep(tmp_path / "kept" / "4a9dbd72", "minimal.json", history(Step(CREATE)))
        (kept,) = read_kept(tmp_path / "kept")
        assert kept.history == history(Step(CREATE))

    @pytest.mark.parametrize(
        ("steps", "kind"),
        (
            ((Step(CREATE), Step(APPEND)), "lockstep"),
            ((Step(CREATE, "A"), Step(APPEND, "B")), "shared"),
            ((Step(CREATE), Step(KillAt("data", "before", 1)), Step(APPEND)), "crashes"),
            ((Step(CREATE), Step(Interleave((APPEND, Delete()), (0, 1), (0, 1)))), "races"),
        ),
        ids=("alone", "slots", "fault", "race"),
    )
    def test_the_steps_say_by_which_rules_a_history_is_played(self, steps, kind):
        assert KeptHistory("x", history(*steps)).kind == kind

    @pytest.mark.parametrize(
        ("name", "content", "words"),
        (
            ("x.json", "{", "x.json: no JSON"),
            ("x.json", "[]", "not a history of format 1"),
            ("x.json", '{"format": 9}', "not a history of format 1 (found 9)"),
            ("x.json", json.dumps(history().to_json()), "the history has no steps"),
            ("x.json", json.dumps(history(Step(CREATE, "Q")).to_json()), "the slot 'Q'; there are A, B, C"),
            ("x.txt", "", "the folder of a finding, or the JSON file of a history, was expected"),
            ("x/finding.json", "{}", "it holds neither minimal.json nor history.json"),
        ),
        ids=("torn", "list", "newer", "empty", "slot", "text", "no-history"),
    )
    def test_a_malformed_entry_is_one_message_that_names_it(self, tmp_path, name, content, words):
        path = tmp_path / "kept" / name
        path.parent.mkdir(parents=True)
        path.write_text(content)
        with pytest.raises(BadRegression) as error:
            read_kept(tmp_path / "kept")
        assert words in str(error.value)
        assert str(error.value).startswith(str(tmp_path / "kept" / name.partition("/")[0]))

    def test_an_unknown_operation_is_named_with_the_file(self, tmp_path):
        form = history(Step(CREATE)).to_json()
        form["steps"][0]["operation"] = {"is": "Teleport"}
        (tmp_path / "x.json").write_text(json.dumps(form))
        with pytest.raises(BadRegression, match=r"x\.json: .*Teleport"):
            read_kept(tmp_path)

    def test_what_is_no_operation_is_no_step(self, tmp_path):
        form = history(Step(CREATE)).to_json()
        form["steps"][0]["operation"] = {"is": "Latest"}
        (tmp_path / "x.json").write_text(json.dumps(form))
        with pytest.raises(BadRegression, match="a step is no operation"):
            read_kept(tmp_path)

    def test_damaged_slots_of_a_finding_are_named(self, tmp_path):
        shutil.copytree(OLD_FINDINGS / "4a9dbd72", tmp_path / "4a9dbd72")
        (tmp_path / "4a9dbd72" / "finding.json").write_text('{"slots": ["delta-rs"]}')
        with pytest.raises(BadRegression, match="its slots are not engines by slot"):
            read_kept(tmp_path)


class TestPlan:
    def test_kept_histories_come_first_and_change_nothing_else(self, tmp_path):
        folder = keep(tmp_path / "regressions", "a.json", history(Step(CREATE, "A"), Step(APPEND, "B")))
        keep(folder, "b.json", history(Step(CREATE)))
        plain = plan_run(RunOptions(tmp_path, engines=("delta-rs", "reference"), profile="dev"))
        plan = plan_run(
            RunOptions(tmp_path, engines=("delta-rs", "reference"), profile="dev", regressions=folder)
        )
        assert plan.chunks[:2] == (
            Chunk(REGRESSIONS, "dev", 0, 77, 2, 2, (0, 1), "shared"),
            Chunk(REGRESSIONS, "dev", 1, 77, 1, 1, (0,), "lockstep"),
        )
        assert plan.chunks[2:] == plain.chunks
        assert plan.core == plain.core
        assert plan.planned()[0].histories == 3

    def test_an_empty_folder_adds_nothing(self, tmp_path):
        assert plan_run(RunOptions(tmp_path, profile="dev", regressions=tmp_path)) == plan_run(
            RunOptions(tmp_path, profile="dev")
        )

    def test_a_folder_that_does_not_exist_is_an_error_of_the_plan(self, tmp_path):
        with pytest.raises(PlanError, match="nowhere: no such folder"):
            plan_run(RunOptions(tmp_path, profile="dev", regressions=tmp_path / "nowhere"))


class TestPlay:
    def test_a_history_is_played_on_every_engine_that_claims_it_and_a_violation_is_a_finding(self, tmp_path):
        reads = history(Step(CREATE), Step(APPEND), Step(APPEND))
        kept = (KeptHistory("appends", reads),)
        events = play(kept, tmp_path, "reference", f"{MUTANTS}:AnswersInAnotherType")
        assert "read.columns" in found(events, "reference")
        (ended,) = [event for event in events if isinstance(event, HistoryEnded)]
        assert (ended.suite, ended.steps) == (REGRESSIONS, 3)
        assert all(event.suite == REGRESSIONS for event in events if isinstance(event, Evidence))
        finding = next(event for event in events if isinstance(event, FindingFound))
        assert (finding.suite, finding.kept, finding.chunk) == ("lockstep", True, 0)
        assert replay(tmp_path / finding.folder).exit == FAILS

    def test_an_engine_that_does_not_claim_a_step_is_not_asked(self, tmp_path):
        odd = struct(("id", LONG), ("part", STRING))
        claimed = History(
            "lockstep", "ci", 0, 1, (Step(Create(odd, properties=(("delta.unheardOf", "1"),))),)
        )
        events = play((KeptHistory("odd", claimed),), tmp_path, "delta-rs")
        assert found(events, "delta-rs") == set()
        assert "does not claim the table property delta.unheardOf" in " ".join(
            event.message for event in events if isinstance(event, Note)
        )
        assert [event.complete for event in events if isinstance(event, ChunkEnded)] == [True]

    def test_a_shared_history_is_played_with_each_engine_in_each_slot(self, tmp_path):
        steps = (Step(CREATE, "A"), Step(APPEND, "B"), Step(APPEND, "A"))
        kept = (KeptHistory("turns", history(*steps), ("reference", "delta-rs")),)
        events = play(kept, tmp_path, "delta-rs", "reference")
        ended = [event for event in events if isinstance(event, HistoryEnded)]
        assert [event.history for event in ended] == [0, 1]
        writers = [
            event
            for event in events
            if isinstance(event, Evidence) and event.role == "writer" and event.engine.startswith("reference")
        ]
        # Two appends of reference and the create at first, then one append: the finding had it in slot A.
        commits = [event.checks["log.commit-is-json-lines"] for event in writers]
        assert commits == [2, 1]

    @pytest.mark.parametrize(
        ("name", "requirement"),
        (
            ("c93065c2", "log.partition-value-readable"),
            ("124a2390", "crash.told-truly"),
            ("4a9dbd72", "race.no-doubled-rows"),
        ),
        ids=("shared", "crash", "race"),
    )
    def test_a_kept_finding_is_found_again_whatever_its_suite(self, tmp_path, name, requirement):
        shutil.copytree(OLD_FINDINGS / name, tmp_path / "kept" / name)
        events = play(read_kept(tmp_path / "kept"), tmp_path, "delta-rs", "reference")
        assert requirement in found(events, "delta-rs")
        assert requirement not in found(events, "reference")
        finding = next(
            event for event in events if isinstance(event, FindingFound) and event.requirement == requirement
        )
        assert replay(tmp_path / finding.folder).exit == FAILS
