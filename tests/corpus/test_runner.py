"""`conformance corpus`: what it writes, what it shows, and its exit codes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys

import pytest

from conformance.cli.dispatch import main
from conformance.corpus import runner
from conformance.corpus.result import passed
from tests.corpus.conftest import METADATA, PROTOCOL, write_rows


def lines(out):
    return [json.loads(line) for line in (out / "latest" / "cases.jsonl").read_text().splitlines()]


def test_a_line_is_written_for_each_spec_and_the_exit_is_0_if_none_failed(acceptance, tmp_path, capsys):
    acceptance.table.create().append((1, "a"))
    acceptance.spec("all", {"type": "read", "expected": {"rowCount": 1}}, (1, "a"))
    assert main(["corpus", str(tmp_path / "corpus"), "--out", str(tmp_path / "out")]) == 0
    assert lines(tmp_path / "out") == [
        {
            "corpus": "acceptance", "case": "a_case", "spec": "all", "kind": "read", "engine": "reference",
            "result": "passed", "why": "",
        }
    ]  # fmt: skip
    shown = capsys.readouterr().out
    assert "reference  acceptance  read         1       0             0" in shown
    assert "cases.jsonl" in shown


def test_what_an_earlier_run_asked_is_not_asked_again(acceptance, tmp_path):
    acceptance.table.create().append((1, "a"))
    for name in ("first", "second", "third"):
        acceptance.spec(name, {"type": "read", "expected": {"rowCount": 1}}, (1, "a"))
    corpus, cut = str(tmp_path / "corpus"), tmp_path / "cut.jsonl"
    assert main(["corpus", corpus, "--out", str(tmp_path / "out")]) == 0
    whole = (tmp_path / "out" / "latest" / "cases.jsonl").read_text()
    cut.write_text(whole[:-20])  # the last line is half a line
    assert main(["corpus", corpus, "--after", str(cut), "--out", str(tmp_path / "more")]) == 0
    assert [line["spec"] for line in lines(tmp_path / "more")] == ["third"]


def test_a_run_that_is_not_there_is_an_error_of_usage(acceptance, tmp_path, capsys):
    acceptance.spec("all", {"type": "read"})
    nowhere = str(tmp_path / "nowhere")
    assert main(["corpus", str(tmp_path), "--after", nowhere, "--out", str(tmp_path / "out")]) == 2
    assert "there are no answers in" in capsys.readouterr().err


def test_a_failure_is_shown_with_its_reason_and_the_exit_is_1(acceptance, tmp_path, capsys):
    acceptance.table.create().append((1, "a"))
    acceptance.spec("wrong", {"type": "read"}, (2, "a"))
    acceptance.spec("odd", {"type": "horoscope"})
    command = ["corpus", str(tmp_path / "corpus"), "--engine", "reference", "--out", str(tmp_path / "out")]
    assert main(command) == 1
    assert {line["spec"]: line["result"] for line in lines(tmp_path / "out")} == {
        "odd": "out of scope",
        "wrong": "failed",
    }
    assert "1 row missing" in capsys.readouterr().out


def test_a_path_without_tables_is_an_error_of_usage(tmp_path, capsys):
    assert main(["corpus", str(tmp_path), "--out", str(tmp_path / "out")]) == 2
    assert "no reference tables under" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_an_unknown_engine_is_an_error_of_usage(acceptance, tmp_path, capsys):
    acceptance.spec("all", {"type": "read"})
    assert main(["corpus", str(tmp_path), "--engine", "delta-rust", "--out", str(tmp_path / "out")]) == 2
    assert "delta-rust" in capsys.readouterr().err


def test_a_case_that_breaks_the_harness_fails_alone(acceptance):
    from conformance.corpus.cases import find  # noqa: PLC0415 - beside its only use

    class Breaking:
        name = "breaking"

        def judge(self, question):
            if question.spec == "bad":
                raise ZeroDivisionError("oh")
            return passed()

    acceptance.spec("bad", {"type": "read"})
    acceptance.spec("good", {"type": "read"})
    found = [runner.ask(Breaking(), each).verdict for each in find([acceptance.folder])]
    assert [each.result for each in found] == ["failed", "passed"]
    assert "ZeroDivisionError" in found[0].why


def test_an_engine_reads_what_an_adapter_can_and_the_rest_is_out_of_scope(acceptance, tmp_path):
    acceptance.table.create().append((1, "a"), (2, "b")).append((3, "c"))
    acceptance.spec("all", {"type": "read"}, (1, "a"), (2, "b"), (3, "c"))
    acceptance.spec(
        "before", {"type": "read", "version": 1, "predicate": "id > 1", "columns": ["id", "name"]}, (2, "b")
    )
    acceptance.spec("state", {"type": "snapshot", "version": 0, "expected": {}})
    acceptance.spec("application", {"type": "txn", "expected": {"appId": "a", "txnVersion": 1}})
    acceptance.spec(
        "gone", {"type": "snapshot", "version": 9, "error": {"errorCode": "DELTA_VERSION_NOT_FOUND"}}
    )
    code = main(["corpus", str(tmp_path / "corpus"), "--engine", "delta-rs", "--out", str(tmp_path / "out")])
    found = {line["spec"]: line for line in lines(tmp_path / "out")}
    assert {spec: each["result"] for spec, each in found.items()} == {
        "all": "passed", "before": "passed", "state": "out of scope", "gone": "passed", "application": "out of scope",
    }  # fmt: skip
    assert code == 0
    assert found["all"]["engine"].startswith("delta-rs@")


def test_a_refusal_is_held_against_an_engine_only_where_it_should_read(make_table, tmp_path):
    home = tmp_path / "golden"
    make_table(home / "gap").create().append((1, "a"))
    (home / "gap" / "_delta_log" / f"{1:020}.json").rename(home / "gap" / "_delta_log" / f"{2:020}.json")
    make_table(home / "placeholder").create().append((1, "a"))
    (home / "placeholder" / "part-1.parquet").write_bytes(b"x")
    features = {"readerFeatures": ["typeWidening"], "writerFeatures": ["typeWidening"]}
    wide = make_table(home / "unclaimed").create()
    wide.commit({"protocol": {"minReaderVersion": 3, "minWriterVersion": 7, **features}}).append((1, "a"))
    make_table(home / "whole").create().append((1, "a"))
    text = str(METADATA["schemaString"]).replace('"long"', '"interval year to month"')
    by_periods = METADATA | {"schemaString": text, "partitionColumns": ["id"]}
    foreign = make_table(home / "foreign").commit({"protocol": PROTOCOL}, {"metaData": by_periods})
    write_rows(home / "foreign" / "part-1.parquet", [(1, "a")])
    value = {"partitionValues": {"id": "INTERVAL '1-0' YEAR TO MONTH"}}
    foreign.commit({"add": foreign.added("part-1.parquet", 1) | value})
    main(["corpus", str(home), "--engine", "delta-rs", "--out", str(tmp_path / "out")])
    found = {line["case"]: (line["result"], line["why"]) for line in lines(tmp_path / "out")}
    assert {case: result for case, (result, _) in found.items()} == {
        "gap": "passed", "placeholder": "out of scope", "unclaimed": "out of scope", "whole": "passed",
        "foreign": "out of scope",
    }, found  # fmt: skip
    assert "interval year to month is none of the protocol's" in found["foreign"][1]
    assert "as the oracle does" in found["gap"][1]
    assert "typeWidening" in found["unclaimed"][1]


@pytest.mark.parametrize("number", (signal.SIGINT, signal.SIGTERM))
def test_a_stopped_run_leaves_no_process_and_nothing_in_the_temporary_folder(acceptance, tmp_path, number):
    acceptance.table.create().append((1, "a"))
    acceptance.spec("all", {"type": "read", "expected": {"rowCount": 1}}, (1, "a"))
    for copy in range(200):
        acceptance.spec(f"all{copy}", {"type": "read", "expected": {"rowCount": 1}}, (1, "a"))
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    command = [
        sys.executable,
        "-m",
        "conformance",
        "corpus",
        str(tmp_path / "corpus"),
        "--engine",
        "delta-rs",
    ]
    process = subprocess.Popen(
        [*command, "--out", str(tmp_path / "out")], env=os.environ | {"TMPDIR": str(temporary)},
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stdout is not None
    assert "asked" in process.stdout.readline()
    assert [path.name[:13] for path in temporary.iterdir()] == ["delta-corpus-"]
    process.send_signal(number)
    _, said = process.communicate(timeout=60)
    assert (process.returncode, said) == (130, "conformance: stopped\n")
    assert not list(temporary.iterdir())
