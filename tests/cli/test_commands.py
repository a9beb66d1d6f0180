"""The commands `report`, `explain`, `engines` and `doctor`, with and without something to complain about."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from conformance.cli import doctor
from conformance.events.types import RunEnded
from delta_adapters.deviations import all_causes
from delta_adapters.registry import engine_names
from delta_models.requirements import CATALOGUE
from tests.cli.conversation import Conversation, path_without, run_command
from tests.reporting.samples import FINDING, keep, record, small_run

END = RunEnded("holds", 0, 12.5)


def test_the_reports_of_a_run_are_written_into_its_folder(talk):
    record(talk.folder / "run", *small_run(), END)
    talk.ask("report", "run")
    written = {path.name for path in (talk.folder / "run").iterdir()}
    assert written == {"events.jsonl", "summary.json", "report.html", "report.md", "junit.xml"}
    talk.matches("report")


def test_only_requested_reports_are_written_and_several_runs_are_merged(talk):
    record(talk.folder / "one", *small_run(), END)
    record(talk.folder / "two", *small_run(seed=2), END)
    assert talk.ask("report", "one", "two", "--summary", "both.json", "--markdown", "both.md").exit == 0
    document = json.loads((talk.folder / "both.json").read_text())
    assert document["runs"] == 2
    assert document["seconds"] == 25.0
    assert {claim["requirement"]: claim["evidence"]["checks"] for claim in document["claims"]}[
        "contents.rows"
    ] == 600
    assert {path.name for path in talk.folder.iterdir()} == {"one", "two", "both.json", "both.md"}


def test_a_report_over_a_violation_is_written_and_ends_with_0(talk):
    record(talk.folder / "run", *small_run(FINDING), RunEnded("violated", 1, 1.0))
    answer = talk.ask("report", "run")
    assert answer.exit == 0
    assert "VIOLATED" in answer.out


def test_every_report_calls_an_incomplete_run_incomplete(talk):
    file = record(talk.folder / "run", *small_run()) / "events.jsonl"
    file.write_bytes(file.read_bytes()[:-5])
    answer = talk.ask("report", "run")
    assert answer.exit == 0
    assert "INCONCLUSIVE" in answer.out
    for name in ("report.html", "report.md", "junit.xml"):
        text = (talk.folder / "run" / name).read_text()
        assert "incomplete" in text or "torn" in text, name
    document = json.loads((talk.folder / "run" / "summary.json").read_text())
    assert len(document["incomplete"]) == 2
    assert document["exit"] == 3


def test_a_recording_can_be_given_as_folder_file_or_link(talk):
    record(talk.folder / "run", *small_run(), END)
    (talk.folder / "latest").symlink_to("run")
    for number, place in enumerate(("run", "run/events.jsonl", "latest")):
        assert talk.ask("report", place, "--summary", f"{number}.json").exit == 0
    first, *others = [(talk.folder / f"{number}.json").read_text() for number in range(3)]
    assert others == [first, first]


@pytest.mark.parametrize("requirement", CATALOGUE, ids=lambda requirement: requirement.id)
def test_every_requirement_can_be_explained(talk, requirement):
    answer = talk.ask("explain", requirement.id)
    assert answer.exit == 0
    first, *rest = answer.out.splitlines()
    assert first == requirement.id
    assert " ".join(requirement.sentence.split()) in " ".join(" ".join(rest).split())
    assert requirement.section in answer.out


def test_an_area_is_explained_rule_by_rule(talk):
    lines = talk.ask("explain", "log").out.splitlines()
    assert [line.split()[0] for line in lines] == [
        requirement.id for requirement in CATALOGUE if requirement.id.startswith("log.")
    ]


def test_a_finding_is_explained_by_its_fingerprint_and_by_its_folder(talk):
    finding = keep(
        talk.folder / "conformance-results" / "run",
        "contents.delete",
        "delta-rs@1.6.6",
        detail="3 rows, not 2",
    )
    by_print = talk.ask("explain", finding.fingerprint)
    assert by_print == talk.ask("explain", f"conformance-results/run/findings/{finding.fingerprint}")
    assert by_print.exit == 0
    assert "3 rows, not 2" in by_print.out
    assert ">   2. [A] Delete where id = 1" in by_print.out
    assert f"conformance replay conformance-results/run/findings/{finding.fingerprint}" in by_print.out
    assert "\x1b" not in by_print.out


def test_a_cause_is_explained_by_its_id(talk):
    for cause in all_causes():
        answer = talk.ask("explain", cause.id)
        assert answer.exit == 0
        assert f"{cause.id}: {cause.summary}" in answer.out
        assert cause.cause in " ".join(answer.out.split())


def test_engines_are_listed_with_what_they_declare(talk):
    answer = talk.ask("engines", "--format", "json")
    assert answer.exit == 0
    engines = {load["name"]: load for load in json.loads(answer.out)["engines"]}
    assert tuple(engines) == engine_names()
    assert engines["delta-rs"]["available"] is True
    assert engines["delta-rs"]["version"] == "1.6.6"
    assert "Append" in engines["delta-rs"]["capabilities"]["operations"]
    assert engines["delta-spark"]["compatible_with"] == ["delta-spark"]


@pytest.mark.slow
def test_without_java_engines_and_doctor_say_what_to_type(tmp_path):
    bare = {"PATH": path_without("java", folder=tmp_path / "bin"), "JAVA_HOME": ""}
    engines = run_command(["engines"], tmp_path, env=bare)
    assert engines.returncode == 0
    assert "delta-spark@4.4.0  can't run here: Java 17 or newer is needed" in engines.stdout
    assert "sudo apt install openjdk-17-jre-headless" in engines.stdout
    examined = run_command(["doctor", "--smoke"], tmp_path, env=bare)
    assert examined.returncode == 3
    assert "delta-rs@1.6.6 works" in examined.stdout
    assert "delta-spark, started" not in examined.stdout
    assert "MISSING  Java " in examined.stdout
    assert examined.stderr == ""


def test_doctor_reports_the_same_as_json_and_as_text(talk: Conversation):
    answers = json.loads(talk.ask("doctor", "--format", "json").out)["findings"]
    text = talk.ask("doctor").out
    assert {"Python", "Java", "C compiler", "delta-rs", "results", "cache"} <= {
        answer["name"] for answer in answers
    }
    for answer in answers:
        assert answer["name"] in text
        assert answer["seen"] in text


def test_doctor_reports_an_unwritable_folder_and_a_full_disk(tmp_path: Path):
    (tmp_path / "file").write_text("")
    answer = doctor._folder("results", tmp_path / "file", 0.1, "Give another.")
    assert (answer.state, answer.cure) == ("impossible", "Give another.")
    assert doctor._folder("results", tmp_path, 10_000_000.0, "Free some.").state == "impossible"
    assert doctor._folder("results", tmp_path / "not" / "yet", 0.0, "").state == "ok"
