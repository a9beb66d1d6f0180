"""Every error is one message on stderr with its cause and its cure, exit code 2, and no traceback."""

from __future__ import annotations

import subprocess
import sys

import pytest

from conformance.cli import dispatch
from conformance.reporting.run_folder import new_run_folder
from tests.cli.conversation import run_command
from tests.reporting.samples import HEADER, record, small_run


def test_every_mistake_on_the_command_line_is_reported_with_its_cure(talk):
    talk.folder.joinpath("file").write_text("not a folder")
    talk.folder.joinpath("baseline.json").write_text('{"format": 1}')
    for words in (
        ["rum"],
        ["run", "--enginee", "delta-rs"],
        ["run", "--engine"],
        ["run", "--suite", "lockstop"],
        ["run", "--profile", "full"],
        ["run", "--storage", "s3"],
        ["run", "--budget", "soon"],
        ["run", "--budget", "0s"],
        ["run", "--budget", "4m", "--examples", "3"],
        ["run", "--examples", "0"],
        ["run", "--seed", "-1"],
        ["run", "--format", "xml"],
        ["run", "--baseline", "nothing.json"],
        ["run", "--baseline", "baseline.json"],
        ["run", "--profile", "dev", "--out", "file"],
        ["run", "--profile", "dev", "--out", "file/below"],
        ["run", "--profile", "dev", "--out", "/proc/conformance"],
        ["replay"],
        ["replay", "nowhere"],
        ["replay", "."],
        ["report"],
        ["report", "nowhere"],
        ["explain"],
        ["explain", "12345678"],
        ["explain", "no/such/folder"],
        ["engines", "--format", "yaml"],
        ["help", "me"],
    ):
        answer = talk.ask(*words)
        assert answer.out == ""
        assert answer.exit == 2
        assert "Traceback" not in answer.err
    talk.matches("mistakes")


@pytest.mark.parametrize(
    ("words", "message"),
    (
        (["run", "--engine", "delta-r"], "no engine is called 'delta-r'; there are "),
        (
            ["run", "--table", "agian", "--suite", "crashes", "--profile", "nightly"],
            "there are again, beginnings, ",
        ),
        (["run", "--engine", "delta-rs@new"], "for example: delta-rs@1.5.0"),
        (["run", "--engine", "nowhere.py:Adapter"], "there is no file nowhere.py"),
        (
            ["explain", "log.remove-names-live-fils"],
            "Did you mean log.remove-names-live-file? The areas are: ",
        ),
        (["explain", "REMOVE-NAMES"], "Did you mean log.remove-names-live-file?"),
        (["explain", "nonsense"], "The areas are: "),
    ),
    ids=("engine", "table", "version", "file", "near", "part", "nothing-like-it"),
)
def test_an_unknown_name_is_reported_with_the_names_that_exist(talk, words, message):
    answer = talk.ask(*words)
    assert (answer.out, answer.exit) == ("", 2)
    assert message in answer.err


def test_every_defect_of_a_recording_is_reported(talk):
    record(talk.folder / "results" / "run-1", *small_run())
    for name, content in {
        "empty": b"",
        "foreign": b"id,letter\n1,a\n",
        "binary": b"\x89PNG\xff",
        "newer": b'{"event":"RunStarted","format":9,"harness":"9.0"}\n',
    }.items():
        (talk.folder / name).mkdir()
        (talk.folder / name / "events.jsonl").write_bytes(content)
        assert talk.ask("report", name).exit == 2
    damaged = record(talk.folder / "damaged", HEADER) / "events.jsonl"
    damaged.write_text(damaged.read_text() + "{\n" + damaged.read_text())
    assert talk.ask("report", "damaged").exit == 2
    assert talk.ask("report", "results").exit == 2
    assert talk.ask("report", "results/run-1", "results/run-1").exit == 2
    assert talk.ask("report", "results/run-1", "--html", "nowhere/report.html").exit == 2
    talk.matches("recordings")


def test_a_harness_bug_is_one_message_with_a_traceback_only_on_request(talk, monkeypatch):
    def fail(_command: str) -> None:
        raise RuntimeError("the wheel came off")

    monkeypatch.setattr(dispatch, "_module", fail)
    answer = talk.ask("doctor")
    assert answer.exit == 2
    assert answer.err == (
        "conformance: the harness is at fault: RuntimeError: the wheel came off\n"
        "  Set CONFORMANCE_DEBUG=1 to see where, and report it with the command that you typed.\n"
    )
    monkeypatch.setenv("CONFORMANCE_DEBUG", "1")
    assert "Traceback" in talk.ask("doctor").err


def test_ctrl_c_before_anything_began_is_130(talk, monkeypatch):
    def interrupt(_command: str) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(dispatch, "_module", interrupt)
    assert talk.ask("doctor").exit == 130


def test_a_reader_that_goes_away_is_no_error_worth_a_traceback(tmp_path):
    command = [sys.executable, "-m", "conformance", "explain", "log"]
    with subprocess.Popen(
        command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == ""


@pytest.mark.parametrize("variable", ("HOME", "TERM"))
def test_a_bare_environment_is_enough_for_help(tmp_path, variable):
    assert run_command(["explain", "contents"], tmp_path, env={variable: ""}).returncode == 0


def test_runs_that_begin_in_the_same_second_get_folders_of_their_own(tmp_path):
    folders = [new_run_folder(tmp_path / "out") for _ in range(5)]
    assert len(set(folders)) == 5
    assert all(folder.is_dir() for folder in folders)
